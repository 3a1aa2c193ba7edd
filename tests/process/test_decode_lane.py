"""Children that open strangers' files: their limits, their replacement, what a death means."""

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from polling import HERE, TASKS, python_path, wait_until

from engine.errors import EngineError, ErrorCode, InputError, WorkerLost
from engine.settings import EngineSettings
from engine.worker.attend import TaskLimits
from engine.worker.decode import DecodeLane
from engine.worker.environment import PROJECT_ROOT
from engine.worker.lanes import SUSPICIOUS_CODES
from engine.worker.plan import LanePlan
from engine.worker.pool import ChildPool
from engine.worker.supervisor import ChildState, Supervisor

MakeLane = Callable[..., tuple[DecodeLane, list[Supervisor]]]


@pytest.fixture
def make_lane(
    settings_for: Callable[..., EngineSettings],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    no_child_left: None,
) -> Iterator[MakeLane]:
    """Open decode lanes that run the sample tasks; all are closed at the end."""
    monkeypatch.setenv("PYTHONPATH", python_path(HERE))
    opened: list[DecodeLane] = []

    def make(children: int = 1, tasks: str = TASKS, **changes: object) -> tuple[DecodeLane, list]:
        settings = settings_for(**changes)
        settings.data_dir.mkdir(exist_ok=True)
        plan = LanePlan(
            lane="decode",
            tasks=tasks,
            temp_dir=tmp_path / "tmp",
            tasks_per_child=3,
            breaking_codes=SUSPICIOUS_CODES,
            memory_mb=settings.decode_memory_mb,
            expects_deaths=True,
        )
        supervisors = [Supervisor(plan, settings) for _ in range(children)]
        opened.append(DecodeLane(ChildPool(supervisors), settings))
        return opened[-1], supervisors

    yield make
    for lane in opened:
        lane.pool.close()


@pytest.fixture
def sound(tmp_path: Path) -> Callable[[str], str]:
    """Write a recording that makes its decoder do a sample task."""

    def write(kind: str) -> str:
        path = tmp_path / f"{kind}.wav"
        path.write_text(kind, "utf-8")
        return str(path)

    return write


def code_of(call: Callable[[], object]) -> ErrorCode:
    with pytest.raises(EngineError) as caught:
        call()
    return caught.value.code


def test_a_recording_without_progress_could_not_be_checked(
    make_lane: MakeLane, sound: Callable[[str], str], tmp_path: Path
) -> None:
    lane, _ = make_lane(decode_timeout_s=0.4)

    assert code_of(lambda: lane.sound(sound("hang"), tmp_path / "out")) is ErrorCode.PROBE_TIMEOUT


def test_a_recording_that_kills_two_decoders_is_damaged_and_the_next_one_is_decoded_at_once(
    make_lane: MakeLane, sound: Callable[[str], str], tmp_path: Path
) -> None:
    lane, _ = make_lane()
    for _ in range(2):
        refused = code_of(lambda: lane.sound(sound("crash"), tmp_path / "out"))
        assert refused is ErrorCode.DAMAGED_AUDIO

    started = time.monotonic()
    assert lane.sound(sound("healthy"), tmp_path / "out")

    assert time.monotonic() - started < 10  # four deaths in a row would have cost 5 s and more


def test_a_suspicious_file_costs_its_decoder_and_a_plain_refusal_does_not(
    make_lane: MakeLane, tmp_path: Path
) -> None:
    _, (supervisor,) = make_lane()

    def refuse(code: str) -> int | None:
        with pytest.raises(InputError):
            supervisor.run("refuse", {"code": code, "is_input": True}, TaskLimits())
        return supervisor.pid

    kept = refuse("not_audio")

    assert kept is not None
    assert refuse("damaged_audio") is None


def test_a_decoder_is_replaced_after_its_share_of_files(
    make_lane: MakeLane, sound: Callable[[str], str], tmp_path: Path
) -> None:
    lane, (supervisor,) = make_lane()
    pids = []
    for _ in range(4):
        wait_until(lambda: supervisor.warm_up() or supervisor.state is ChildState.READY)
        pids.append(supervisor.pid)
        lane.sound(sound("healthy"), tmp_path / "out")

    assert len(set(pids[:3])) == 1
    assert pids[3] != pids[0]


def test_a_missing_decoder_is_not_the_fault_of_the_file(
    make_lane: MakeLane, sound: Callable[[str], str], tmp_path: Path
) -> None:
    lane, _ = make_lane(tasks="no_such_module:TASKS")

    assert code_of(lambda: lane.sound(sound("healthy"), tmp_path / "out")) is ErrorCode.WORKER_LOST


def test_two_files_are_decoded_at_once_and_no_more(
    make_lane: MakeLane, sound: Callable[[str], str], tmp_path: Path
) -> None:
    lane, supervisors = make_lane(children=2, decode_timeout_s=2.0, quick_timeout_s=2.0)
    busy: list[int] = []
    done = threading.Event()

    def watch() -> None:
        while not done.wait(0.02):
            busy.append(sum(one.state is ChildState.BUSY for one in supervisors))

    def decode(number: int) -> None:
        with pytest.raises(EngineError):
            lane.sound(sound("hang"), tmp_path / str(number))

    threads = [threading.Thread(target=decode, args=(number,)) for number in range(3)]
    for thread in [threading.Thread(target=watch), *threads]:
        thread.start()
    for thread in threads:
        thread.join()
    done.set()

    assert max(busy) == 2


@pytest.mark.skipif(sys.platform == "win32", reason="the kernel has no such limit")
def test_the_kernel_refuses_memory_beyond_the_limit(make_lane: MakeLane) -> None:
    _, (supervisor,) = make_lane(decode_memory_mb=400)

    assert supervisor.run("allocate", {"mb": 150}, TaskLimits())
    refused = code_of(lambda: supervisor.run("allocate", {"mb": 600}, TaskLimits()))

    assert refused is ErrorCode.OUT_OF_MEMORY


def test_a_child_that_takes_too_much_memory_is_killed_where_the_kernel_does_not_help(
    make_supervisor: Callable[..., Supervisor],
) -> None:
    supervisor = make_supervisor()
    limits = TaskLimits(memory_mb=200)

    refused = code_of(lambda: supervisor.run("allocate_and_wait", {"mb": 300}, limits))

    assert refused is ErrorCode.OUT_OF_MEMORY
    assert supervisor.pid is None


def test_a_child_that_takes_too_much_processor_time_is_killed(
    make_supervisor: Callable[..., Supervisor],
) -> None:
    supervisor = make_supervisor()

    assert supervisor.run("sleep", {"seconds": 1.0}, TaskLimits(cpu_s=0.5))
    refused = code_of(lambda: supervisor.run("native_loop", {}, TaskLimits(cpu_s=0.5)))

    assert refused is ErrorCode.TIMED_OUT


def test_a_child_is_started_ahead_of_its_first_task(
    make_supervisor: Callable[..., Supervisor],
) -> None:
    supervisor = make_supervisor()

    supervisor.warm_up()
    wait_until(lambda: supervisor.state is ChildState.READY)
    pid = supervisor.pid
    seen = supervisor.run("where", {}, TaskLimits()).values

    assert (seen["pid"], seen["prepared"]) == (pid, ["usual"])


def test_a_closed_lane_starts_nothing_any_more(make_supervisor: Callable[..., Supervisor]) -> None:
    supervisor = make_supervisor()
    supervisor.close()

    supervisor.warm_up()

    with pytest.raises(WorkerLost):
        supervisor.run("where", {}, TaskLimits())
    assert supervisor.pid is None


GUARDED = """
import os, socket, subprocess, sys
from pathlib import Path
from engine.worker.confine import FileGuard, Forbidden

mine, other = Path(sys.argv[1]), Path(sys.argv[2])
acts = {
    "read": lambda: other.read_text(),
    "write": lambda: other.write_text("x"),
    "descend": lambda: (mine / ".." / other.name).read_text(),
    "list": lambda: os.listdir(other.parent),
    "remove": lambda: other.unlink(),
    "move": lambda: os.replace(mine / "own", other),
    "link": lambda: (mine / "link").symlink_to(other),
    "connect": lambda: socket.create_connection(("127.0.0.1", 9)),
    "resolve": lambda: socket.getaddrinfo("localhost", 80),
    "start": lambda: subprocess.run(["true"]),
    "shell": lambda: os.system("true"),
    "fork": lambda: os.fork(),
}
guard, stopped = FileGuard(), []
with guard.during([], [mine]) as violations:
    (mine / "own").write_text("x")
    import colorsys
    for name, act in acts.items():
        try:
            act()
        except Forbidden:
            stopped.append(name)
assert len(violations) == len(stopped)
assert other.read_text() == "untouched"
print(sorted(set(acts) - set(stopped)))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="tries fork")
def test_the_guard_stops_all_that_a_decoder_has_no_reason_for(tmp_path: Path) -> None:
    mine, other = tmp_path / "mine", tmp_path / "other.txt"
    mine.mkdir()
    other.write_text("untouched")

    done = subprocess.run(
        [sys.executable, "-c", GUARDED, str(mine), str(other)],
        cwd=PROJECT_ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.stdout.strip(), done.stderr) == ("[]", "")
