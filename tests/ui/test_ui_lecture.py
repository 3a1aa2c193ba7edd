"""A teacher makes a lecture on the page: slides, words on the cards, a look, the video."""

import pytest
from PIL import Image
from playwright.sync_api import expect

from tests.ui.studio_page import CHECK_LIMIT_MS, RENDER_LIMIT_MS, StudioPage

pytestmark = pytest.mark.ui

SCRIPT = "# Welcome\n\nGood morning to all.\n\n# The end\n\n[pause 1]\n"


@pytest.fixture
def deck(tmp_path):
    pages = [Image.new("RGB", (320, 180), colour) for colour in ("#c04040", "#4040c0")]
    pages[0].save(tmp_path / "deck.pdf", save_all=True, append_images=pages[1:])
    (tmp_path / "script.md").write_text(SCRIPT, "utf-8")
    return tmp_path


def give_slides(studio: StudioPage, deck) -> None:
    studio.page.get_by_role("tab", name="Lecture").click()
    studio.page.locator("#lecture-slides input[type=file]").set_input_files(deck / "deck.pdf")
    expect(studio.page.locator(".lecture-card")).to_have_count(2, timeout=CHECK_LIMIT_MS)


def test_slides_become_a_lecture_with_chapters(desktop: StudioPage, deck):
    page = desktop.page
    give_slides(desktop, deck)
    page.get_by_label("What is said to slide 2").fill("This will be replaced.")
    page.locator("#lecture-script input[type=file]").set_input_files(deck / "script.md")
    expect(page.get_by_label("What is said to slide 1")).to_have_value(
        "Good morning to all.", timeout=CHECK_LIMIT_MS
    )
    expect(page.get_by_label("What is said to slide 2")).to_have_value("[pause 1]")
    page.get_by_text("None", exact=True).first.click()

    page.get_by_role("button", name="Preview of slide 1").click()
    expect(page.locator("#lecture-preview video")).to_be_visible(timeout=RENDER_LIMIT_MS)

    page.locator("#lecture-consent input").check()
    page.get_by_role("button", name="Make the lecture").click()
    expect(page.locator("#lecture-panel video")).to_be_visible(timeout=RENDER_LIMIT_MS)
    expect(page.locator(".lecture-contents li")).to_have_count(2)
    expect(page.locator("#lecture-panel").get_by_text("Table of contents")).to_be_visible()


def test_what_is_missing_is_said_one_thing_at_a_time(desktop: StudioPage, deck):
    page = desktop.page
    page.get_by_role("tab", name="Lecture").click()
    missing, make = page.locator("#lecture-verdict"), page.locator("#lecture-generate")
    expect(missing).to_have_text("Start with your slides.")
    expect(make).to_be_disabled()
    give_slides(desktop, deck)
    expect(missing).to_contain_text("Add a photo", timeout=CHECK_LIMIT_MS)
    page.get_by_text("None", exact=True).first.click()
    expect(missing).to_have_text("Tick the box above to go on.", timeout=CHECK_LIMIT_MS)
    page.locator("#lecture-consent input").check()

    expect(make).to_be_enabled(timeout=CHECK_LIMIT_MS)


def test_a_slide_without_words_is_named(desktop: StudioPage, deck):
    page = desktop.page
    give_slides(desktop, deck)
    page.get_by_label("What is said to slide 1").fill("Hello.")
    page.get_by_text("None", exact=True).first.click()
    page.locator("#lecture-consent input").check()

    page.get_by_role("button", name="Make the lecture").click()

    expect(page.get_by_text("says nothing to slide 2")).to_be_visible(timeout=CHECK_LIMIT_MS)
    expect(page.locator("[data-testid=status-tracker] .error:visible")).to_have_count(0)
