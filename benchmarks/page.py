"""Measure the page: bytes, requests and time until it can be used, and seven tabs at once.

    python -m benchmarks.page http://127.0.0.1:7860 [--chromium /usr/bin/chromium]

The studio is started beforehand; one of its own videos should be in the making for the tabs.
"""

import argparse
import statistics
import time

from playwright.sync_api import Browser, Page, sync_playwright

NUM_TABS = 7
NUM_CLICKS = 5
ADDITIONS = 20_000_000
OPTIONS = ["--no-sandbox", "--disable-gpu"]

_WEIGHT = """() => {
  const [page] = performance.getEntriesByType('navigation');
  const all = [page, ...performance.getEntriesByType('resource')];
  const sum = (name) => all.reduce((total, entry) => total + entry[name], 0);
  return {requests: all.length, sent: sum('transferSize'), unpacked: sum('decodedBodySize')};
}"""


def open_page(page: Page, address: str) -> float:
    """Go to the page; seconds until its gauge has a figure, that is until it answers."""
    begun = time.monotonic()
    page.goto(address)
    page.wait_for_selector("#gauge .gauge", timeout=120_000)
    return time.monotonic() - begun


def reaction_s(page: Page) -> float:
    """Seconds from a click on Type until the text box of that choice is drawn, and back.

    The tab comes to the front before: browsers draw those behind as seldom as they like.
    """
    page.bring_to_front()
    begun = time.monotonic()
    page.locator("#voice-source label").nth(2).click()
    page.wait_for_selector("#voice-text textarea", state="visible", timeout=60_000)
    taken_s = time.monotonic() - begun
    page.locator("#voice-source label").nth(0).click()
    page.wait_for_selector("#voice-text textarea", state="hidden", timeout=60_000)
    return taken_s


def machine_s() -> float:
    """Seconds of so many additions in plain Python: what the other figures may be held against."""
    begun = time.monotonic()
    total = 0
    for number in range(ADDITIONS):
        total += number
    return time.monotonic() - begun


def choose_photo(page: Page) -> None:
    """Take a sample portrait; from now on every choice is checked."""
    page.locator("#photo-samples [data-sample]").first.click()
    page.wait_for_selector("#photo-preview .face", timeout=120_000)


def told(times_s: list[float]) -> str:
    """Median and worst in words."""
    return f"median {statistics.median(times_s):.2f} s, worst {max(times_s):.2f} s"


def measure(browser: Browser, address: str) -> None:
    """Print the figures."""
    first = browser.new_context()
    page = first.new_page()
    cold_s = open_page(page, address)
    weight = page.evaluate(_WEIGHT)
    warm_s = open_page(page, address)
    print(
        f"first visit {cold_s:.1f} s, again {warm_s:.1f} s; {weight['requests']} requests, "
        f"{weight['sent'] / 1000:.0f} kB sent, {weight['unpacked'] / 1000:.0f} kB unpacked"
    )
    alone = [reaction_s(page) for _ in range(NUM_CLICKS)]
    tabs = [page, *(first.new_page() for _ in range(NUM_TABS - 1))]
    for tab in tabs[1:]:
        open_page(tab, address)
    together = [reaction_s(tab) for tab in tabs]
    choose_photo(page)
    checked = [reaction_s(page) for _ in range(NUM_CLICKS)]
    print(
        f"reaction with 1 tab: {told(alone)}; with {NUM_TABS} tabs: {told(together)}; "
        f"in one of them with a photo: {told(checked)}"
    )
    first.close()


def main() -> None:
    """Read the arguments and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("address")
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    arguments = parser.parse_args()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=arguments.chromium, args=OPTIONS)
        measure(browser, arguments.address)
        browser.close()
    print(f"{ADDITIONS / 1e6:.0f} million additions: {machine_s():.1f} s")


if __name__ == "__main__":
    main()
