"""What the page tells about a job, the memory, the weights: words, figures, buttons."""

import re
from datetime import UTC, datetime, timedelta

import pytest

from engine.contracts import (
    Estimate,
    JobError,
    JobRecord,
    JobSpec,
    JobStatus,
    MemoryEntry,
    MemoryReading,
    PortraitVerdict,
    Progress,
    Stage,
    VoiceDownload,
    VoiceInfo,
    WeightsState,
)
from engine.errors import ErrorCode
from engine.messages import Message
from studio.locales import say, speaking
from studio.parts.banner import banner_html
from studio.parts.job_card import job_panel_html
from studio.parts.ledger_table import ledger_html
from studio.parts.portrait_input import photo_card_html
from studio.parts.quality import preset_choices
from studio.parts.voice_downloads import downloads_html
from studio.parts.vram_gauge import gauge_html
from studio.parts.weights_list import weights_html
from studio.presenter import present
from tests.unit.test_studio_parts import face

NOW = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)


def record(status: JobStatus = JobStatus.SUCCEEDED, **values: object) -> JobRecord:
    job_id = "a" * 32
    given: dict[str, object] = {
        "job_id": job_id,
        "owner": "o",
        "title": "My talk",
        "status": status,
        "spec": JobSpec(job_id=job_id, portrait_name="portrait.png"),
        "created_at": NOW,
    }
    return JobRecord(**{**given, **values})


def test_notes_of_a_finished_video_are_shown_with_their_numbers():
    report = {
        "notes": ["low_resolution", "emoji_dropped", "a note without words"],
        "note_values": {"face_px": 108},
        "memory_steps": [{"step": "smaller"}],
    }

    view = present(record(report=report), NOW)

    assert len(view.notes) == 3
    assert view.notes[0].startswith("The face is only 108 pixels high")
    assert view.notes[1].startswith("Emoji are not spoken")
    assert view.notes[2] == say("job.memory_steps")
    assert "108 pixels" in job_panel_html(view)


def test_a_waiting_job_tells_when_it_starts():
    waiting = record(JobStatus.QUEUED, queue_position=3)

    assert present(waiting, NOW, 240.0).detail == "2 before it. It starts in about 4 min."
    assert present(waiting, NOW).detail == "2 before it."
    assert present(record(JobStatus.QUEUED, queue_position=1), NOW, 1.0).detail == "It is next."


def test_a_job_that_waits_for_the_card_says_so():
    progress = Progress(stage=Stage.ANIMATE, waits_for=ErrorCode.CARD_BUSY, values={})

    view = present(record(JobStatus.RUNNING, progress=progress), NOW)

    assert view.label != say("stage.animate")
    assert view.detail


def test_the_newest_frame_is_shown_while_the_video_is_made_and_not_later():
    running = present(
        record(JobStatus.RUNNING, progress=Progress(stage=Stage.ANIMATE, percent=30)), NOW
    )

    assert 'src="data:image/jpeg;base64,QUJD"' in job_panel_html(running, "QUJD")
    assert '<div class="live"></div>' in job_panel_html(running)
    failed = record(JobStatus.FAILED, error=JobError(code=ErrorCode.DISK_FULL))
    assert "QUJD" not in job_panel_html(present(failed, NOW), "QUJD")


def test_the_banner_offers_to_go_on_to_those_who_may():
    pause = Message("The queue is paused.", "It goes on by itself.")

    assert 'data-action="resume"' in banner_html(pause, None, may_resume=True)
    assert 'data-action="resume"' not in banner_html(pause, None, may_resume=False)
    warned = banner_html(None, Message("Memory <grows>.", "Restart."), may_resume=True)
    assert "Memory &lt;grows&gt;." in warned
    assert "data-action" not in warned
    assert banner_html(None, None, may_resume=True) == ""


def test_the_gauge_draws_its_peak_and_tells_heat_and_load_where_known():
    reading = MemoryReading(
        kind="vram",
        device="A card",
        total_mb=24_576,
        used_mb=12_288,
        ours_mb=6_144,
        peak_mb=18_432,
        temperature_c=61.4,
        load_percent=97.0,
    )

    shown = gauge_html(reading)

    assert "peak 18.0 GB · 61 °C · load 97 %" in shown
    assert 'style="inset-inline-start:75.0%"' in shown
    bare = gauge_html(reading.model_copy(update={"peak_mb": None, "temperature_c": None}))
    assert "peak" not in bare
    assert "°C" not in bare


@pytest.mark.parametrize("tag", ["en", "ar"])
def test_the_ledger_lists_the_last_videos(tag):
    entry = MemoryEntry(
        job_id="a" * 32,
        attempt=1,
        at=datetime.now(UTC) - timedelta(minutes=5),
        child_pid=7,
        rss_before_mb=204.8,
        rss_peak_mb=1024.0,
        rss_after_mb=307.2,
    )
    with speaking(tag):
        shown = ledger_html([entry, entry.model_copy(update={"replaced": "jobs"})])
        empty = ledger_html([])

        assert say("ledger.kept") in shown
        assert say("ledger.replaced") in shown
        assert say("ledger.empty") in empty
    assert re.findall(r"\d\.\d", shown)[:3] == ["0.2", "1.0", "0.3"]


def weights(**values: object) -> WeightsState:
    given: dict[str, object] = {
        **{"name": "sonic", "title": "Sonic", "notice": "<b>", "folder": "w"},
        **{"num_files": 13, "num_usable": 3, "missing_mb": 5200.0},
    }
    return WeightsState(**{**given, **values})


def test_weights_that_lack_offer_a_download_with_its_size_and_licence():
    shown = weights_html([weights()])

    assert "3 of 13 files are here." in shown
    assert "Download, up to 5.2 GB" in shown
    assert 'data-action="fetch" data-job="sonic"' in shown
    assert "&lt;b&gt;" in shown
    assert "data-action" not in weights_html([weights(num_usable=13)])


def test_a_running_download_has_a_bar_and_can_be_stopped():
    shown = weights_html([weights(is_running=True, done_mb=2600.0, total_mb=5200.0)])

    assert 'aria-valuenow="50"' in shown
    assert "2.6 GB of 5.2 GB" in shown
    assert 'data-action="stop"' in shown
    assert 'data-action="fetch"' not in shown


def test_a_download_that_failed_says_why():
    error = JobError(
        code=ErrorCode.WEIGHTS_UNREACHABLE, values={"file": "unet.pth", "reason": "no route"}
    )

    shown = weights_html([weights(error=error)])

    assert "unet.pth could not be downloaded: no route." in shown
    assert 'data-action="fetch"' in shown


def test_downloads_come_one_after_the_other():
    other = weights(name="recogniser", title="Recogniser", num_files=4, num_usable=0)

    shown = weights_html([weights(is_running=True), other])

    assert 'data-action="fetch"' not in shown
    assert say("weights.wait") in shown


def test_what_can_be_downloaded_is_named_in_the_language_of_the_page():
    voice = weights(name="piper-de", title="Piper voice Thorsten")

    with speaking("fr"):
        shown = weights_html([weights(), voice])

    assert "Sonic, l&#x27;animateur par diffusion" in shown
    assert "Voix Piper Thorsten" in shown


def test_voices_that_lack_are_folded_and_say_what_else_they_need():
    voices = [
        weights(name="piper-de", title="Thorsten", num_files=2, num_usable=0, missing_mb=63.2),
        weights(name="qwen-0.6b", title="Qwen", num_files=2, num_usable=0),
        weights(name="supertonic", title="Here", num_files=2, num_usable=2),
    ]

    before, _, folded = weights_html(voices).partition("<details")

    assert "Supertonic 3" in before
    assert "Voices to download (2)" in folded
    assert "Download, up to 63 MB" in folded
    assert "voices setup qwen" in folded


def test_a_voice_to_download_tells_its_name_size_and_licence():
    voice = VoiceInfo(
        voice_id="piper:x",
        engine="piper",
        name="<i>",
        languages=("de",),
        sample_rate_hz=22050,
        licence="CC0-1.0 recordings",
        installed=False,
        needs="download",
    )
    files = weights(name="piper-x", missing_mb=63.2, num_usable=0)

    shown = downloads_html([VoiceDownload(files=files, voices=(voice,))], is_busy=False)

    assert "&lt;i&gt;" in shown
    assert "CC0-1.0 recordings" in shown
    assert 'data-action="fetch" data-job="piper-x"' in shown
    assert "63 MB" in shown


def test_what_the_video_shows_is_framed_and_may_reach_beyond_the_photo():
    verdict = PortraitVerdict(
        faces=(face(100),), chosen=0, width_px=400, height_px=400, shown=(-200, 0, 800, 400)
    )

    card = photo_card_html("QUJD", verdict)

    assert 'style="--ratio:2.0000"' in card
    assert '<span class="shown" style="left:0.00%;top:0.00%;width:100.00%;height:100.00%">' in card
    assert 'style="left:25.00%;top:0.00%;width:50.00%;height:100.00%" alt=' in card
    assert "left:37.50%;top:5.00%;width:12.50%;height:30.00%" in card, "the face"


def test_a_picture_without_a_face_can_be_marked_and_a_marked_one_anew():
    nothing = PortraitVerdict(verdict=ErrorCode.NO_FACE, width_px=400, height_px=400)
    placed = PortraitVerdict(faces=(face(100),), chosen=0, width_px=400, height_px=400)

    assert photo_card_html("QUJD", nothing).count('class="pin"') == 4
    assert 'class="pin"' not in photo_card_html("QUJD", placed)
    again = photo_card_html("QUJD", placed, is_marked=True)
    assert say("photo.mark_again") in again
    assert 'data-action="points" data-points=""' in again


def test_the_cards_tell_what_each_quality_costs_here():
    costs = {
        "quick": Estimate(seconds=11, peak_vram_mb=0, peak_rss_mb=410),
        "hd": Estimate(seconds=260, peak_vram_mb=14_336, peak_rss_mb=900),
    }

    quick, standard, hd = (words for words, _ in preset_choices(costs))

    assert quick.endswith("\nHere: about 11 s, Memory 0.4 GB")
    assert "Here:" not in standard
    assert hd.endswith("\nHere: about 4 min, Graphics memory 14.0 GB")
