"""The Create page in a real browser, over a real studio."""

import re
from pathlib import Path

import pillow_heif
import pytest
from PIL import Image
from playwright.sync_api import Browser, expect

from tests.ui.studio_page import CHECK_LIMIT_MS, PATIENCE, RENDER_LIMIT_MS, StudioPage

pytestmark = [pytest.mark.ui, pytest.mark.timeout(300 * PATIENCE)]

DATA = Path(__file__).resolve().parents[1] / "data"
PORTRAIT = DATA / "portraits/astronaut_collins.jpg"
TWO_FACES = DATA / "portraits/two_same_size_faces.jpg"
NO_FACE = DATA / "portraits/noface_coffee.jpg"
DRAWING = DATA / "portraits/clipart_beethoven.png"  # no face is found in it
SHORT_SPEECH = DATA / "speech/en_librivox_austen_0880.wav"  # 3.0 s
LONG_SPEECH = DATA / "speech/en_jfk_1961_16k.flac"  # 11 s


def start_long_job(studio: StudioPage, speech: Path = LONG_SPEECH) -> None:
    studio.give_photo(PORTRAIT)
    studio.give_recording(speech)
    studio.choose_quality("HD")
    studio.consent()
    studio.make()
    expect(studio.panel.get_by_role("progressbar")).to_be_visible()


def test_a_closed_tab_stops_nothing_and_the_video_is_listed_on_return(desktop):
    start_long_job(desktop, SHORT_SPEECH)
    context = desktop.page.context
    desktop.page.close()

    back = StudioPage.open(context.new_page(), desktop.address)

    expect(back.recent).to_contain_text("Ready", timeout=RENDER_LIMIT_MS)
    back.recent.get_by_text("Open", exact=True).click()
    assert back.wait_for_video() == pytest.approx(3.0, abs=0.1)


def test_deleting_asks_first_and_then_forgets(desktop):
    start_long_job(desktop)
    desktop.panel.get_by_role("button", name="Cancel").click()
    expect(desktop.recent).to_contain_text("Canceled", timeout=CHECK_LIMIT_MS)

    desktop.recent.get_by_text("Delete", exact=True).click()
    desktop.recent.get_by_role("button", name="Keep it").click()
    expect(desktop.recent.locator(".card")).to_have_count(1)
    desktop.recent.get_by_text("Delete", exact=True).click()
    desktop.recent.get_by_role("button", name="Yes, delete").click()

    expect(desktop.recent).to_contain_text("Nothing here yet", timeout=CHECK_LIMIT_MS)
    expect(desktop.page).not_to_have_url(re.compile("job="))


def test_what_is_no_portrait_or_no_recording_is_refused_in_a_sentence(desktop, tmp_path):
    fake_photo, fake_speech = tmp_path / "me.jpg", tmp_path / "me.wav"
    for path in (fake_photo, fake_speech):
        path.write_text("These are only words. " * 40)
    another = desktop.page.get_by_role("button", name="Choose another photo")

    desktop.give_photo(fake_photo)
    expect(desktop.photo).to_contain_text("not a picture", timeout=CHECK_LIMIT_MS)
    another.click()
    desktop.give_photo(NO_FACE)
    expect(desktop.photo).to_contain_text("No human face was found", timeout=CHECK_LIMIT_MS)
    expect(desktop.verdict).to_contain_text("No human face was found", timeout=CHECK_LIMIT_MS)
    desktop.consent()
    expect(desktop.generate).to_be_disabled()
    another.click()
    desktop.give_photo(PORTRAIT)
    expect(desktop.verdict).to_contain_text("Now add a voice", timeout=CHECK_LIMIT_MS)
    desktop.give_recording(fake_speech)

    expect(desktop.verdict).to_contain_text("not a sound recording", timeout=CHECK_LIMIT_MS)
    expect(desktop.generate).to_be_disabled()


def test_a_phone_photo_of_a_type_the_system_does_not_know_is_accepted(desktop, tmp_path):
    path = tmp_path / "IMG_0001.heic"
    with Image.open(PORTRAIT) as picture:
        pillow_heif.from_pillow(picture.convert("RGB")).save(path)

    desktop.drop_photo(path)

    expect(desktop.photo.locator(".face.chosen")).to_be_visible(timeout=CHECK_LIMIT_MS)
    width = desktop.photo.locator("img").evaluate("image => image.naturalWidth")
    assert width > 100


def test_the_link_of_somebody_else_shows_nothing(desktop, browser: Browser):
    start_long_job(desktop)
    query = desktop.page.url.removeprefix(desktop.address)
    stranger = browser.new_context()

    other = StudioPage.open(stranger.new_page(), desktop.address, query)

    expect(other.panel).to_contain_text("does not exist any more", timeout=CHECK_LIMIT_MS)
    expect(other.recent).to_contain_text("Nothing here yet")
    stranger.close()
    desktop.panel.get_by_role("button", name="Cancel").click()


def test_two_quick_clicks_are_one_video(desktop):
    desktop.give_photo(PORTRAIT)
    desktop.give_recording(SHORT_SPEECH)
    desktop.consent()
    expect(desktop.generate).to_be_enabled(timeout=CHECK_LIMIT_MS)

    desktop.generate.dblclick()

    expect(desktop.panel.locator("video")).to_be_visible(timeout=RENDER_LIMIT_MS)
    expect(desktop.recent.locator(".card")).to_have_count(1)
