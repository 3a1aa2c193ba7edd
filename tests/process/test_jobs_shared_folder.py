"""Several engines on one data folder; engines that are killed."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from polling import HERE, python_path, wait_until

from engine.api import StudioEngine
from engine.contracts import AnimateRequest, JobRecord, JobStatus
from engine.errors import EngineError, ErrorCode
from engine.worker.ending import is_alive
from engine.worker.supervisor import ChildState
from tests.patience import PATIENCE

ROOT = HERE.parents[1]
WORK = {"kind": "sleep", "seconds": 0.1}
LONG = {"kind": "sleep", "seconds": 60}

StartProgram = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start_program(tmp_path: Path) -> Iterator[StartProgram]:
    """Start engines in processes of their own; those that still run are killed at the end."""
    started: list[subprocess.Popen[str]] = []

    def start(request: AnimateRequest, *options: str) -> "subprocess.Popen[str]":
        arguments = [str(tmp_path / "data"), request.portrait, str(request.audio), *options]
        environment = {**os.environ, "PYTHONPATH": python_path(ROOT, HERE)}
        program = subprocess.Popen(
            [sys.executable, str(HERE / "engine_program.py"), *arguments],
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        started.append(program)
        return program

    yield start
    for program in started:
        program.kill()
        program.communicate()


def read(program: "subprocess.Popen[str]") -> dict[str, str]:
    assert program.stdout is not None
    return json.loads(program.stdout.readline())


def attempts_of(engine: StudioEngine, job_id: str) -> list[int]:
    log = engine.settings.jobs_dir / job_id / "attempts.txt"
    text = log.read_text("utf-8") if log.exists() else ""
    return [int(line.split()[0]) for line in text.splitlines()]


def test_children_of_a_killed_engine_are_gone_within_two_seconds(
    start_program: StartProgram,
    engine: StudioEngine,
    request_for: Callable[..., AnimateRequest],
) -> None:
    program = start_program(request_for(LONG))
    job_id = read(program)["job_id"]
    wait_until(lambda: attempts_of(engine, job_id))
    children = psutil.Process(program.pid).children(recursive=True)
    assert len(children) == 3  # render, quick, and one decoder

    program.kill()

    assert wait_until(lambda: not any(is_alive(child) for child in children)) < 2


def test_a_waiting_engine_takes_over_from_one_that_was_killed(
    start_program: StartProgram,
    make_engine: Callable[..., StudioEngine],
    request_for: Callable[..., AnimateRequest],
) -> None:
    program = start_program(request_for(LONG, WORK))
    job_id = read(program)["job_id"]
    waiter = make_engine()
    own = waiter.submit(request_for(WORK))
    wait_until(lambda: attempts_of(waiter, job_id))
    assert not waiter.health().is_dispatching
    assert waiter.get(own.job_id).status is JobStatus.QUEUED

    program.kill()
    done = [waiter.wait(name, 20 * PATIENCE) for name in (job_id, own.job_id)]

    assert [job.status for job in done] == [JobStatus.SUCCEEDED] * 2
    assert [job.attempt for job in done] == [2, 1]
    assert done[0].finished_at is not None
    assert done[1].started_at is not None
    assert done[0].finished_at <= done[1].started_at


def test_a_busy_child_of_a_killed_engine_is_gone_before_another_one_starts(
    start_program: StartProgram,
    make_engine: Callable[..., StudioEngine],
    request_for: Callable[..., AnimateRequest],
) -> None:
    program = start_program(request_for({"kind": "native_loop"}, WORK))
    job_id = read(program)["job_id"]
    waiter = make_engine()
    wait_until(lambda: attempts_of(waiter, job_id))
    old_pid = attempts_of(waiter, job_id)[0]

    program.kill()
    alive_at_second_attempt: list[bool] = []

    def has_second_attempt(_job: JobRecord) -> None:
        if len(attempts_of(waiter, job_id)) == 2:
            alive_at_second_attempt.append(is_alive(old_pid))

    done = waiter.wait(job_id, 30, on_progress=has_second_attempt)

    assert done.status is JobStatus.SUCCEEDED
    assert not any(alive_at_second_attempt)
    assert not is_alive(old_pid)


def test_parallel_engines_share_the_work_and_none_fails(
    start_program: StartProgram, request_for: Callable[..., AnimateRequest]
) -> None:
    programs = [start_program(request_for(WORK)) for _ in range(3)]

    ends = []
    for program in programs:
        read(program)
        ends.append(read(program))

    assert [end["status"] for end in ends] == ["succeeded"] * 3
    assert [program.wait(20) for program in programs] == [0] * 3


def test_the_lock_holder_runs_jobs_of_another_engine(
    make_engine: Callable[..., StudioEngine], request_for: Callable[..., AnimateRequest]
) -> None:
    holder, guest = make_engine(exclusive=True), make_engine()
    wait_until(lambda: holder.health().is_dispatching)

    jobs = [guest.submit(request_for(WORK)) for _ in range(2)]
    done = [guest.wait(job.job_id, 20 * PATIENCE) for job in jobs]

    assert [job.status for job in done] == [JobStatus.SUCCEEDED] * 2
    assert holder.health().is_dispatching
    assert not guest.health().is_dispatching


def test_a_good_check_wakes_the_child_of_the_lock_holder_only(
    make_engine: Callable[..., StudioEngine], request_for: Callable[..., AnimateRequest]
) -> None:
    holder, guest = make_engine(exclusive=True), make_engine()
    wait_until(lambda: holder.health().is_dispatching)
    request = request_for(WORK)

    assert guest.check(request.portrait, request.audio).ok
    assert not holder.check(request.portrait).ok
    time.sleep(0.5)
    assert {one.health().worker for one in (holder, guest)} == {ChildState.DEAD}
    assert holder.check(request.portrait, request.audio).ok

    wait_until(lambda: holder.health().worker is ChildState.READY)
    assert guest.health().worker is ChildState.DEAD


def test_a_guest_cancels_a_job_that_the_holder_runs(
    make_engine: Callable[..., StudioEngine],
    request_for: Callable[..., AnimateRequest],
    wait_for_progress: Callable[[StudioEngine, str], None],
) -> None:
    make_engine(exclusive=True)
    guest = make_engine()
    job = guest.submit(request_for(LONG))
    wait_for_progress(guest, job.job_id)
    start = time.monotonic()

    guest.cancel(job.job_id)

    assert guest.wait(job.job_id, 10 * PATIENCE).status is JobStatus.CANCELED
    assert time.monotonic() - start < 3 * PATIENCE


def test_a_second_studio_on_the_same_folder_is_refused(
    make_engine: Callable[..., StudioEngine],
) -> None:
    first = make_engine(exclusive=True)

    with pytest.raises(EngineError) as caught:
        make_engine(exclusive=True)

    assert caught.value.code is ErrorCode.DATA_DIR_BUSY
    first.close()
    make_engine(exclusive=True)


def test_a_restart_after_a_kill_runs_every_waiting_job_in_order(
    start_program: StartProgram,
    make_engine: Callable[..., StudioEngine],
    request_for: Callable[..., AnimateRequest],
) -> None:
    program = start_program(request_for(LONG, {"kind": "sleep", "seconds": 0}))
    running = read(program)["job_id"]
    guest = make_engine()
    wait_until(lambda: attempts_of(guest, running))
    request = request_for({"kind": "sleep", "seconds": 0})
    waiting = [guest.submit(request).job_id for _ in range(50)]
    guest.close()
    leftover = guest.settings.temp_dir / f"{program.pid}-1-ab"
    leftover.mkdir(parents=True)

    program.kill()
    program.wait()
    restarted_at = time.monotonic()
    studio = make_engine(exclusive=True, recycle_after_jobs=100)
    wait_until(lambda: studio.get(running).status is not JobStatus.RUNNING, timeout_s=5)
    assert time.monotonic() - restarted_at < 5 * PATIENCE
    last = studio.wait(waiting[-1], 60 * PATIENCE)

    jobs = [studio.get(job_id) for job_id in (running, *waiting)]
    assert last.status is JobStatus.SUCCEEDED
    assert {job.status for job in jobs} == {JobStatus.SUCCEEDED}
    assert [job.attempt for job in jobs] == [2] + [1] * 50
    starts = [job.started_at for job in jobs]
    assert starts == sorted(starts)
    assert not leftover.exists()
