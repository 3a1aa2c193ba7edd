"""The Dub page in a real browser, over a real studio: six languages from one photo."""

import csv
import io
import zipfile
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from engine.media.video import probe_video
from tests.ui.studio_page import CHECK_LIMIT_MS, StudioPage

pytestmark = [pytest.mark.ui, pytest.mark.timeout(400)]

DATA = Path(__file__).resolve().parents[1] / "data"
PORTRAIT = DATA / "portraits/astronaut_collins.jpg"
SPEECH = DATA / "speech/en_librivox_austen_0880.wav"  # 3.0 s
BATCH_LIMIT_MS = 240_000

SIX = """name,language,text
Hi,en,Good morning.
Hi,es,Buenos días.
Hi,fr,Bonjour à tous.
Hi,hi,नमस्ते।
Hi,zh,早上好。
Hi,ar,صباح الخير.
"""


def open_dub(studio: StudioPage) -> Page:
    page = studio.page
    studio.go_to("Dub")
    expect(page.locator(".dub-row").first).to_be_visible(timeout=CHECK_LIMIT_MS)
    return page


def give_photo(page: Page) -> None:
    page.locator("#dub-photo-upload input[type=file]").set_input_files(PORTRAIT)
    expect(page.locator("#dub-photo .face.chosen")).to_be_visible(timeout=CHECK_LIMIT_MS)


def import_table(page: Page, table: Path) -> None:
    with page.expect_file_chooser() as chooser:
        page.locator("#dub-import").click()
    chooser.value.set_files(table)


def make(page: Page) -> None:
    page.locator("#dub-consent input").check()
    page.get_by_role("button", name="Make all videos").click()
    expect(page.locator(".batch")).to_be_visible(timeout=BATCH_LIMIT_MS)


def test_six_languages_from_one_photo(desktop, tmp_path):
    page = open_dub(desktop)
    table = tmp_path / "six.csv"
    table.write_text(SIX, "utf-8")
    give_photo(page)
    import_table(page, table)
    expect(page.locator(".dub-row")).to_have_count(6, timeout=CHECK_LIMIT_MS)
    make(page)
    expect(page.locator(".batch-rows li")).to_have_count(6)

    page.reload()
    open_dub(desktop)
    expect(page.locator(".dub-row")).to_have_count(6)
    link = page.locator(".batch").get_by_role("link", name="Download all (ZIP)")
    expect(link).to_be_visible(timeout=BATCH_LIMIT_MS)
    expect(page.locator(".batch")).to_contain_text("All videos are ready: 6.")
    with page.expect_download() as download:
        link.click()

    with zipfile.ZipFile(download.value.path()) as archive:
        assert archive.testzip() is None
        names = archive.namelist()
        rows = list(csv.DictReader(io.StringIO(archive.read("contents.csv").decode("utf-8-sig"))))
        archive.extractall(tmp_path)
    tags = ["en", "es", "fr", "hi", "zh", "ar"]
    assert names == [f"Hi-{tag}.{end}" for tag in tags for end in ("mp4", "srt", "vtt")] + [
        "contents.csv"
    ]
    assert [row["State"] for row in rows] == ["Ready"] * 6
    lengths = [probe_video(tmp_path / f"Hi-{tag}.mp4").duration_s for tag in tags]
    assert all(0.4 < length < 4 for length in lengths)
    assert len({round(length, 2) for length in lengths}) > 3, "each has its own length"
    assert "早上好" in (tmp_path / "Hi-zh.srt").read_text("utf-8")


def test_rows_are_filled_by_keyboard_and_kept_over_a_reload(desktop):
    page = open_dub(desktop)
    page.get_by_label("Row 1: What should be said?").fill("Hello there.")
    page.get_by_role("button", name="Add a row").press("Enter")
    expect(page.get_by_label("Row 2: Language")).to_be_focused()
    page.get_by_label("Row 2: Language").select_option("es")
    expect(page.get_by_label("Row 2: Voice").locator("option")).not_to_have_count(1)
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.type("Hola.")

    page.reload()
    open_dub(desktop)

    expect(page.get_by_label("Row 2: What should be said?")).to_have_value("Hola.")
    expect(page.get_by_label("Row 2: Language")).to_have_value("es")
    page.get_by_role("button", name="Row 1: Remove").press("Enter")
    expect(page.locator(".dub-row")).to_have_count(1)
    expect(page.get_by_label("Row 1: What should be said?")).to_have_value("Hola.")
    page.get_by_role("button", name="Undo").press("Enter")
    expect(page.get_by_label("Row 1: What should be said?")).to_have_value("Hello there.")
    expect(page.locator(".dub-row")).to_have_count(2)


def test_what_comes_while_somebody_types_takes_nothing_away(desktop):
    page = open_dub(desktop)
    page.get_by_role("button", name="Add a row").focus()
    page.evaluate("window.studioDub.voices(window.studioDubVoices)")
    page.keyboard.press("Enter")
    page.get_by_label("Row 2: Language").select_option("es")
    words = page.get_by_label("Row 1: What should be said?")
    words.press_sequentially("Good ning.")
    for _ in range(5):
        words.press("ArrowLeft")

    page.keyboard.type("mo")
    page.evaluate("window.studioDub.voices(window.studioDubVoices)")
    page.keyboard.type("r")
    page.evaluate("""window.studioDub.draft('{"es": "Buenos días."}')""")

    expect(words).to_have_value("Good morning.")
    expect(words).to_be_focused()
    expect(page.get_by_label("Row 2: What should be said?")).to_have_value("Buenos días.")


def test_cells_of_a_spreadsheet_are_pasted(desktop):
    page = open_dub(desktop)
    page.get_by_text("Paste from a spreadsheet").click()
    page.get_by_label("Cells").fill("de\tGuten Tag.\nit\tBuongiorno.")
    page.get_by_role("button", name="Add these rows").click()

    expect(page.locator(".dub-row")).to_have_count(2, timeout=CHECK_LIMIT_MS)
    expect(page.get_by_label("Row 2: What should be said?")).to_have_value("Buongiorno.")
    expect(page.get_by_label("Row 1: Language")).to_have_value("de")


def test_what_is_missing_is_said_and_nothing_lost(desktop):
    page = open_dub(desktop)
    generate = page.get_by_role("button", name="Make all videos")
    missing = page.locator("#dub-verdict")
    expect(missing).to_have_text("Start with a photo.")
    expect(generate).to_be_disabled()
    give_photo(page)
    expect(missing).to_contain_text("at least one row", timeout=CHECK_LIMIT_MS)
    page.get_by_label("Row 1: What should be said?").fill("Hi.")
    expect(missing).to_have_text("Tick the box above to go on.", timeout=CHECK_LIMIT_MS)
    page.locator("#dub-consent input").check()
    expect(generate).to_be_enabled(timeout=CHECK_LIMIT_MS)

    page.get_by_label("Row 1: What should be said?").fill("")
    expect(generate).to_be_disabled(timeout=CHECK_LIMIT_MS)
    expect(page.locator(".batch")).to_have_count(0)


def test_every_language_has_a_name(desktop):
    page = open_dub(desktop)

    language = page.get_by_label("Row 1: Language")
    expect(language.locator("option[value=grc]")).to_have_text("Ancient Greek")
    options = language.locator("option").all()
    bare = [each.get_attribute("value") for each in options]
    named = [each.inner_text().lower() for each in options]
    assert set(bare) & set(named) == set()


def test_a_recording_on_the_phone_and_canceling_it_all(phone):
    page = open_dub(phone)
    give_photo(page)
    page.get_by_label("Row 1: Use a recording").set_input_files(SPEECH)
    expect(page.locator(".dub-file")).to_have_text(SPEECH.name, timeout=CHECK_LIMIT_MS)
    page.get_by_role("button", name="Add a row").click()
    page.get_by_label("Row 2: What should be said?").fill("This is a longer text. " * 30)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    make(page)
    expect(page.locator(".batch-rows li")).to_have_count(2)
    page.get_by_role("button", name="Cancel all").click()

    expect(page.locator(".batch .pill", has_text="Canceled").first).to_be_visible(
        timeout=BATCH_LIMIT_MS
    )
    expect(page.get_by_role("button", name="Try the missing ones again")).to_be_visible(
        timeout=BATCH_LIMIT_MS
    )
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_nobody_else_gets_the_zip(browser: Browser, studio_address: str):
    stranger = browser.new_context()
    answer = stranger.request.get(f"{studio_address}/batches/{'a' * 32}/zip")

    assert answer.status == 404
    stranger.close()
