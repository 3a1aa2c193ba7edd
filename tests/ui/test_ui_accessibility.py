"""Everyone can use the page: screen readers, the keyboard alone, dark rooms, small windows."""

import pytest
from playwright.sync_api import Browser, expect

from tests.ui.axe import serious_faults
from tests.ui.studio_page import CHECK_LIMIT_MS, PATIENCE, StudioPage
from tests.ui.test_ui_create import DRAWING, PORTRAIT, TWO_FACES

pytestmark = [pytest.mark.ui, pytest.mark.timeout(300 * PATIENCE)]


@pytest.mark.parametrize(
    ("scheme", "language"),
    [
        ("light", "en-US"),
        ("dark", "ar"),
        pytest.param("dark", "en-US", marks=pytest.mark.slow),
        pytest.param("light", "ar", marks=pytest.mark.slow),
    ],
)
def test_axe_finds_nothing_serious(browser: Browser, studio_address, scheme, language):
    context = browser.new_context(
        viewport={"width": 1280, "height": 900}, color_scheme=scheme, locale=language
    )
    page = context.new_page()
    page.goto(studio_address)
    expect(page.locator("#gauge .gauge-bar")).to_be_visible(timeout=CHECK_LIMIT_MS)
    faults = serious_faults(page)

    page.locator("#photo-upload input[type=file]").set_input_files(TWO_FACES)
    expect(page.locator("#photo-preview button.face")).to_have_count(2, timeout=CHECK_LIMIT_MS)
    page.locator("#voice-source label").nth(2).click()
    expect(page.locator("#voice-text")).to_be_visible()
    faults += serious_faults(page)
    page.locator("#photo-tips button").first.click()
    page.locator("#more > button").click()
    expect(page.locator("#more-steps")).to_be_visible()
    faults += serious_faults(page)
    page.locator("#photo-another").click()
    page.locator("#photo-upload input[type=file]").set_input_files(DRAWING)
    page.locator("[data-show-pins]").click(timeout=CHECK_LIMIT_MS)
    expect(page.locator(".pin").first).to_be_focused()
    faults += serious_faults(page)
    page.locator("[data-tab-id=library]").click()
    expect(page.locator("#library .recent")).to_be_visible(timeout=CHECK_LIMIT_MS)
    faults += serious_faults(page)
    page.locator("[data-tab-id=system]").click()
    expect(page.locator("#system-memory svg")).to_be_visible(timeout=CHECK_LIMIT_MS)
    page.locator("#system-check-run").click()
    expect(page.locator(".checks").first).to_be_visible(timeout=CHECK_LIMIT_MS)
    faults += serious_faults(page)
    page.locator("[data-tab-id=help]").click()
    expect(page.locator("#help .tips")).to_be_visible(timeout=CHECK_LIMIT_MS)
    faults += serious_faults(page)

    assert faults == []
    context.close()


def test_axe_does_find_a_fault(desktop):
    desktop.page.evaluate(
        "document.querySelector('#brand').insertAdjacentHTML('beforeend', '<img src=\"data:,\">')"
    )

    assert any(fault.startswith("image-alt") for fault in serious_faults(desktop.page))


def test_a_video_is_asked_for_with_the_keyboard_alone(desktop):
    page = desktop.page

    def walk_to(selector: str) -> None:
        """Press Tab until something within the selector has the focus, visibly."""
        for _ in range(120):
            page.keyboard.press("Tab")
            if page.evaluate("s => !!document.activeElement.closest(s)", selector):
                return
        pytest.fail(f"{selector} cannot be reached with the Tab key")

    walk_to("#language select")
    walk_to("[data-tab-id=library]")
    page.keyboard.press("Enter")
    expect(page.locator("#library")).to_contain_text("No videos yet", timeout=CHECK_LIMIT_MS)
    walk_to("#library button")
    page.keyboard.press("Enter")
    expect(desktop.generate).to_be_visible(timeout=CHECK_LIMIT_MS)
    walk_to("#photo-samples button")
    style = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert style != "none"
    page.keyboard.press("Enter")
    expect(desktop.photo.locator(".face.chosen")).to_be_visible(timeout=CHECK_LIMIT_MS)
    walk_to("#voice-source label:last-child")
    page.keyboard.press("Space")
    expect(page.locator("#voice-text textarea")).to_be_visible(timeout=CHECK_LIMIT_MS)
    walk_to("#voice-text textarea")
    page.keyboard.type("Good morning.")
    walk_to("#consent input")
    page.keyboard.press("Space")
    expect(desktop.generate).to_be_enabled(timeout=CHECK_LIMIT_MS)
    walk_to("#generate")
    page.keyboard.press("Enter")

    assert desktop.wait_for_video() > 0.3


def test_no_tab_is_wider_than_a_phone(phone: StudioPage):
    for name in ("Dub", "Library", "System", "Check a file", "Help", "Create"):
        phone.go_to(name)
        phone.page.wait_for_timeout(500)
        assert phone.page.evaluate("document.documentElement.scrollWidth") <= 390, name
    phone.give_photo(PORTRAIT)
    assert phone.page.evaluate("document.documentElement.scrollWidth") <= 390
