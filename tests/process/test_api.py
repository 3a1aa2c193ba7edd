"""The facade: what it refuses, what it remembers, who may see what."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from polling import wait_until

from engine.api import StudioEngine
from engine.contracts import AnimateRequest, JobStatus, RenderOptions, SpeechOptions
from engine.errors import EngineError, ErrorCode, InputError
from tests.patience import PATIENCE

WORK = {"kind": "sleep", "seconds": 0}
LONG = {"kind": "sleep", "seconds": 60}

Requests = Callable[..., AnimateRequest]


def folders_of(engine: StudioEngine) -> list[Path]:
    return list(engine.settings.jobs_dir.iterdir())


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"consent": False}, ErrorCode.CONSENT_MISSING),
        ({"audio": None}, ErrorCode.BAD_OPTION),
        ({"speech": SpeechOptions(text="hello")}, ErrorCode.BAD_OPTION),
        ({"portrait": "/nowhere/me.png"}, ErrorCode.FILE_NOT_FOUND),
        ({"audio": "/nowhere/speech.wav"}, ErrorCode.FILE_NOT_FOUND),
    ],
)
def test_a_request_that_cannot_be_done_is_refused_without_a_trace(
    engine: StudioEngine, request_for: Requests, changes: dict[str, object], code: ErrorCode
) -> None:
    request = request_for(WORK).model_copy(update=changes)

    with pytest.raises(InputError) as caught:
        engine.submit(request)

    assert caught.value.code is code
    assert (engine.list_for(None), folders_of(engine)) == ([], [])


def test_cleaning_up_removes_what_is_old_and_ends_an_idle_worker(
    engine: StudioEngine, request_for: Requests
) -> None:
    job = engine.submit(request_for(WORK))
    engine.wait(job.job_id, timeout_s=60)
    wait_until(lambda: engine.health().worker == "ready")
    old = engine.settings.uploads_path / "old" / "photo.jpg"
    old.parent.mkdir(parents=True)
    old.write_bytes(b"photo")
    os.utime(old, (0, 0))

    assert engine.clean_up() == 1

    assert not old.exists()
    assert engine.health().worker == "dead"
    assert engine.get(job.job_id).status is JobStatus.SUCCEEDED


def test_inputs_refused_by_intake_leave_no_row_and_no_folder(
    engine: StudioEngine, request_for: Requests
) -> None:
    request = request_for(WORK)
    Path(str(request.audio)).write_text("no face", "utf-8")

    with pytest.raises(InputError) as caught:
        engine.submit(request)

    assert caught.value.code is ErrorCode.NO_FACE
    assert (engine.list_for(None), folders_of(engine)) == ([], [])


def test_inputs_that_take_too_long_could_not_be_checked(
    make_engine: Callable[..., StudioEngine], request_for: Requests
) -> None:
    engine = make_engine(quick_timeout_s=0.5)
    request = request_for(WORK)
    Path(str(request.audio)).write_text("slow intake", "utf-8")

    with pytest.raises(EngineError) as caught:
        engine.submit(request)

    assert caught.value.code is ErrorCode.PROBE_TIMEOUT
    assert folders_of(engine) == []


def test_the_callers_files_are_not_needed_after_submit(
    make_engine: Callable[..., StudioEngine], request_for: Requests
) -> None:
    engine = make_engine()
    request = request_for(WORK)

    job = engine.submit(request)
    Path(request.portrait).unlink()
    Path(str(request.audio)).unlink()

    assert engine.wait(job.job_id, 15 * PATIENCE).status is JobStatus.SUCCEEDED


def test_the_same_key_of_the_same_owner_gives_the_same_job(
    engine: StudioEngine, request_for: Requests
) -> None:
    request = request_for(WORK)
    found: list[str] = []

    def click() -> None:
        found.append(engine.submit(request, "ann", "click-1").job_id)

    clicks = [threading.Thread(target=click) for _ in range(2)]
    for thread in clicks:
        thread.start()
    for thread in clicks:
        thread.join()
    other = engine.submit(request, "bob", "click-1")

    assert len(found) == 2
    assert found[0] == found[1] != other.job_id
    assert {folder.name for folder in folders_of(engine)} == {found[0], other.job_id}


def test_the_queue_has_an_end(
    make_engine: Callable[..., StudioEngine], request_for: Requests
) -> None:
    engine = make_engine(max_queued_jobs=2)
    running = engine.submit(request_for(LONG))
    wait_until(lambda: engine.get(running.job_id).status is JobStatus.RUNNING)
    waiting = [engine.submit(request_for(WORK)) for _ in range(2)]

    with pytest.raises(EngineError) as caught:
        engine.submit(request_for(WORK))

    assert caught.value.code is ErrorCode.QUEUE_FULL
    assert caught.value.values["count"] == 2
    assert caught.value.values["minutes"] >= 1
    assert [engine.get(job.job_id).queue_position for job in waiting] == [1, 2]
    assert len(folders_of(engine)) == 3


def test_nobody_reaches_the_job_of_another_owner(
    engine: StudioEngine, request_for: Requests
) -> None:
    job = engine.submit(request_for(WORK), "ann")
    engine.wait(job.job_id, 15, owner="ann")
    calls: dict[str, Callable[[], object]] = {
        "get": lambda: engine.get(job.job_id, "bob"),
        "wait": lambda: engine.wait(job.job_id, owner="bob"),
        "cancel": lambda: engine.cancel(job.job_id, "bob"),
        "retry": lambda: engine.retry(job.job_id, "bob"),
        "delete": lambda: engine.delete(job.job_id, "bob"),
        "artifact_path": lambda: engine.artifact_path(job.job_id, "video", "bob"),
    }

    codes = {}
    for name, call in calls.items():
        with pytest.raises(EngineError) as caught:
            call()
        codes[name] = caught.value.code

    assert codes == dict.fromkeys(calls, ErrorCode.JOB_NOT_FOUND)
    assert engine.get(job.job_id, "ann").status is JobStatus.SUCCEEDED
    assert (engine.list_for("bob"), engine.events_since("bob")) == ([], [])


def test_events_tell_each_owner_what_changed_since(
    engine: StudioEngine, request_for: Requests
) -> None:
    first = engine.submit(request_for(WORK), "ann")
    engine.wait(first.job_id, 15 * PATIENCE)
    cursor = engine.events_since("ann")[-1].cursor
    assert engine.events_since("ann", cursor) == []

    second = engine.submit(request_for(WORK), "ann")
    engine.delete(first.job_id, "ann")

    events = engine.events_since("ann", cursor)
    assert {event.job_id for event in events} == {first.job_id, second.job_id}
    assert next(event for event in events if event.job_id == first.job_id).record is None


def test_a_seed_is_drawn_and_recorded_unless_given(
    engine: StudioEngine, request_for: Requests
) -> None:
    drawn = {engine.submit(request_for(WORK)).spec.seed for _ in range(3)}
    given = engine.submit(request_for(WORK, options=RenderOptions(seed=7)))

    assert len(drawn) == 3
    assert given.spec.seed == 7


def test_a_text_job_needs_no_recording(engine: StudioEngine, request_for: Requests) -> None:
    request = request_for(WORK, audio=None, speech=SpeechOptions(text="hello"))

    job = engine.submit(request)

    assert job.spec.audio_name is None
    assert job.spec.speech == SpeechOptions(text="hello")
    assert job.title == "me"


def test_quick_questions_are_answered_while_a_job_runs(
    engine: StudioEngine, request_for: Requests, tmp_path: Path
) -> None:
    job = engine.submit(request_for(LONG))
    wait_until(lambda: engine.get(job.job_id).status is JobStatus.RUNNING)
    (tmp_path / "a.wav").write_text("sound", "utf-8")

    assert engine.check(tmp_path / "me.png").ok is False
    assert engine.check(tmp_path / "me.png", tmp_path / "a.wav").ok is True
    assert engine.voices("de")[0].languages == ("de",)
    assert engine.speak(SpeechOptions(text="hi"), tmp_path / "out.wav")["duration_s"] == 1.0
    assert engine.get(job.job_id).status is JobStatus.RUNNING
    gauge = engine.gauge()
    assert gauge.kind == "vram" or gauge.ours_mb is None or gauge.ours_mb > 20


def test_previews_live_for_an_hour_and_not_longer_than_the_engine(engine: StudioEngine) -> None:
    old, preview = (engine.preview_voice(SpeechOptions(text="hello")) for _ in range(2))
    assert preview.read_text("utf-8") == "hello"
    an_hour_ago = time.time() - 3700
    os.utime(old, (an_hour_ago, an_hour_ago))
    third = engine.preview_voice(SpeechOptions(text="hello"))
    assert [path.exists() for path in (old, preview, third)] == [False, True, True]

    engine.close()

    assert not preview.exists()


def test_importing_the_engine_loads_nothing_heavy() -> None:
    code = (
        "import sys, engine; from engine import StudioEngine; "
        "heavy = {'torch', 'cv2', 'numpy', 'gradio', 'onnxruntime', 'av', 'httpx'}; "
        "heavy &= set(sys.modules); "
        "sys.exit(repr(heavy) if heavy else 0)"
    )

    done = subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parents[2], check=False)

    assert done.returncode == 0
