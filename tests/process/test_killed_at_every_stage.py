"""Kill -9 of the worker and of the web process, at every stage of a real job.

Nothing is lost and nothing is there twice: one row, one video, each artifact once.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
import soundfile as sf
from doors import DOORS, HELD, HOLD
from polling import HERE, python_path, wait_until

from engine.api import StudioEngine
from engine.contracts import AnimateRequest, JobRecord, JobStatus, RenderOptions
from engine.settings import EngineSettings
from engine.worker.ending import is_alive
from tests.media_files import PORTRAIT, SPEECH

ROOT = HERE.parents[1]
SMALL = RenderOptions(animator="lite", size_px=256)
SPEECH_S, NUM_FRAMES = 1.0, 25
KINDS = ["poster", "report", "video"]
NOTICED_S = 2.0
"""A loaded computer gets more: the death itself is told at once, by the end of a pipe."""

HELD_S = DONE_S = 150.0
"""To the door and from there to the end: processes start and draw at low priority, which takes
seconds, and minutes on a computer that others keep busy."""

pytestmark = pytest.mark.timeout(400)

IN_CI = ("animating",)
SHORT = ("prepare", "animating", "done")


def doors_for_ci(names: tuple[str, ...]) -> list[Any]:
    """Every door; those that are not named only in the long form."""
    return [door if door in names else pytest.param(door, marks=pytest.mark.slow) for door in DOORS]


@pytest.fixture(scope="module")
def speech(tmp_path_factory: pytest.TempPathFactory) -> Path:
    samples, rate_hz = sf.read(SPEECH, start=8_000, frames=16_000)
    path = tmp_path_factory.mktemp("inputs") / "speech.wav"
    sf.write(path, samples, rate_hz)
    return path


def request_of(speech: Path) -> AnimateRequest:
    return AnimateRequest(portrait=str(PORTRAIT), audio=str(speech), options=SMALL, consent=True)


def open_engine(data_dir: Path, *, exclusive: bool = False) -> StudioEngine:
    settings = EngineSettings(data_dir=data_dir, cancel_grace_s=1.0, max_submits_per_minute=1000)
    return StudioEngine(
        settings,
        exclusive=exclusive,
        tasks="held_tasks:TASKS",
        decode_tasks="held_tasks:DECODE_TASKS",
    )


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StudioEngine]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", python_path(HERE))
        with open_engine(tmp_path_factory.mktemp("killed") / "data") as engine:
            yield engine


def hold_at(data_dir: Path, door: str) -> None:
    data_dir.mkdir(exist_ok=True)
    (data_dir / HELD).unlink(missing_ok=True)
    (data_dir / HOLD).write_text(door, "ascii")


def wait_held(data_dir: Path) -> psutil.Process:
    """The process that stands at the door."""
    held = data_dir / HELD
    wait_until(lambda: held.is_file() and held.read_text("ascii"), timeout_s=HELD_S)
    return psutil.Process(int(held.read_text("ascii")))


def assert_made_once(engine: StudioEngine, done: JobRecord, attempt: int) -> None:
    assert (done.status, done.error) == (JobStatus.SUCCEEDED, None)
    assert done.attempt == attempt
    assert done.report["num_frames"] == NUM_FRAMES
    assert sorted(item.kind for item in done.artifacts) == KINDS
    folder = engine.settings.jobs_dir / done.job_id
    assert [entry.name for entry in folder.iterdir() if ".part" in entry.name] == []
    assert len(list(folder.glob("*.mp4"))) == 1


@pytest.mark.parametrize("door", doors_for_ci(SHORT))
def test_a_worker_killed_at_any_stage_costs_one_attempt_and_nothing_else(
    shared: StudioEngine, speech: Path, door: str
) -> None:
    data_dir = shared.settings.data_dir
    hold_at(data_dir, door)
    job = shared.submit(request_of(speech))
    worker = wait_held(data_dir)

    worker.kill()
    noticed_s = wait_until(
        lambda: (now := shared.get(job.job_id)).attempt != 1 or now.status != JobStatus.RUNNING
    )
    done = shared.wait(job.job_id, DONE_S)
    shared.resume()  # so many deaths would make the queue rest

    assert noticed_s < NOTICED_S
    assert_made_once(shared, done, attempt=2)
    assert [one.job_id for one in shared.list_for(None)].count(job.job_id) == 1


@pytest.fixture
def start_program(tmp_path: Path, speech: Path) -> Iterator[Callable[[], "subprocess.Popen[str]"]]:
    """Start the engine that stands for the web process."""
    started: list[subprocess.Popen[str]] = []

    def start() -> "subprocess.Popen[str]":
        program = [sys.executable, str(HERE / "engine_program.py"), str(tmp_path / "data")]
        environment = {**os.environ, "PYTHONPATH": python_path(ROOT, HERE)}
        inputs = [str(PORTRAIT), str(speech), "--exclusive", "--held"]
        started.append(
            subprocess.Popen(
                [*program, *inputs], stdout=subprocess.PIPE, text=True, env=environment
            )
        )
        return started[-1]

    yield start
    for program in started:
        program.kill()
        program.communicate()


@pytest.mark.parametrize("door", doors_for_ci(IN_CI))
def test_a_web_process_killed_at_any_stage_goes_on_at_its_next_start(
    start_program: Callable[[], "subprocess.Popen[str]"],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    no_child_left: None,
    door: str,
) -> None:
    monkeypatch.setenv("PYTHONPATH", python_path(HERE))
    data_dir = tmp_path / "data"
    hold_at(data_dir, door)
    program = start_program()
    wait_held(data_dir)
    children = psutil.Process(program.pid).children(recursive=True)

    program.kill()
    program.wait()
    gone_s = wait_until(lambda: not any(is_alive(child) for child in children))
    restarted_at = time.monotonic()
    with open_engine(data_dir, exclusive=True) as engine:
        (job,) = engine.list_for(None)
        wait_until(
            lambda: (
                engine.get(job.job_id).attempt != 1
                or engine.get(job.job_id).status != JobStatus.RUNNING
            )
        )
        requeued_s = time.monotonic() - restarted_at
        done = engine.wait(job.job_id, DONE_S)

        assert gone_s < NOTICED_S
        assert requeued_s < 5.0
        assert_made_once(engine, done, attempt=2)
        assert len(engine.list_for(None)) == 1


@pytest.mark.slow
@pytest.mark.parametrize("door", ["decode", "intake"])
def test_a_web_process_killed_during_a_submission_leaves_no_half_job(
    start_program: Callable[[], "subprocess.Popen[str]"],
    tmp_path: Path,
    speech: Path,
    monkeypatch: pytest.MonkeyPatch,
    no_child_left: None,
    door: str,
) -> None:
    monkeypatch.setenv("PYTHONPATH", python_path(HERE))
    data_dir = tmp_path / "data"
    hold_at(data_dir, door)
    program = start_program()
    wait_held(data_dir)

    program.kill()
    program.wait()
    with open_engine(data_dir, exclusive=True) as engine:
        assert engine.list_for(None) == [], "nobody was told that it is queued"
        job = engine.submit(request_of(speech), idempotency_key="the one")
        again = engine.submit(request_of(speech), idempotency_key="the one")
        done = engine.wait(job.job_id, DONE_S)

        assert again.job_id == job.job_id
        assert_made_once(engine, done, attempt=1)
        wait_until(lambda: [entry.name for entry in engine.settings.temp_dir.iterdir()] != [])
        sessions = [entry.name for entry in engine.settings.temp_dir.iterdir()]
        assert all(name.startswith(f"{os.getpid()}-") for name in sessions), sessions
