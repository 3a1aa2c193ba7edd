"""Twelve tasks as somebody does them who has never seen the page, by the words they read."""

import re
import time

import pytest
import soundfile as sf
from playwright.sync_api import Browser, expect

from tests.ui.studio_page import CHECK_LIMIT_MS, PATIENCE, RENDER_LIMIT_MS, StudioPage
from tests.ui.test_ui_create import (
    DRAWING,
    LONG_SPEECH,
    NO_FACE,
    PORTRAIT,
    SHORT_SPEECH,
    TWO_FACES,
    start_long_job,
)

pytestmark = [pytest.mark.ui, pytest.mark.timeout(400 * PATIENCE)]

FACE_OF_DRAWING = {
    "Left eye": (0.38, 0.45),
    "Right eye": (0.535, 0.45),
    "Left corner of the mouth": (0.345, 0.69),
    "Right corner of the mouth": (0.51, 0.68),
}

# From the page's address to a playing video, with five seconds of speech, on two cores.
FIRST_VIDEO_LIMIT_S = 60.0 * PATIENCE


def five_seconds(folder) -> str:
    samples, rate_hz = sf.read(LONG_SPEECH, dtype="float32")
    path = folder / "five_seconds.wav"
    sf.write(path, samples[: 5 * rate_hz], rate_hz)
    return str(path)


def play(studio: StudioPage) -> None:
    """Press play and see that time goes on and that there is a picture."""
    video = studio.panel.locator("video")
    video.evaluate("element => { element.muted = true; return element.play(); }")
    studio.page.wait_for_function(
        "() => { const v = document.querySelector('#job-panel video');"
        " return v.currentTime > 0.2 && v.videoWidth > 0; }"
    )


def test_01_first_video_by_upload(browser: Browser, studio_address, tmp_path, see, record_property):
    speech = five_seconds(tmp_path)
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    begun = time.monotonic()
    studio = StudioPage.open(page, studio_address)
    expect(page.locator("#voice-text")).to_be_hidden()
    see(page, "1_arrival")
    studio.give_photo(PORTRAIT)
    expect(studio.photo.locator(".face.chosen")).to_be_visible()
    studio.give_recording(speech)
    studio.consent()
    expect(studio.verdict).to_contain_text(
        re.compile(r"Face found · 5\.0 s of speech · about .* to make"), timeout=CHECK_LIMIT_MS
    )
    expect(page.locator("#quality")).to_contain_text("Here: about")
    see(page, "2_ready")
    studio.make()
    live = studio.panel.locator(".live img")
    expect(live).to_be_visible(timeout=CHECK_LIMIT_MS)
    assert live.evaluate("image => image.naturalWidth") >= 200
    expect(page).to_have_title(re.compile(r"^\d+ % · Sonic Studio"), timeout=CHECK_LIMIT_MS)
    see(page, "3_making")

    assert studio.wait_for_video() == pytest.approx(5.0, abs=0.1)
    expect(page.get_by_test_id("toast-body")).to_contain_text("Your video is ready.")
    play(studio)
    took_s = time.monotonic() - begun
    record_property("first_video_s", round(took_s, 1))
    expect(page).to_have_title(re.compile("^✓ Your video is ready"))
    see(page, "4_playing")
    with page.expect_download() as download:
        studio.panel.get_by_role("link", name="Download").click()
    assert download.value.path().stat().st_size > 20_000
    assert took_s < FIRST_VIDEO_LIMIT_S
    context.close()


def test_02_first_video_by_typing(desktop, see):
    page = desktop.page
    page.get_by_role("button", name=re.compile("sample portrait: Vincent")).click()
    expect(desktop.photo.locator("img")).to_be_visible(timeout=CHECK_LIMIT_MS)
    desktop.type_text("Good morning everybody.")
    page.get_by_role("button", name="Hear the voice").click()
    expect(page.locator("#voice-preview-player audio")).to_be_visible(timeout=CHECK_LIMIT_MS)
    page.wait_for_function(
        "() => document.querySelector('#voice-preview-player audio').duration > 0.5"
    )
    page.get_by_label("Write captions into the picture").check()
    desktop.consent()
    see(page, "1_ready")
    desktop.make()

    assert desktop.wait_for_video() > 0.8
    expect(desktop.panel).to_contain_text("Good morning everybody.")
    expect(desktop.panel.get_by_role("link", name="Captions")).to_be_visible()
    desktop.panel.locator("video").evaluate("element => { element.currentTime = 0.6; }")
    see(page, "2_done")


def test_03_first_video_by_recording(desktop, see):
    page = desktop.page
    desktop.give_photo(PORTRAIT)
    desktop.choose_voice_source("Record")
    page.locator("#voice-microphone button.record").click()
    meter = page.get_by_role("meter", name="Loudness of the microphone")
    expect(meter).to_be_visible(timeout=CHECK_LIMIT_MS)
    page.wait_for_function(
        "() => document.querySelector('.level .bar').getAttribute('aria-valuenow') > 30"
    )
    page.wait_for_timeout(2000)  # a person speaks
    see(page, "1_recording")
    page.locator("#voice-microphone button.stop-button").click()
    expect(meter).to_be_hidden(timeout=CHECK_LIMIT_MS)
    expect(page.get_by_role("button", name="Trim")).to_be_visible(timeout=CHECK_LIMIT_MS)
    desktop.consent()
    see(page, "2_recorded")
    desktop.make()

    assert desktop.wait_for_video() > 1.5
    see(page, "3_done")


def test_04_several_faces(desktop, see):
    desktop.give_photo(TWO_FACES)
    other = desktop.photo.get_by_role("button", name=re.compile("^Let face"))
    expect(other).to_have_count(1, timeout=CHECK_LIMIT_MS)
    see(desktop.page, "1_two_faces")
    name = other.get_attribute("aria-label")

    other.press("Enter")

    number = re.search(r"\d+", name).group()
    chosen = desktop.photo.get_by_role("button", name=f"Face {number}, speaks")
    expect(chosen).to_have_attribute("aria-pressed", "true", timeout=CHECK_LIMIT_MS)
    desktop.page.locator("#framing label", has_text="Face").click()
    shown = desktop.photo.locator(".shown")
    expect(shown).not_to_have_attribute("style", re.compile("width:100"), timeout=CHECK_LIMIT_MS)
    chosen_box, shown_box = chosen.bounding_box(), shown.bounding_box()
    middle = chosen_box["x"] + chosen_box["width"] / 2
    assert shown_box["x"] < middle < shown_box["x"] + shown_box["width"]
    see(desktop.page, "2_other_face")


def test_05_a_drawing(desktop, see):
    desktop.give_photo(DRAWING)
    expect(desktop.photo).to_contain_text("No human face was found", timeout=CHECK_LIMIT_MS)
    desktop.photo.get_by_role("button", name="Mark the face by hand").click()
    area = desktop.photo.locator(".pins").bounding_box()
    for name, (x, y) in FACE_OF_DRAWING.items():
        pin = desktop.photo.get_by_role("button", name=name).bounding_box()
        desktop.page.mouse.move(pin["x"] + pin["width"] / 2, pin["y"] + pin["height"] / 2)
        desktop.page.mouse.down()
        desktop.page.mouse.move(area["x"] + x * area["width"], area["y"] + y * area["height"])
        desktop.page.mouse.up()
    desktop.page.keyboard.press("ArrowDown")  # the last one has the focus: a hundredth lower
    see(desktop.page, "1_marked")
    desktop.photo.get_by_role("button", name="Use these points").click()
    expect(desktop.photo.locator(".face.chosen")).to_be_visible(timeout=CHECK_LIMIT_MS)
    desktop.give_recording(SHORT_SPEECH)
    desktop.consent()
    see(desktop.page, "2_ready")
    desktop.make()

    assert desktop.wait_for_video() == pytest.approx(3.0, abs=0.1)
    desktop.panel.locator("video").evaluate("element => { element.currentTime = 1.0; }")
    see(desktop.page, "3_done")


def test_06_the_wrong_files(desktop, tmp_path, see):
    desktop.give_photo(NO_FACE)
    expect(desktop.photo).to_contain_text("No human face was found", timeout=CHECK_LIMIT_MS)
    desktop.page.get_by_role("button", name="What makes a good photo").click()
    see(desktop.page, "1_no_face")
    desktop.page.get_by_role("button", name="Choose another photo").click()
    desktop.give_photo(PORTRAIT)
    letter = tmp_path / "letter.wav"
    letter.write_text("These are only words. " * 40)
    desktop.give_recording(letter)
    desktop.consent()

    expect(desktop.verdict).to_contain_text("not a sound recording", timeout=CHECK_LIMIT_MS)
    expect(desktop.generate).to_be_disabled()
    see(desktop.page, "2_no_sound")


def test_07_cancel_and_redo(desktop, see):
    start_long_job(desktop)
    see(desktop.page, "1_making")

    desktop.panel.get_by_role("button", name="Cancel").click()
    expect(desktop.panel).to_contain_text("The video was canceled.", timeout=CHECK_LIMIT_MS)
    see(desktop.page, "2_canceled")
    desktop.panel.get_by_role("button", name="Try again").click()
    expect(desktop.panel.get_by_role("progressbar")).to_be_visible(timeout=CHECK_LIMIT_MS)
    desktop.panel.get_by_role("button", name="Cancel").click()
    expect(desktop.panel).to_contain_text("The video was canceled.", timeout=CHECK_LIMIT_MS)


def test_08_reload_in_the_middle_and_a_second_tab(desktop, see):
    start_long_job(desktop)
    job_link = desktop.page.url
    assert "job=" in job_link

    desktop.page.reload()
    expect(desktop.panel.get_by_role("progressbar")).to_be_visible(timeout=CHECK_LIMIT_MS)
    see(desktop.page, "1_reloaded")
    second = StudioPage.open(desktop.page.context.new_page(), desktop.address)
    expect(second.panel.get_by_role("progressbar")).to_be_visible(timeout=CHECK_LIMIT_MS)
    second.page.wait_for_url(job_link)

    assert desktop.wait_for_video() == pytest.approx(11.0, abs=0.2)
    expect(second.panel.locator("video")).to_be_visible(timeout=CHECK_LIMIT_MS)


def test_09_dub_into_three_languages(desktop, see):
    page = desktop.page
    page.get_by_role("tab", name="Dub").click()
    page.locator("#dub-photo-upload input[type=file]").set_input_files(PORTRAIT)
    expect(page.locator("#dub-photo .face.chosen")).to_be_visible(timeout=CHECK_LIMIT_MS)
    page.get_by_text("Paste from a spreadsheet").click()
    page.get_by_label("Cells").fill("en\tGood morning.\nes\tBuenos días.\nfr\tBonjour à tous.")
    page.get_by_role("button", name="Add these rows").click()
    expect(page.locator(".dub-row")).to_have_count(3, timeout=CHECK_LIMIT_MS)
    page.locator("#dub-consent input").check()
    see(page, "1_table")
    page.get_by_role("button", name="Make all videos").click()

    expect(page.locator(".batch")).to_contain_text(
        "All videos are ready: 3.", timeout=RENDER_LIMIT_MS
    )
    see(page, "2_ready")


def test_10_find_an_old_video_and_download_it(desktop, see):
    page, library = desktop.page, desktop.page.locator("#library")
    desktop.give_photo(PORTRAIT)
    desktop.type_text("An old video.")
    desktop.consent()
    desktop.make()
    desktop.wait_for_video()
    desktop.panel.get_by_role("button", name="Make another").click()
    expect(desktop.panel.locator("video")).to_have_count(0, timeout=CHECK_LIMIT_MS)

    begun = time.monotonic()
    page.get_by_role("tab", name="Library").click()
    expect(library.locator(".card", has_text="An old video.")).to_be_visible(timeout=CHECK_LIMIT_MS)
    assert time.monotonic() - begun < 4.0 * PATIENCE, "the list is read anew when it is opened"
    library.locator("summary", has_text="Settings used").click()
    see(page, "1_library")
    with page.expect_download() as download:
        library.get_by_role("link", name="Download An old video.").click()
    assert download.value.suggested_filename.endswith(".mp4")
    page.get_by_text("Delete all my data").click()
    see(page, "2_forget")
    page.locator("#forget").get_by_role("button", name="Yes, delete").click()

    expect(library).to_contain_text("No videos yet", timeout=CHECK_LIMIT_MS)
    page.get_by_role("tab", name="Create").click()
    expect(desktop.photo.locator("img")).to_have_count(0, timeout=CHECK_LIMIT_MS)
    see(page, "3_forgotten")
    page.locator("#voice-source label").nth(2).click()
    expect(page.locator("#voice-text textarea")).to_have_value("", timeout=CHECK_LIMIT_MS)


def test_11_the_page_in_arabic(desktop, see):
    page = desktop.page
    page.get_by_label("Language of the page").select_option("ar")
    expect(page.locator("#generate")).to_have_text("اصنع الفيديو", timeout=CHECK_LIMIT_MS)
    expect(page.locator("html")).to_have_attribute("dir", "rtl")
    desktop.give_photo(PORTRAIT)
    page.locator("#voice-source label").nth(2).click()
    page.locator("#voice-text textarea").fill("Good morning, everybody.")
    page.locator("#consent input").check()
    expect(page.locator("#generate")).to_be_enabled(timeout=CHECK_LIMIT_MS)
    see(page, "1_ready")
    page.locator("#generate").click()
    assert desktop.wait_for_video() > 0.8
    title = desktop.recent.locator(".card b")
    expect(title).to_have_attribute("dir", "auto")
    see(page, "2_done")

    again = page.context.new_page()
    again.goto(desktop.address)

    expect(again.locator("#generate")).to_have_text("اصنع الفيديو", timeout=CHECK_LIMIT_MS)


def test_12_on_a_phone(phone, see):
    phone.give_photo(PORTRAIT)
    phone.type_text("Hello.")
    phone.page.get_by_role("button", name="More choices").tap()
    phone.consent()
    see(phone.page, "1_ready")
    phone.make()

    assert phone.page.evaluate("document.documentElement.scrollWidth") <= 390
    assert phone.wait_for_video() > 0.3
    assert phone.page.evaluate("document.documentElement.scrollWidth") <= 390
    box = phone.panel.locator("video").bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390
    see(phone.page, "2_done")
