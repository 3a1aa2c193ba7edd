from datetime import timedelta

import pytest

from engine.contracts import (
    Artifact,
    AudioVerdict,
    CheckReport,
    Estimate,
    FaceFound,
    JobError,
    JobRecord,
    JobSpec,
    JobStatus,
    PortraitVerdict,
    Progress,
    Stage,
    utc_now,
)
from engine.errors import ErrorCode
from engine.messages import describe
from studio.locales import language_name, say
from studio.presenter import age_words, duration_words, judge_form, present

FACE = FaceFound(box=(10, 10, 50, 60), score=0.9, yaw_deg=0, pitch_deg=0, roll_deg=0)
GOOD_PHOTO = PortraitVerdict(faces=(FACE,), chosen=0, width_px=100, height_px=100)


def record(status: JobStatus, **values: object) -> JobRecord:
    given: dict[str, object] = {
        "job_id": "a" * 32,
        "owner": "o",
        "title": "My talk",
        "status": status,
        "spec": JobSpec(job_id="a" * 32, portrait_name="portrait.png"),
        "created_at": utc_now(),
    }
    return JobRecord(**{**given, **values})


def test_a_running_job_says_what_is_done_and_the_time_left():
    progress = Progress(stage=Stage.ANIMATE, done=30, total=75, percent=52.4, seconds_left=11.6)

    view = present(record(JobStatus.RUNNING, progress=progress))

    assert view.label == "Making your video: moving the lips"
    assert view.detail == "about 12 s left"
    assert view.percent == 52
    assert view.can_cancel
    assert not view.can_retry


def test_a_running_job_without_an_estimate_says_so():
    view = present(record(JobStatus.RUNNING, progress=Progress(stage=Stage.LISTEN)))

    assert view.label == say("stage.listen")
    assert view.detail == say("job.time_unknown")


def test_a_recording_is_not_called_a_text():
    spec = JobSpec(job_id="a" * 32, portrait_name="portrait.png", audio_name="audio.wav")
    progress = Progress(stage=Stage.SPEAK)

    assert present(record(JobStatus.RUNNING, progress=progress)).label == say("stage.speak")
    told = present(record(JobStatus.RUNNING, progress=progress, spec=spec)).label
    assert told == say("stage.speak_recording")


@pytest.mark.parametrize("stage", list(Stage))
def test_every_stage_has_words(stage):
    assert present(record(JobStatus.RUNNING, progress=Progress(stage=stage))).label


def test_a_waiting_job_says_how_many_are_before_it():
    assert present(record(JobStatus.QUEUED, queue_position=1)).detail == say("job.queued_next")
    assert present(record(JobStatus.QUEUED, queue_position=4)).detail == "3 before it."


def test_a_finished_job_offers_its_files_and_no_progress():
    video = Artifact(kind="video", name="out/video.mp4", size_bytes=9)
    view = present(
        record(
            JobStatus.SUCCEEDED,
            artifacts=(video,),
            report={"duration_s": 7.08, "elapsed_s": 75.0},
        )
    )

    assert view.files == {"video": f"/artifacts/{'a' * 32}/video"}
    assert view.percent is None
    assert view.detail == "7.1 s long, made in 1 min 15 s."
    assert view.is_final


def test_a_failed_job_says_why_and_what_to_do():
    error = JobError(code=ErrorCode.DISK_FULL, stage=Stage.FINISH)

    view = present(record(JobStatus.FAILED, error=error))

    assert (view.label, view.detail) == (
        describe(ErrorCode.DISK_FULL).sentence,
        describe(ErrorCode.DISK_FULL).hint,
    )
    assert view.can_retry
    assert not view.can_cancel


def test_a_job_without_a_title_has_a_name():
    assert present(record(JobStatus.QUEUED, title="")).title == say("job.untitled")


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.2, "1 s"),
        (41.6, "42 s"),
        (75, "1 min 15 s"),
        (600, "10 min"),
        (3700, "1 h 1 min"),
        (7260, "2 h 1 min"),
    ],
)
def test_durations_in_words(seconds, words):
    assert duration_words(seconds) == words


def test_measured_durations_keep_tenths():
    assert duration_words(7.08, exact=True) == "7.1 s"


def test_ages_in_words():
    assert age_words(timedelta(seconds=3)) == say("age.now")
    assert age_words(timedelta(seconds=-3)) == say("age.now")
    assert age_words(timedelta(minutes=5, seconds=50)) == "5 min ago"
    assert age_words(timedelta(hours=30)) == "1 d ago"


def test_the_line_leads_from_photo_to_ready():
    heard = AudioVerdict(duration_s=7.1)
    estimate = {"lite": Estimate(seconds=6, peak_vram_mb=0, peak_rss_mb=400)}
    photo_only = CheckReport(ok=True, portrait=GOOD_PHOTO)
    complete = CheckReport(ok=True, portrait=GOOD_PHOTO, audio=heard, estimate=estimate)

    start = judge_form(None, has_voice=False, consent=False)
    with_photo = judge_form(photo_only, has_voice=False, consent=True)
    without_consent = judge_form(complete, has_voice=True, consent=False)
    ready = judge_form(complete, has_voice=True, consent=True)

    assert (start.text, start.is_ready) == (say("check.no_photo"), False)
    assert (with_photo.text, with_photo.is_ready) == (say("check.no_voice"), False)
    assert (without_consent.hint, without_consent.is_ready) == (say("check.no_consent"), False)
    assert ready.text == "Face found · 7.1 s of speech · about 6 s to make"
    assert ready.is_ready


def test_a_refusal_says_the_sentence_of_the_engine():
    report = CheckReport(
        ok=False,
        portrait=PortraitVerdict(
            verdict=ErrorCode.FACE_TOO_SMALL, values={"face_px": 30, "need_px": 50}
        ),
    )

    verdict = judge_form(report, has_voice=True, consent=True)

    assert verdict.mood == "refused"
    assert "30 pixels" in verdict.text
    assert not verdict.is_ready


def test_a_warning_is_said_and_does_not_block():
    photo = GOOD_PHOTO.model_copy(
        update={"warnings": (ErrorCode.SEVERAL_FACES,), "values": {"count": 2}}
    )
    report = CheckReport(ok=True, portrait=photo, audio=AudioVerdict(duration_s=2))

    verdict = judge_form(report, has_voice=True, consent=True)

    assert verdict.is_ready
    assert verdict.notes == ("There are 2 faces; the largest one was chosen.",)


def test_a_language_without_a_name_shows_its_tag():
    assert language_name("pt") == "Portuguese"
    assert language_name("xx") == "xx"
