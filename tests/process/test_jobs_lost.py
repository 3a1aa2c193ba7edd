"""Jobs whose worker dies, hangs or fails."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from polling import wait_until

from engine.api import StudioEngine
from engine.contracts import AnimateRequest, JobStatus, Stage
from engine.errors import ErrorCode
from engine.worker.ending import is_alive
from tests.patience import PATIENCE

CRASH = {"kind": "crash"}
WORK = {"kind": "sleep", "seconds": 0.1}


def attempts_of(engine: StudioEngine, job_id: str) -> list[int]:
    """The process ids of every attempt of a job."""
    log = engine.settings.jobs_dir / job_id / "attempts.txt"
    return [int(line.split()[0]) for line in log.read_text("utf-8").splitlines()]


def test_a_killed_child_requeues_its_job_once(
    engine: StudioEngine,
    request_for: Callable[..., AnimateRequest],
    wait_for_progress: Callable[[StudioEngine, str], None],
) -> None:
    job = engine.submit(request_for({"kind": "sleep", "seconds": 30}, WORK))
    wait_for_progress(engine, job.job_id)

    killed_at = time.monotonic()
    os.kill(attempts_of(engine, job.job_id)[0], 9)
    wait_until(lambda: engine.get(job.job_id).attempt == 2, timeout_s=2)
    done = engine.wait(job.job_id, 15 * PATIENCE)

    assert time.monotonic() - killed_at < 5 * PATIENCE
    assert done.status is JobStatus.SUCCEEDED
    assert done.attempt == 2
    assert [item.kind for item in done.artifacts] == ["video"]
    assert engine.artifact_path(job.job_id, "video").read_bytes() == b"half"


def test_a_job_that_loses_two_children_fails_and_the_next_one_runs(
    engine: StudioEngine, request_for: Callable[..., AnimateRequest]
) -> None:
    poison = engine.submit(request_for(CRASH))
    after = engine.submit(request_for(WORK))

    failed = engine.wait(poison.job_id, 20 * PATIENCE)
    done = engine.wait(after.job_id, 20 * PATIENCE)

    assert failed.status is JobStatus.FAILED
    assert failed.error is not None
    assert failed.error.code is ErrorCode.WORKER_LOST
    assert failed.error.stage is Stage.ANIMATE
    assert len(attempts_of(engine, poison.job_id)) == 2
    assert done.status is JobStatus.SUCCEEDED


def test_a_lost_job_goes_before_those_that_wait(
    engine: StudioEngine, request_for: Callable[..., AnimateRequest]
) -> None:
    first = engine.submit(request_for(CRASH, WORK))
    second = engine.submit(request_for(WORK))

    ended = [engine.wait(job.job_id, 20 * PATIENCE) for job in (first, second)]

    assert ended[0].finished_at is not None
    assert ended[1].started_at is not None
    assert ended[0].finished_at <= ended[1].started_at


def test_a_hung_job_is_stopped_with_its_stage_and_the_next_one_runs(
    make_engine: Callable[..., StudioEngine], request_for: Callable[..., AnimateRequest]
) -> None:
    engine = make_engine(stall_timeout_s=0.5, job_timeout_min_s=60)
    hung = engine.submit(request_for({"kind": "hang"}))
    after = engine.submit(request_for(WORK))

    failed = engine.wait(hung.job_id, 20 * PATIENCE)
    done = engine.wait(after.job_id, 20 * PATIENCE)

    assert failed.error is not None
    assert (failed.error.code, failed.error.stage) == (ErrorCode.TIMED_OUT, Stage.ANIMATE)
    assert failed.attempt == 1
    assert done.status is JobStatus.SUCCEEDED


@pytest.mark.parametrize("name", ["../../store.sqlite3", "missing.mp4"])
def test_an_artifact_outside_the_job_or_missing_fails_the_job(
    engine: StudioEngine, request_for: Callable[..., AnimateRequest], name: str
) -> None:
    job = engine.submit(request_for({**WORK, "name": name}))

    failed = engine.wait(job.job_id, 20 * PATIENCE)

    assert failed.error is not None
    assert failed.error.code is ErrorCode.INTERNAL


def test_the_next_job_starts_only_when_the_old_process_is_gone(
    engine: StudioEngine,
    request_for: Callable[..., AnimateRequest],
    wait_for_progress: Callable[[StudioEngine, str], None],
) -> None:
    first = engine.submit(request_for({"kind": "native_loop"}))
    second = engine.submit(request_for({"kind": "sleep", "seconds": 30}))
    wait_for_progress(engine, first.job_id)
    old_pid = attempts_of(engine, first.job_id)[0]

    engine.cancel(first.job_id)
    attempts = engine.settings.jobs_dir / second.job_id / "attempts.txt"
    seen_together: list[int] = []

    def has_started() -> bool:
        is_there = attempts.exists()
        if is_there and is_alive(old_pid):
            seen_together.append(old_pid)
        return is_there

    wait_until(has_started)

    assert seen_together == []
    assert engine.get(first.job_id).status is JobStatus.CANCELED


def test_a_recycled_child_has_a_new_pid_after_each_share_of_jobs(
    make_engine: Callable[..., StudioEngine], request_for: Callable[..., AnimateRequest]
) -> None:
    engine = make_engine(recycle_after_jobs=2)
    jobs = [engine.submit(request_for({"kind": "sleep", "seconds": 0})) for _ in range(6)]

    done = [engine.wait(job.job_id, 30 * PATIENCE) for job in jobs]

    pids = [job.report["pid"] for job in done]
    assert [job.status for job in done] == [JobStatus.SUCCEEDED] * 6
    assert pids[0::2] == pids[1::2]
    assert len(set(pids)) == 3


def test_seconds_left_come_from_the_rate_of_earlier_jobs(
    engine: StudioEngine, request_for: Callable[..., AnimateRequest]
) -> None:
    engine.wait(engine.submit(request_for(WORK)).job_id, 20)
    assert engine.measured_rate("lite", 512) == pytest.approx(0.5)
    assert engine.measured_rate("lite", 1024) == pytest.approx(2.0)
    heard = []

    job = engine.submit(request_for({"kind": "sleep", "seconds": 0.5}))
    engine.wait(job.job_id, 20, on_progress=heard.append)

    told = [record.progress.seconds_left for record in heard if record.progress is not None]
    assert all(left is not None and 0 <= left <= 5 for left in told)


def test_files_of_a_lost_attempt_are_kept_for_the_next(
    engine: StudioEngine, request_for: Callable[..., AnimateRequest]
) -> None:
    job = engine.submit(request_for(CRASH))

    engine.wait(job.job_id, 20 * PATIENCE)

    assert (Path(engine.settings.jobs_dir) / job.job_id / "video.mp4.part").exists()
