"""The Library and System pages and the languages, in a real browser over a real studio."""

import re
import time

import pytest
from playwright.sync_api import Browser, expect

from tests.ui.studio_page import CHECK_LIMIT_MS, PATIENCE, RENDER_LIMIT_MS, StudioPage
from tests.ui.test_ui_create import SHORT_SPEECH, TWO_FACES

pytestmark = [pytest.mark.ui, pytest.mark.timeout(300 * PATIENCE)]


NO_SOUND = "en_librivox_austen_0870.alignment.json"

REACTION_LIMIT_S = 8.0
"""A stuck page fails, a busy computer does not; `benchmarks.page` holds the 2 s asked for."""


def go_to(studio: StudioPage, tab: str) -> None:
    studio.page.get_by_role("tab", name=tab).click()


def test_an_empty_library_leads_to_the_form(desktop):
    go_to(desktop, "Library")
    library = desktop.page.locator("#library")
    expect(library).to_contain_text("No videos yet", timeout=CHECK_LIMIT_MS)

    library.get_by_role("button", name="Make a video").click()

    expect(desktop.generate).to_be_visible(timeout=CHECK_LIMIT_MS)


def test_a_video_is_found_in_the_library_made_again_and_deleted(desktop):
    page, library = desktop.page, desktop.page.locator("#library")
    desktop.give_photo(TWO_FACES)
    other = desktop.photo.get_by_role("button", name="Let face")
    face = other.get_attribute("data-face")
    other.press("Enter")
    chosen = desktop.photo.locator(f"button[data-face='{face}']")
    expect(chosen).to_have_attribute("aria-pressed", "true", timeout=CHECK_LIMIT_MS)
    desktop.give_recording(SHORT_SPEECH)
    page.locator("#framing label", has_text="Head and shoulders").click()
    desktop.consent()
    desktop.make()
    desktop.wait_for_video()

    go_to(desktop, "Library")
    expect(library.locator(".card video")).to_have_count(1, timeout=CHECK_LIMIT_MS)
    library.locator("summary", has_text="Settings used").click()
    expect(library).to_contain_text("Head and shoulders")
    library.get_by_role("button", name="make it again").click()

    expect(desktop.photo.locator(".photo-frame")).to_be_visible(timeout=CHECK_LIMIT_MS)
    expect(chosen).to_have_attribute("aria-pressed", "true", timeout=CHECK_LIMIT_MS)
    expect(page.locator("#framing label.selected")).to_have_text("Head and shoulders")
    page.get_by_role("button", name="More choices").click()
    expect(page.locator("#seed input, #seed textarea")).not_to_have_value("")
    expect(page.locator("#consent input")).not_to_be_checked()
    expect(desktop.generate).to_be_disabled()
    desktop.consent()
    desktop.make()
    expect(desktop.panel.locator("video")).to_be_visible(timeout=RENDER_LIMIT_MS)

    go_to(desktop, "Library")
    expect(library.locator(".card")).to_have_count(2, timeout=CHECK_LIMIT_MS)
    library.locator(".card").first.get_by_text("Delete", exact=True).click()
    library.get_by_role("button", name="Yes, delete").click()
    expect(library.locator(".card")).to_have_count(1, timeout=CHECK_LIMIT_MS)


def test_the_system_page_tells_memory_queue_worker_and_check(desktop):
    go_to(desktop, "System")
    system = desktop.page.locator("#system")

    expect(system).to_contain_text("GB in use, at most", timeout=CHECK_LIMIT_MS)
    expect(system.locator("#system-facts h2")).to_have_text(
        ["Queue", "Worker", "Disk", "Measured speed"]
    )
    system.get_by_role("button", name="Check now").click()
    expect(system.locator(".checks li").first).to_contain_text("cores", timeout=CHECK_LIMIT_MS)


@pytest.mark.parametrize(
    ("locale", "words", "direction"),
    [
        ("ar", "اصنع الفيديو", "rtl"),
        ("zh-CN", "生成视频", "ltr"),
        ("es-MX", "Hacer el vídeo", "ltr"),
    ],
)
def test_the_page_speaks_the_language_of_the_browser(
    browser: Browser, studio_address, locale, words, direction
):
    context = browser.new_context(locale=locale)
    page = context.new_page()
    page.goto(studio_address)

    expect(page.locator("#generate")).to_have_text(words, timeout=CHECK_LIMIT_MS)
    expect(page.locator("html")).to_have_attribute("dir", direction)
    expect(page.locator("html")).to_have_attribute("lang", "es" if locale == "es-MX" else locale)
    context.close()


def test_what_cannot_be_checked_is_refused_in_the_language_of_the_page(browser, studio_address):
    context = browser.new_context(locale="fr")
    page = context.new_page()
    page.goto(studio_address)
    page.locator("[data-tab-id=verify]").click()
    page.locator("#verify-upload input[type=file]").set_input_files(SHORT_SPEECH.parent / NO_SOUND)

    told = page.get_by_text("n'est ni une vidéo ni un son")
    expect(told).to_be_visible(timeout=CHECK_LIMIT_MS)
    expect(page.locator("[data-testid=status-tracker] .error:visible")).to_have_count(0)
    context.close()


def test_labels_of_upload_boxes_stand_at_the_right_of_an_arabic_page(browser, studio_address):
    context = browser.new_context(locale="ar")
    page = context.new_page()
    page.goto(studio_address)
    box = page.locator("#voice-upload")
    expect(box).to_be_visible(timeout=CHECK_LIMIT_MS)
    empty = box.locator("[data-testid=block-label]").bounding_box()
    middle = box.bounding_box()["x"] + box.bounding_box()["width"] / 2
    box.locator("input[type=file]").set_input_files(SHORT_SPEECH)
    clear = box.locator(".icon-button-wrapper")
    expect(clear).to_be_visible(timeout=CHECK_LIMIT_MS)

    assert empty["x"] > middle
    assert clear.bounding_box()["x"] < middle, "it would lie over the label"
    context.close()


def test_help_names_the_address_of_this_page(desktop):
    go_to(desktop, "Help")

    expect(desktop.page.locator(".help pre")).to_contain_text(f'Client("{desktop.address}")')
    expect(desktop.page.locator("footer")).not_to_contain_text("Settings")


def test_seven_open_tabs_still_react(desktop):
    context = desktop.page.context
    tabs = [desktop, *(StudioPage.open(context.new_page(), desktop.address) for _ in range(6))]

    for tab in tabs:
        begun = time.monotonic()
        tab.choose_voice_source("Type")
        expect(tab.page.locator("#voice-text textarea")).to_be_visible(timeout=CHECK_LIMIT_MS)
        assert time.monotonic() - begun < REACTION_LIMIT_S * PATIENCE
    tabs[-1].page.get_by_role("button", name=re.compile("sample portrait: Vincent")).click()
    expect(tabs[-1].photo.locator("img")).to_be_visible(timeout=CHECK_LIMIT_MS)
