"""The queue through the engine: limits, turns, the pause, and being forgotten."""

from collections.abc import Callable
from pathlib import Path

import pytest
from polling import wait_until

from engine.api import StudioEngine
from engine.contracts import AnimateRequest, JobStatus
from engine.errors import EngineError, ErrorCode
from tests.patience import PATIENCE

WORK = {"kind": "sleep", "seconds": 0}
LONG = {"kind": "sleep", "seconds": 60}
CRASH = {"kind": "crash"}

Requests = Callable[..., AnimateRequest]
MakeEngine = Callable[..., StudioEngine]


def code_of(call: Callable[[], object]) -> ErrorCode:
    with pytest.raises(EngineError) as caught:
        call()
    return caught.value.code


def start_long(engine: StudioEngine, request_for: Requests, owner: str = "flood") -> str:
    job = engine.submit(request_for(LONG), owner)
    wait_until(lambda: engine.get(job.job_id).status is JobStatus.RUNNING)
    return job.job_id


def test_a_person_over_the_limit_is_refused_before_their_files_are_read(
    make_engine: MakeEngine, request_for: Requests
) -> None:
    engine = make_engine(max_waiting_per_owner=1)
    start_long(engine, request_for)
    engine.submit(request_for(WORK), "ann")
    request = request_for(WORK)
    Path(str(request.audio)).write_text("no face", "utf-8")

    assert code_of(lambda: engine.submit(request, "ann")) is ErrorCode.TOO_MANY_WAITING
    assert engine.submit(request_for(WORK), "bob").status is JobStatus.QUEUED


def test_a_retry_needs_a_place_in_the_queue_too(
    make_engine: MakeEngine, request_for: Requests
) -> None:
    engine = make_engine(max_waiting_per_owner=1)
    start_long(engine, request_for)
    first = engine.submit(request_for(WORK), "ann")
    engine.cancel(first.job_id)
    engine.submit(request_for(WORK), "ann")

    assert code_of(lambda: engine.retry(first.job_id)) is ErrorCode.TOO_MANY_WAITING


def test_fast_submissions_are_refused_until_a_minute_has_passed(
    make_engine: MakeEngine, request_for: Requests
) -> None:
    engine = make_engine(max_submits_per_minute=2)
    for _ in range(2):
        engine.submit(request_for(WORK), "ann")

    with pytest.raises(EngineError) as caught:
        engine.submit(request_for(WORK), "ann")

    assert caught.value.code is ErrorCode.SUBMITTED_TOO_FAST
    assert 50 <= int(str(caught.value.values["seconds"])) <= 60


def test_a_flood_of_one_does_not_keep_the_others_waiting(
    engine: StudioEngine, request_for: Requests
) -> None:
    running = start_long(engine, request_for)
    flood = [engine.submit(request_for(WORK), "flood") for _ in range(4)]
    bob = engine.submit(request_for(WORK), "bob")

    assert engine.get(bob.job_id).queue_position == 1
    assert [engine.get(job.job_id).queue_position for job in flood] == [2, 3, 4, 5]
    assert engine.expected_start_s(bob.job_id) is not None
    assert engine.expected_start_s(running) is None


def test_the_queue_rests_after_five_deaths_and_goes_on_when_asked(
    make_engine: MakeEngine, request_for: Requests, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.worker.recycle.BACK_OFF_S", (0.0,))
    engine = make_engine(exclusive=True)
    poison = [engine.submit(request_for(CRASH)) for _ in range(3)]
    wait_until(lambda: engine.health().pause is not None, 60)

    health = engine.health()
    waiting = engine.submit(request_for(WORK))
    lost = [engine.get(job.job_id).attempt for job in poison]
    states = [engine.get(job.job_id).status for job in poison]

    assert health.pause is ErrorCode.QUEUE_PAUSED
    assert health.values == {"count": 5, "minutes": 10}
    assert sum(lost) == 5
    assert states == [JobStatus.FAILED, JobStatus.FAILED, JobStatus.QUEUED]
    assert engine.wait(waiting.job_id, 1.0 * PATIENCE).status is JobStatus.QUEUED
    assert engine.voices("de")  # the rest of the engine answers

    engine.resume()

    assert engine.wait(waiting.job_id, 30 * PATIENCE).status is JobStatus.SUCCEEDED
    assert engine.get(poison[2].job_id).status is JobStatus.FAILED


def test_forgetting_an_owner_removes_jobs_and_files_also_of_what_runs(
    engine: StudioEngine, request_for: Requests
) -> None:
    done = engine.submit(request_for(WORK), "ann")
    engine.wait(done.job_id, 20 * PATIENCE)
    running = start_long(engine, request_for, "ann")
    waiting = engine.submit(request_for(WORK), "ann")
    other = engine.submit(request_for(WORK), "bob")

    engine.forget("ann")

    assert engine.list_for("ann") == []
    jobs_dir = engine.settings.jobs_dir
    for job_id in (done.job_id, running, waiting.job_id):
        wait_until(lambda job_id=job_id: not (jobs_dir / job_id).exists(), 5)
        assert code_of(lambda job_id=job_id: engine.get(job_id)) is ErrorCode.JOB_NOT_FOUND
    assert engine.wait(other.job_id, 20 * PATIENCE).status is JobStatus.SUCCEEDED
