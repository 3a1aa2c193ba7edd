"""What every way of carrying jobs must do: local, Celery with Redis, Celery with RabbitMQ."""

import os
import time

import pytest
from installation import LONG, WORK, Installation
from polling import wait_until

from engine.contracts import JobRecord, JobStatus
from engine.errors import EngineError, ErrorCode
from tests.patience import PATIENCE

CRASH = {"kind": "crash"}


def test_a_job_is_made_with_growing_progress_and_its_files_come_to_the_host(
    shared: Installation,
) -> None:
    engine = shared.engine
    told: list[JobRecord] = []

    job = engine.submit(shared.request({"kind": "sleep", "seconds": 1.5}))
    done = engine.wait(job.job_id, 30, on_progress=told.append)

    percents = [record.progress.percent for record in told if record.progress is not None]
    video = engine.artifact_path(job.job_id, "video")
    assert (done.status, done.attempt) == (JobStatus.SUCCEEDED, 1)
    assert video.read_text().split() == [job.job_id, str(done.report["pid"])]
    assert video.is_relative_to(engine.settings.jobs_dir)
    assert len(percents) >= 3
    assert percents == sorted(percents)
    assert done.report["peak_rss_mb"] > 0
    assert engine.memory_ledger()[0].job_id == job.job_id
    wait_until(lambda: shared.left_in_storage() == [], 5)


def test_owners_take_turns_although_one_came_first_with_many(shared: Installation) -> None:
    engine = shared.engine
    first = engine.submit(shared.request({"kind": "sleep", "seconds": 3}), "flood")
    flood = [first, *(engine.submit(shared.request(), "flood") for _ in range(5))]
    late = [engine.submit(shared.request(), "late") for _ in range(2)]

    ended = [engine.wait(job.job_id, 40 * PATIENCE) for job in (*flood, *late)]

    order = sorted(ended, key=lambda job: job.finished_at or job.created_at)
    assert [job.status for job in ended] == [JobStatus.SUCCEEDED] * 8
    assert [job.attempt for job in ended] == [1] * 8
    assert [order.index(job) for job in ended if job.owner == "late"] <= [4, 6]


def test_a_waiting_job_is_canceled_at_once_and_never_begun(shared: Installation) -> None:
    engine = shared.engine
    running = engine.submit(shared.request({"kind": "sleep", "seconds": 2}))
    waiting = engine.submit(shared.request())
    shared.wait_for_attempt(running)
    start = time.monotonic()

    canceled = engine.cancel(waiting.job_id)

    assert time.monotonic() - start < 1 * PATIENCE
    assert canceled.status is JobStatus.CANCELED
    after = engine.submit(shared.request())
    assert engine.wait(after.job_id, 30 * PATIENCE).status is JobStatus.SUCCEEDED
    assert shared.attempts(waiting) == []
    wait_until(lambda: shared.left_in_storage() == [], 5)


def test_a_running_job_is_canceled_soon_and_the_next_one_runs(shared: Installation) -> None:
    engine = shared.engine
    job = engine.submit(shared.request(LONG))
    after = engine.submit(shared.request())
    wait_until(lambda: engine.get(job.job_id).progress is not None, 30)
    start = time.monotonic()

    engine.cancel(job.job_id)
    ended = engine.wait(job.job_id, 15 * PATIENCE)
    took_s = time.monotonic() - start

    folder = engine.settings.jobs_dir / job.job_id
    assert ended.status is JobStatus.CANCELED
    assert took_s < 5
    assert {entry.name for entry in folder.iterdir()} == {"portrait.png", "speech.wav"}
    assert engine.wait(after.job_id, 30 * PATIENCE).status is JobStatus.SUCCEEDED


def test_a_deleted_job_stops_and_nothing_of_it_is_left(shared: Installation) -> None:
    engine = shared.engine
    job = engine.submit(shared.request(LONG))
    wait_until(lambda: engine.get(job.job_id).progress is not None, 30)

    engine.delete(job.job_id)
    after = engine.submit(shared.request())

    with pytest.raises(EngineError) as caught:
        engine.get(job.job_id)
    assert caught.value.code is ErrorCode.JOB_NOT_FOUND
    assert engine.wait(after.job_id, 30 * PATIENCE).status is JobStatus.SUCCEEDED
    wait_until(lambda: not (engine.settings.jobs_dir / job.job_id).exists(), 10)
    wait_until(lambda: shared.left_in_storage() == [], 10)


def test_a_killed_child_costs_one_attempt(shared: Installation) -> None:
    engine = shared.engine
    job = engine.submit(shared.request(LONG, WORK))
    shared.wait_for_attempt(job)

    os.kill(shared.attempts(job)[0][0], 9)
    done = engine.wait(job.job_id, 30 * PATIENCE)

    assert (done.status, done.attempt) == (JobStatus.SUCCEEDED, 2)
    assert len(shared.attempts(job)) == 2


def test_a_poison_job_stops_after_two_attempts_and_can_be_tried_again(
    shared: Installation,
) -> None:
    engine = shared.engine
    poison = engine.submit(shared.request(CRASH, CRASH, WORK))
    after = engine.submit(shared.request())

    failed = engine.wait(poison.job_id, 40 * PATIENCE)
    num_attempts = len(shared.attempts(poison))
    done = engine.wait(after.job_id, 40 * PATIENCE)
    engine.retry(poison.job_id)
    again = engine.wait(poison.job_id, 40 * PATIENCE)

    assert failed.error is not None
    assert failed.error.code is ErrorCode.WORKER_LOST
    assert (failed.attempt, num_attempts) == (2, 2)
    assert done.status is JobStatus.SUCCEEDED
    assert (again.status, again.attempt) == (JobStatus.SUCCEEDED, 1)


def test_a_failure_comes_with_its_reason(shared: Installation) -> None:
    engine = shared.engine

    job = engine.submit(shared.request({"kind": "refuse", "code": "gpu_memory"}))
    failed = engine.wait(job.job_id, 30 * PATIENCE)

    assert failed.error is not None
    assert (failed.error.code, failed.error.stage) == (ErrorCode.GPU_MEMORY, "animate")
    assert failed.error.values == {"face_px": 30, "need_px": 50}
    assert failed.attempt == 1
