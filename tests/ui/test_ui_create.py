"""The Create page in a real browser, over a real studio."""

import re
from pathlib import Path

import pillow_heif
import pytest
from PIL import Image
from playwright.sync_api import Browser, expect

from tests.ui.studio_page import CHECK_LIMIT_MS, RENDER_LIMIT_MS, StudioPage

pytestmark = [pytest.mark.ui, pytest.mark.timeout(300)]

DATA = Path(__file__).resolve().parents[1] / "data"
PORTRAIT = DATA / "portraits/astronaut_collins.jpg"
TWO_FACES = DATA / "portraits/two_same_size_faces.jpg"
NO_FACE = DATA / "portraits/noface_coffee.jpg"
SHORT_SPEECH = DATA / "speech/en_librivox_austen_0880.wav"  # 3.0 s
LONG_SPEECH = DATA / "speech/en_jfk_1961_16k.flac"  # 11 s


def start_long_job(studio: StudioPage) -> None:
    studio.give_photo(PORTRAIT)
    studio.give_recording(LONG_SPEECH)
    studio.choose_quality("HD")
    studio.consent()
    studio.make()
    expect(studio.panel.get_by_role("progressbar")).to_be_visible()


def test_photo_and_recording_become_a_video(desktop):
    desktop.give_photo(PORTRAIT)
    expect(desktop.photo.locator(".face.chosen")).to_be_visible()
    desktop.give_recording(SHORT_SPEECH)
    desktop.consent()
    expect(desktop.verdict).to_contain_text(
        re.compile(r"Face found · 3\.\d s of speech · about .* to make"), timeout=CHECK_LIMIT_MS
    )
    desktop.make()

    assert desktop.wait_for_video() == pytest.approx(2.99, abs=0.1)
    with desktop.page.expect_download() as download:
        desktop.panel.get_by_role("link", name="Download").click()
    assert download.value.path().stat().st_size > 20_000
    expect(desktop.recent).to_contain_text("Ready")


def test_typed_words_become_a_video(desktop):
    desktop.page.get_by_role("button", name=re.compile("sample portrait: Vincent")).click()
    expect(desktop.photo.locator("img")).to_be_visible(timeout=CHECK_LIMIT_MS)
    desktop.type_text("Good morning everybody.")
    desktop.page.get_by_role("button", name="Hear the voice").click()
    player = desktop.page.locator("#voice-preview-player audio")
    expect(player).to_be_visible(timeout=CHECK_LIMIT_MS)
    desktop.page.wait_for_function(
        "() => document.querySelector('#voice-preview-player audio').duration > 0.5"
    )
    desktop.consent()
    desktop.make()

    assert desktop.wait_for_video() > 0.8
    expect(desktop.panel).to_contain_text("Good morning everybody.")


def test_the_microphone_gives_the_voice(desktop):
    desktop.give_photo(PORTRAIT)
    desktop.choose_voice_source("Record")
    desktop.page.locator("#voice-microphone button.record").click()
    desktop.page.wait_for_timeout(2500)  # a person speaks
    desktop.page.locator("#voice-microphone button.stop-button").click()
    desktop.consent()
    desktop.make()

    assert desktop.wait_for_video() > 1.5


def test_a_reload_and_a_second_tab_find_the_same_job(desktop):
    start_long_job(desktop)
    job_link = desktop.page.url
    assert "job=" in job_link

    desktop.page.reload()
    expect(desktop.panel.get_by_role("progressbar")).to_be_visible(timeout=CHECK_LIMIT_MS)
    second = StudioPage.open(desktop.page.context.new_page(), desktop.address)
    expect(second.panel.get_by_role("progressbar")).to_be_visible(timeout=CHECK_LIMIT_MS)
    second.page.wait_for_url(job_link)

    assert desktop.wait_for_video() == pytest.approx(11.0, abs=0.2)
    expect(second.panel.locator("video")).to_be_visible(timeout=CHECK_LIMIT_MS)


def test_a_closed_tab_stops_nothing_and_the_video_is_listed_on_return(desktop):
    start_long_job(desktop)
    context = desktop.page.context
    desktop.page.close()

    back = StudioPage.open(context.new_page(), desktop.address)

    expect(back.recent).to_contain_text("Ready", timeout=RENDER_LIMIT_MS)
    back.recent.get_by_text("Open", exact=True).click()
    assert back.wait_for_video() == pytest.approx(11.0, abs=0.2)


def test_a_canceled_job_stops_and_can_be_tried_again(desktop):
    start_long_job(desktop)

    desktop.panel.get_by_role("button", name="Cancel").click()
    expect(desktop.panel).to_contain_text("The video was canceled.", timeout=CHECK_LIMIT_MS)
    desktop.panel.get_by_role("button", name="Try again").click()
    expect(desktop.panel.get_by_role("progressbar")).to_be_visible(timeout=CHECK_LIMIT_MS)
    desktop.panel.get_by_role("button", name="Cancel").click()
    expect(desktop.panel).to_contain_text("The video was canceled.", timeout=CHECK_LIMIT_MS)


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


def test_a_photo_without_a_face_is_refused_beside_the_photo(desktop):
    desktop.give_photo(NO_FACE)

    expect(desktop.photo).to_contain_text("No human face was found", timeout=CHECK_LIMIT_MS)
    expect(desktop.verdict).to_contain_text("No human face was found", timeout=CHECK_LIMIT_MS)
    desktop.consent()
    expect(desktop.generate).to_be_disabled()
    desktop.page.get_by_role("button", name="Choose another photo").click()
    desktop.give_photo(PORTRAIT)
    expect(desktop.verdict).to_contain_text("Now add a voice", timeout=CHECK_LIMIT_MS)


def test_files_that_are_something_else_are_refused_in_a_sentence(desktop, tmp_path):
    fake_photo, fake_speech = tmp_path / "me.jpg", tmp_path / "me.wav"
    for path in (fake_photo, fake_speech):
        path.write_text("These are only words. " * 40)

    desktop.give_photo(fake_photo)
    expect(desktop.photo).to_contain_text("not a picture", timeout=CHECK_LIMIT_MS)
    desktop.page.get_by_role("button", name="Choose another photo").click()
    desktop.give_photo(PORTRAIT)
    desktop.give_recording(fake_speech)
    desktop.consent()

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


def test_one_of_several_faces_is_chosen(desktop):
    desktop.give_photo(TWO_FACES)
    other = desktop.photo.get_by_role("button", name=re.compile("^Let face"))
    expect(other).to_have_count(1, timeout=CHECK_LIMIT_MS)
    name = other.get_attribute("aria-label")

    other.press("Enter")

    number = re.search(r"\d+", name).group()
    chosen = desktop.photo.get_by_role("button", name=f"Face {number}, speaks")
    expect(chosen).to_have_attribute("aria-pressed", "true", timeout=CHECK_LIMIT_MS)


def test_the_link_of_somebody_else_shows_nothing(desktop, browser: Browser):
    start_long_job(desktop)
    query = desktop.page.url.removeprefix(desktop.address)
    stranger = browser.new_context()

    other = StudioPage.open(stranger.new_page(), desktop.address, query)

    expect(other.panel).to_contain_text("does not exist any more", timeout=CHECK_LIMIT_MS)
    expect(other.recent).to_contain_text("Nothing here yet")
    stranger.close()
    desktop.panel.get_by_role("button", name="Cancel").click()


def test_everything_fits_and_works_on_a_phone(phone):
    phone.give_photo(PORTRAIT)
    phone.type_text("Hello.")
    phone.page.get_by_role("button", name="More choices").tap()
    phone.consent()
    phone.make()

    assert phone.page.evaluate("document.documentElement.scrollWidth") <= 390
    assert phone.wait_for_video() > 0.3
    assert phone.page.evaluate("document.documentElement.scrollWidth") <= 390
    box = phone.panel.locator("video").bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390


def test_two_quick_clicks_are_one_video(desktop):
    desktop.give_photo(PORTRAIT)
    desktop.give_recording(SHORT_SPEECH)
    desktop.consent()
    expect(desktop.generate).to_be_enabled(timeout=CHECK_LIMIT_MS)

    desktop.generate.dblclick()

    expect(desktop.panel.locator("video")).to_be_visible(timeout=RENDER_LIMIT_MS)
    expect(desktop.recent.locator(".card")).to_have_count(1)
