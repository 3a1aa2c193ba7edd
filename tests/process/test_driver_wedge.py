"""A worker that hangs in the driver of the card: no kill ends it.

No test can put a process into that state, so here the kill does nothing.
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from polling import wait_until

from engine.api import StudioEngine
from engine.contracts import AnimateRequest, JobStatus
from engine.errors import ErrorCode
from engine.messages import describe
from engine.worker import leftover, process
from engine.worker.ending import family_of, kill_all, wait_gone
from tests.patience import PATIENCE

LONG = {"kind": "hang"}
WORK = {"kind": "sleep", "seconds": 0.1}


@pytest.fixture
def deaf_to_kills(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """Let kills do nothing, and do not wait long for their effect."""

    def gone_in_no_time(processes: list[object], _timeout_s: float) -> bool:
        return wait_gone(processes, 0.1)  # type: ignore[arg-type]

    kill = process.ChildProcess.kill
    with monkeypatch.context() as patch:
        for module in (process, leftover):
            patch.setattr(module, "kill_all", lambda _processes: None)
            patch.setattr(module, "wait_gone", gone_in_no_time)
        patch.setattr(process, "_kill_group", lambda _pid: None)
        patch.setattr(process.ChildProcess, "kill", lambda child, _timeout_s=0: kill(child, 0.2))
        yield patch


def end(pid_file_text: str) -> None:
    kill_all(family_of(int(json.loads(pid_file_text)["pid"])))


def remembered_child(engine: StudioEngine) -> str:
    return Path(engine.settings.data_dir / "render.pid").read_text("ascii")


def test_nothing_is_begun_beside_a_worker_that_no_kill_ends(
    make_engine: Callable[..., StudioEngine],
    request_for: Callable[..., AnimateRequest],
    wait_for_progress: Callable[[StudioEngine, str], None],
    deaf_to_kills: pytest.MonkeyPatch,
) -> None:
    engine = make_engine(stall_timeout_s=1.0, job_timeout_min_s=60)
    hung = engine.submit(request_for(LONG))
    after = engine.submit(request_for(WORK))
    wait_for_progress(engine, hung.job_id)
    remembered = remembered_child(engine)

    failed = engine.wait(hung.job_id, 20 * PATIENCE)
    wait_until(lambda: engine.health().pause is not None)
    health, waiting = engine.health(), engine.get(after.job_id)

    assert failed.error is not None
    assert failed.error.code is ErrorCode.TIMED_OUT
    assert health.pause is ErrorCode.WORKER_STUCK
    assert "Restart the computer" in describe(health.pause).hint
    assert (waiting.status, waiting.attempt) == (JobStatus.QUEUED, 0)
    assert remembered_child(engine) == remembered, "a second worker was started"

    deaf_to_kills.undo()  # the driver came back to life
    end(remembered)
    assert engine.wait(after.job_id, 20 * PATIENCE).status is JobStatus.SUCCEEDED
    assert engine.health().pause is None


def test_a_stuck_worker_of_an_engine_before_costs_no_attempt(
    make_engine: Callable[..., StudioEngine],
    request_for: Callable[..., AnimateRequest],
    wait_for_progress: Callable[[StudioEngine, str], None],
    deaf_to_kills: pytest.MonkeyPatch,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(leftover, "OWN_END_S", 0.1)
    first = make_engine(stall_timeout_s=0.5, job_timeout_min_s=60)
    hung = first.submit(request_for(LONG))
    wait_for_progress(first, hung.job_id)
    remembered = remembered_child(first)
    first.wait(hung.job_id, 20 * PATIENCE)

    second = make_engine()
    job = second.submit(request_for(WORK))
    first._backend.close()  # its lock goes to the second, its child stays
    wait_until(lambda: second.health().pause is ErrorCode.WORKER_STUCK)
    waiting = second.get(job.job_id)

    assert (waiting.status, waiting.attempt) == (JobStatus.QUEUED, 0)
    deaf_to_kills.undo()
    end(remembered)
    assert second.wait(job.job_id, 20 * PATIENCE).status is JobStatus.SUCCEEDED
