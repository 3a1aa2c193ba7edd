"""Cancel and delete: how fast, and what is left."""

import time
from collections.abc import Callable

import pytest
from polling import wait_until

from engine.api import StudioEngine
from engine.contracts import AnimateRequest, JobStatus
from engine.errors import EngineError, ErrorCode
from tests.patience import PATIENCE

LONG = {"kind": "sleep", "seconds": 60}
WORK = {"kind": "sleep", "seconds": 0.1}


def files_of(engine: StudioEngine, job_id: str) -> set[str]:
    folder = engine.settings.jobs_dir / job_id
    return {entry.name for entry in folder.iterdir()} if folder.exists() else set()


def test_a_waiting_job_is_canceled_at_once(
    engine: StudioEngine, request_for: Callable[..., AnimateRequest]
) -> None:
    running = engine.submit(request_for(LONG))
    waiting = engine.submit(request_for(WORK))
    wait_until(lambda: engine.get(running.job_id).status is JobStatus.RUNNING)
    start = time.monotonic()

    canceled = engine.cancel(waiting.job_id)

    assert time.monotonic() - start < 1 * PATIENCE
    assert canceled.status is JobStatus.CANCELED
    assert canceled.queue_position is None


def test_a_running_job_is_canceled_within_three_seconds_and_leaves_its_inputs(
    engine: StudioEngine,
    request_for: Callable[..., AnimateRequest],
    wait_for_progress: Callable[[StudioEngine, str], None],
) -> None:
    job = engine.submit(request_for(LONG))
    wait_for_progress(engine, job.job_id)
    start = time.monotonic()

    engine.cancel(job.job_id)
    ended = engine.wait(job.job_id, 15 * PATIENCE)

    assert time.monotonic() - start < 3 * PATIENCE
    assert ended.status is JobStatus.CANCELED
    assert ended.error is None
    assert files_of(engine, job.job_id) == {"portrait.png", "speech.wav"}


def test_a_canceled_job_can_be_retried(
    engine: StudioEngine,
    request_for: Callable[..., AnimateRequest],
    wait_for_progress: Callable[[StudioEngine, str], None],
) -> None:
    job = engine.submit(request_for({"kind": "sleep", "seconds": 1.0}))
    wait_for_progress(engine, job.job_id)
    engine.cancel(job.job_id)
    engine.wait(job.job_id, 15 * PATIENCE)

    again = engine.retry(job.job_id)
    done = engine.wait(job.job_id, 15 * PATIENCE)

    assert again.status in (JobStatus.QUEUED, JobStatus.RUNNING)
    assert done.status is JobStatus.SUCCEEDED
    assert done.attempt == 1


def test_canceling_or_retrying_a_finished_job_changes_nothing(
    engine: StudioEngine, request_for: Callable[..., AnimateRequest]
) -> None:
    job = engine.submit(request_for(WORK))
    engine.wait(job.job_id, 15 * PATIENCE)

    assert engine.cancel(job.job_id).status is JobStatus.SUCCEEDED
    assert engine.retry(job.job_id).status is JobStatus.SUCCEEDED


def test_deleting_a_running_job_stops_it_and_removes_all_of_it(
    engine: StudioEngine,
    request_for: Callable[..., AnimateRequest],
    wait_for_progress: Callable[[StudioEngine, str], None],
) -> None:
    job = engine.submit(request_for(LONG))
    after = engine.submit(request_for(WORK))
    wait_for_progress(engine, job.job_id)

    engine.delete(job.job_id)

    with pytest.raises(EngineError) as caught:
        engine.get(job.job_id)
    assert caught.value.code is ErrorCode.JOB_NOT_FOUND
    assert [record.job_id for record in engine.list_for("local")] == [after.job_id]
    wait_until(lambda: not (engine.settings.jobs_dir / job.job_id).exists(), timeout_s=5)
    assert engine.wait(after.job_id, 15 * PATIENCE).status is JobStatus.SUCCEEDED


def test_closing_the_engine_puts_the_running_job_back_uncounted(
    make_engine: Callable[..., StudioEngine],
    request_for: Callable[..., AnimateRequest],
    wait_for_progress: Callable[[StudioEngine, str], None],
) -> None:
    engine = make_engine()
    job = engine.submit(request_for(LONG, WORK))
    wait_for_progress(engine, job.job_id)
    engine.close()

    second = make_engine()
    before = second.get(job.job_id)
    done = second.wait(job.job_id, 15 * PATIENCE)

    assert (before.status, before.attempt) == (JobStatus.QUEUED, 0)
    assert done.status is JobStatus.SUCCEEDED
    assert done.attempt == 1
