"""One lane's child process: what it answers, how it ends, when it is replaced."""

import itertools
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from polling import HERE, TASKS, python_path, wait_until

from engine.contracts import Progress, Stage
from engine.errors import Canceled, EngineError, ErrorCode, InputError, WorkerLost
from engine.settings import EngineSettings
from engine.worker.attend import TaskLimits
from engine.worker.channel import encode
from engine.worker.ending import is_alive
from engine.worker.environment import PROJECT_ROOT
from engine.worker.plan import LanePlan
from engine.worker.priority import RENDER_NICENESS
from engine.worker.supervisor import ChildState, Supervisor
from tests.patience import PATIENCE

MakeSupervisor = Callable[..., Supervisor]
NO_LIMITS = TaskLimits()
posix_only = pytest.mark.skipif(sys.platform == "win32", reason="needs fork or POSIX signals")


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Supervisor]:
    """One supervisor for tests that leave its child as they found it, to save its start."""
    data_dir = tmp_path_factory.mktemp("shared")
    settings = EngineSettings(data_dir=data_dir, cancel_grace_s=1.0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", python_path(HERE))
        supervisor = Supervisor(LanePlan("render", TASKS, data_dir / "tmp", 1000), settings)
        yield supervisor
        supervisor.close()


def pid_of(supervisor: Supervisor) -> int:
    return supervisor.run("where", {}, NO_LIMITS).values["pid"]


def test_child_gets_settings_priority_and_a_folder_without_code(
    make_supervisor: MakeSupervisor,
) -> None:
    supervisor = make_supervisor(max_text_characters=77, render_threads=1)

    seen = supervisor.run("where", {}, NO_LIMITS).values

    assert seen["max_text_characters"] == 77
    assert seen["cwd"] == seen["data_dir"]
    assert seen["threads"] == "1"
    assert seen["nice"] >= 10


def test_progress_arrives_while_the_task_runs(shared: Supervisor) -> None:
    heard: list[Progress] = []

    shared.run("sleep", {"seconds": 0.5}, NO_LIMITS, heard.append)

    assert len(heard) >= 3
    assert all(item.stage is Stage.ANIMATE for item in heard)


def test_garbage_on_standard_streams_does_no_harm(shared: Supervisor) -> None:
    result = shared.run("garbage", {}, NO_LIMITS)

    assert result.values == {"stdin": ""}
    assert pid_of(shared) == shared.pid


def test_an_input_error_keeps_its_kind_code_and_values(shared: Supervisor) -> None:
    payload = {"code": "face_too_small", "is_input": True}

    with pytest.raises(InputError) as caught:
        shared.run("refuse", payload, NO_LIMITS)

    assert caught.value.code is ErrorCode.FACE_TOO_SMALL
    assert caught.value.values == {"face_px": 30, "need_px": 50}


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        ("bug", ErrorCode.INTERNAL),
        ("no such task", ErrorCode.INTERNAL),
        ("out_of_memory", ErrorCode.OUT_OF_MEMORY),
        ("disk_full", ErrorCode.DISK_FULL),
    ],
)
def test_what_a_task_raises_becomes_a_code_without_its_text(
    shared: Supervisor, kind: str, code: ErrorCode
) -> None:
    with pytest.raises(EngineError) as caught:
        shared.run(kind, {}, NO_LIMITS)

    assert (caught.value.code, caught.value.values) == (code, {})


def test_the_traceback_of_a_bug_is_in_the_log(
    make_supervisor: MakeSupervisor, tmp_path: Path
) -> None:
    with pytest.raises(EngineError):
        make_supervisor().run("bug", {}, NO_LIMITS)

    assert "RuntimeError" in (tmp_path / "data" / "logs" / "render.log").read_text("utf-8")


def test_a_child_that_ran_out_of_memory_is_replaced(make_supervisor: MakeSupervisor) -> None:
    supervisor = make_supervisor()
    first = pid_of(supervisor)

    with pytest.raises(EngineError):
        supervisor.run("out_of_memory", {}, NO_LIMITS)

    assert pid_of(supervisor) != first
    assert not is_alive(first)


def test_peak_memory_is_that_of_the_task_alone(shared: Supervisor) -> None:
    small = shared.run("allocate", {"mb": 1}, NO_LIMITS)
    large = shared.run("allocate", {"mb": 150}, NO_LIMITS)
    again = shared.run("allocate", {"mb": 1}, NO_LIMITS)

    peaks_mb = [result.memory.rss_peak_mb for result in (small, large, again)]
    assert peaks_mb[1] - peaks_mb[0] == pytest.approx(149, abs=15)
    assert peaks_mb[2] < peaks_mb[0] + 30


def test_a_child_is_replaced_after_its_share_of_tasks(make_supervisor: MakeSupervisor) -> None:
    supervisor = make_supervisor(tasks_per_child=2)

    pids = [pid_of(supervisor) for _ in range(6)]

    assert [pids[0]] * 2 + [pids[2]] * 2 + [pids[4]] * 2 == pids
    assert len(set(pids)) == 3


def test_an_idle_child_is_unloaded_and_comes_back(make_supervisor: MakeSupervisor) -> None:
    supervisor = make_supervisor(idle_unload_s=0.2)
    first = pid_of(supervisor)

    wait_until(lambda: supervisor.state is ChildState.DEAD)

    assert not is_alive(first)
    assert pid_of(supervisor) != first


def test_a_crash_is_noticed_at_once_and_the_next_task_works(
    make_supervisor: MakeSupervisor,
) -> None:
    supervisor = make_supervisor()
    pid_of(supervisor)
    start = time.monotonic()

    with pytest.raises(WorkerLost):
        supervisor.run("crash", {}, NO_LIMITS)

    assert time.monotonic() - start < 2 * PATIENCE
    assert supervisor.state is ChildState.DEAD
    assert pid_of(supervisor)


@posix_only
def test_a_render_gives_way_within_our_session_and_can_be_killed_whole(shared: Supervisor) -> None:
    """Linux may weigh niceness within a session only, so the child must not have one of its own."""
    shared.run("where", {}, NO_LIMITS)
    assert shared.pid is not None

    assert psutil.Process(shared.pid).nice() >= RENDER_NICENESS
    assert os.getsid(shared.pid) == os.getsid(0)
    assert os.getpgid(shared.pid) == shared.pid


@posix_only
def test_a_crash_is_noticed_although_a_forked_process_holds_the_channel(
    make_supervisor: MakeSupervisor, tmp_path: Path
) -> None:
    supervisor = make_supervisor()
    pid_of(supervisor)
    pid_file = tmp_path / "heir.pid"
    start = time.monotonic()

    with pytest.raises(WorkerLost):
        supervisor.run("crash_with_forked_heir", {"pid_file": str(pid_file)}, NO_LIMITS)

    assert time.monotonic() - start < 2 * PATIENCE
    wait_until(lambda: not is_alive(int(pid_file.read_text())), timeout_s=2)


def test_a_task_over_its_time_is_killed_with_all_it_started(
    make_supervisor: MakeSupervisor, tmp_path: Path
) -> None:
    pid_file = tmp_path / "family.pid"

    with pytest.raises(EngineError) as caught:
        make_supervisor().run("start_family", {"pid_file": str(pid_file)}, TaskLimits(total_s=1.0))

    assert caught.value.code is ErrorCode.TIMED_OUT
    pids = [int(pid) for pid in pid_file.read_text().split()]
    assert [pid for pid in pids if is_alive(pid)] == []


def test_a_task_without_progress_is_killed(make_supervisor: MakeSupervisor) -> None:
    supervisor = make_supervisor()

    supervisor.run("sleep", {"seconds": 1.0}, TaskLimits(stall_s=0.6))
    with pytest.raises(EngineError) as caught:
        supervisor.run("hang", {}, TaskLimits(stall_s=0.6))

    assert caught.value.code is ErrorCode.TIMED_OUT
    assert supervisor.state is ChildState.DEAD


def test_a_child_that_falls_silent_is_killed(make_supervisor: MakeSupervisor) -> None:
    supervisor = make_supervisor(heartbeat_timeout_s=0.8)
    first = pid_of(supervisor)

    with pytest.raises(WorkerLost):
        supervisor.run("native_loop", {}, NO_LIMITS)

    assert not is_alive(first)


def test_a_child_locked_in_native_code_ends_itself_and_says_where(tmp_path: Path) -> None:
    log_path = tmp_path / "child.log"
    arguments = ["--lane", "quick", "--tasks", TASKS, "--heartbeat-s", "0.1", "--watchdog-s", "1"]
    environment = {**os.environ, "PYTHONPATH": python_path(PROJECT_ROOT, HERE)}
    with log_path.open("wb") as log:
        child = subprocess.Popen(
            [sys.executable, "-m", "engine.worker.child", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            env=environment,
        )
    assert child.stdin is not None
    child.stdin.write(encode({"type": "configure", "settings": {}}))
    child.stdin.write(encode({"type": "run", "id": "1", "kind": "native_loop", "payload": {}}))
    child.stdin.flush()

    exit_code = child.wait(20)
    child.communicate()

    assert exit_code == 1
    assert "in native_loop" in log_path.read_text("utf-8")


@posix_only
def test_a_stopped_child_is_killed(make_supervisor: MakeSupervisor) -> None:
    supervisor = make_supervisor(heartbeat_timeout_s=0.8)
    first = pid_of(supervisor)
    stopper = threading.Timer(0.3, os.kill, [first, 19])
    stopper.start()

    with pytest.raises(WorkerLost):
        supervisor.run("hang", {}, NO_LIMITS)

    assert not is_alive(first)


def test_a_cooperative_task_is_canceled_and_its_child_kept(shared: Supervisor) -> None:
    first = pid_of(shared)

    with pytest.raises(Canceled):
        shared.run("sleep", {"seconds": 60}, NO_LIMITS, is_canceled=lambda: True)

    assert pid_of(shared) == first


def test_a_deaf_task_is_killed_after_the_grace_period(make_supervisor: MakeSupervisor) -> None:
    supervisor = make_supervisor(cancel_grace_s=0.5)
    first = pid_of(supervisor)
    start = time.monotonic()

    with pytest.raises(Canceled):
        supervisor.run("native_loop", {}, NO_LIMITS, is_canceled=lambda: True)

    assert time.monotonic() - start < 2.5 * PATIENCE
    assert not is_alive(first)


def test_a_child_whose_tasks_cannot_be_imported_is_a_lost_worker(
    make_supervisor: MakeSupervisor, tmp_path: Path
) -> None:
    supervisor = make_supervisor(tasks="no_such_module:TASKS")

    with pytest.raises(WorkerLost):
        supervisor.run("where", {}, NO_LIMITS)

    assert "no_such_module" in (tmp_path / "data" / "logs" / "render.log").read_text("utf-8")


def test_a_child_that_does_not_become_ready_is_killed(make_supervisor: MakeSupervisor) -> None:
    supervisor = make_supervisor(child_start_timeout_s=0.01)

    with pytest.raises(WorkerLost):
        supervisor.run("where", {}, NO_LIMITS)

    assert supervisor.pid is None


def test_one_task_at_a_time(shared: Supervisor) -> None:
    ends: list[float] = []

    def run() -> None:
        shared.run("sleep", {"seconds": 0.3}, NO_LIMITS)
        ends.append(time.monotonic())

    threads = [threading.Thread(target=run) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(ends) == 3
    assert all(later - earlier >= 0.3 for earlier, later in itertools.pairwise(ends))
