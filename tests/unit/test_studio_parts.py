import re

from engine.contracts import FaceFound, JobStatus, MemoryReading, PortraitVerdict, VoiceInfo
from engine.errors import ErrorCode
from studio.locales import say, speaking
from studio.locales.en import TEXT
from studio.parts.job_card import job_panel_html, recent_html
from studio.parts.portrait_input import photo_card_html
from studio.parts.samples import SAMPLES, SAMPLES_DIR
from studio.parts.voice_choices import (
    BEST_VOICE,
    language_choices,
    language_of_page,
    voice_choices,
)
from studio.parts.vram_gauge import gauge_html
from studio.presenter import JobView
from tests.studio_fakes import VOICES

HOSTILE = "<img src=x onerror=alert(1)>\"'"


def face(x: int) -> FaceFound:
    return FaceFound(box=(x, 20, 100, 120), score=0.9, yaw_deg=0, pitch_deg=0, roll_deg=0)


def view(status: JobStatus = JobStatus.SUCCEEDED, **values: object) -> JobView:
    given: dict[str, object] = {
        "job_id": "a" * 32,
        "title": "My talk",
        "status": status,
        "label": "label",
        "detail": "detail",
        "percent": None if status.is_final else 40,
        "files": {},
        "can_cancel": not status.is_final,
        "can_retry": status is JobStatus.FAILED,
        "age": "just now",
    }
    return JobView(**{**given, **values})


def test_a_title_cannot_bring_its_own_html():
    for shown in (job_panel_html(view(title=HOSTILE)), recent_html([view(title=HOSTILE)])):
        assert "<img src=x" not in shown
        assert "&lt;img" in shown


def test_a_live_job_has_a_progress_bar_for_screen_readers_and_a_cancel_button():
    shown = job_panel_html(view(JobStatus.RUNNING))

    assert 'role="progressbar"' in shown
    assert 'aria-valuenow="40"' in shown
    assert 'data-action="cancel"' in shown
    assert "<video" not in shown


def test_a_finished_job_has_player_captions_and_download():
    files = {"video": "/artifacts/a/video", "poster": "/p", "vtt": "/v", "srt": "/s"}

    shown = job_panel_html(view(files=files))

    assert '<video controls playsinline preload="metadata" poster="/p"' in shown
    assert '<track kind="captions" src="/v"' in shown
    assert "/artifacts/a/video?download=1" in shown
    assert 'data-action="another"' in shown


def test_a_failed_job_can_be_tried_again():
    assert 'data-action="retry"' in job_panel_html(view(JobStatus.FAILED))


def test_deleting_asks_first():
    shown = recent_html([view()])

    assert re.search(r"<details.*data-action=\"delete\".*</details>", shown)


def test_every_picture_of_the_list_has_words():
    shown = recent_html([view(files={"poster": "/p"})])

    assert f'alt="{say("recent.poster", title="My talk")}"' in shown


def test_an_empty_list_says_so():
    assert say("recent.empty") in recent_html([])


def test_the_gauge_tells_ours_others_and_free():
    reading = MemoryReading(kind="vram", device="Card", total_mb=8192, used_mb=4096, ours_mb=1024)

    shown = gauge_html(reading)

    assert "Studio 1.0 GB · others 3.0 GB · 4.0 GB free" in shown
    assert "width:12.5%" in shown
    assert "width:37.5%" in shown


def test_a_gauge_that_does_not_know_says_so():
    assert "unknown" in gauge_html(MemoryReading(kind="ram", device="This computer"))


def test_a_gauge_that_cannot_tell_ours_leaves_it_out():
    reading = MemoryReading(kind="vram", device="Card", total_mb=8192, used_mb=4096)

    assert "Studio" not in gauge_html(reading)


def test_one_face_is_framed_and_not_a_choice():
    verdict = PortraitVerdict(faces=(face(100),), chosen=0, width_px=400, height_px=400)

    shown = photo_card_html("QUJD", verdict)

    assert "left:25.00%;top:5.00%;width:25.00%;height:30.00%" in shown
    assert "<button" not in shown


def test_several_faces_are_buttons_and_the_chosen_one_is_pressed():
    verdict = PortraitVerdict(faces=(face(10), face(200)), chosen=1, width_px=400, height_px=400)

    shown = photo_card_html("QUJD", verdict)

    assert shown.count("<button") == 2
    assert 'data-face="1" aria-pressed="true"' in shown
    assert 'data-face="0" aria-pressed="false"' in shown


def test_a_file_that_is_no_picture_shows_the_reason_instead():
    shown = photo_card_html(None, PortraitVerdict(verdict=ErrorCode.NOT_AN_IMAGE))

    assert say("photo.unreadable") in shown
    assert "This file is not a picture." in shown


def test_natural_voices_and_their_languages_come_first():
    assert [tag for _, tag in language_choices(VOICES, {})] == ["en", "de"]
    choices = voice_choices([voice for voice in VOICES if "en" in voice.languages])
    assert [voice_id for _, voice_id in choices] == [BEST_VOICE, "hibari:heart", "espeak:en"]


def test_a_voice_that_is_not_installed_is_not_offered():
    absent = VoiceInfo(
        voice_id="x:y",
        engine="x",
        name="Y",
        languages=("en",),
        sample_rate_hz=24000,
        licence="MIT",
        installed=False,
    )

    assert [voice_id for _, voice_id in voice_choices([absent])] == [BEST_VOICE]


def test_every_sample_has_a_picture_a_thumbnail_and_a_name():
    for name in SAMPLES:
        assert (SAMPLES_DIR / f"{name}.jpg").stat().st_size <= 200_000
        assert (SAMPLES_DIR / "thumbs" / f"{name}.jpg").is_file()
        assert TEXT[f"sample.{name}"]


def test_what_is_typed_is_in_the_language_of_the_page_where_a_voice_speaks_it():
    mandarin = VOICES[0].model_copy(update={"languages": ("cmn",)})
    found = {}
    for tag in ("en", "fr", "zh-CN"):
        with speaking(tag):
            found[tag] = (language_of_page(VOICES), language_of_page([mandarin]))

    assert found == {"en": ("en", None), "fr": (None, None), "zh-CN": (None, "cmn")}
