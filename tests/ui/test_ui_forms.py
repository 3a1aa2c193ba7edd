"""What was filled in is there again after a reload, and gone when it is emptied."""

import re

import pytest
from PIL import Image
from playwright.sync_api import expect

from tests.ui.studio_page import CHECK_LIMIT_MS, PATIENCE
from tests.ui.test_ui_create import SHORT_SPEECH, TWO_FACES

pytestmark = [pytest.mark.ui, pytest.mark.timeout(200 * PATIENCE)]

# Long enough for a note of an upload to come back and be kept.
SETTLED = "() => (localStorage.getItem('sonic-studio-form-{}') || '').includes('{}')"


def test_a_form_is_there_again_after_a_reload_and_can_be_emptied(desktop):
    page = desktop.page
    desktop.give_photo(TWO_FACES)
    other = desktop.photo.locator("button[aria-pressed=false]")
    number = other.get_attribute("data-face")
    other.press("Enter")
    chosen = desktop.photo.locator(f"button[data-face='{number}']")
    expect(chosen).to_have_attribute("aria-pressed", "true", timeout=CHECK_LIMIT_MS)
    desktop.give_recording(SHORT_SPEECH)
    page.locator("#framing label", has_text="Head and shoulders").click()
    desktop.consent()
    expect(desktop.generate).to_be_enabled(timeout=CHECK_LIMIT_MS)
    page.wait_for_function(SETTLED.format("create", "recording"), timeout=CHECK_LIMIT_MS)

    page.reload()

    expect(chosen).to_have_attribute("aria-pressed", "true", timeout=CHECK_LIMIT_MS)
    expect(page.locator("#framing label.selected")).to_have_text("Head and shoulders")
    expect(desktop.verdict).to_contain_text("of speech", timeout=CHECK_LIMIT_MS)
    expect(page.locator("#consent input")).not_to_be_checked()
    page.get_by_text("Empty the form").first.click()
    page.get_by_role("button", name="Yes, empty it").first.click()
    expect(page.locator("#photo-upload")).to_be_visible(timeout=CHECK_LIMIT_MS)
    expect(page.locator("#framing label.selected")).to_have_text("Whole photo")


def test_a_lecture_is_there_again_after_a_reload(desktop, tmp_path):
    page = desktop.page
    pages = [Image.new("RGB", (320, 180), colour) for colour in ("#c04040", "#4040c0")]
    pages[0].save(tmp_path / "deck.pdf", save_all=True, append_images=pages[1:])
    desktop.go_to("Lecture")
    page.locator("#lecture-slides input[type=file]").set_input_files(tmp_path / "deck.pdf")
    words = page.get_by_label("What is said to slide 2")
    words.fill("And now the moon.", timeout=CHECK_LIMIT_MS)
    page.get_by_text("None", exact=True).first.click()
    page.wait_for_function(SETTLED.format("lecture", "slides"), timeout=CHECK_LIMIT_MS)

    page.reload()
    desktop.go_to("Lecture")

    expect(page.locator(".lecture-card img")).to_have_count(2, timeout=CHECK_LIMIT_MS)
    expect(words).to_have_value("And now the moon.")
    expect(page.locator("#lecture-layout label.selected")).to_have_text(re.compile("None"))
