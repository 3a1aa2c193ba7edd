"""Being asked to end: the running job is finished or put back, nothing is lost, nothing stays."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from polling import wait_until

from engine.api import StudioEngine
from engine.contracts import AnimateRequest, JobStatus
from engine.settings import EngineSettings
from engine.worker.ending import is_alive
from engine.worker.environment import PROJECT_ROOT
from tests.patience import PATIENCE

SHORT = {"kind": "sleep", "seconds": 1.5}
LONG = {"kind": "sleep", "seconds": 60}
DATA = PROJECT_ROOT / "tests" / "data"

Requests = Callable[..., AnimateRequest]


def start(engine: StudioEngine, request: AnimateRequest) -> str:
    job_id = engine.submit(request).job_id
    wait_until(lambda: engine.get(job_id).status is JobStatus.RUNNING)
    return job_id


def test_a_job_that_ends_in_time_is_finished_and_none_begun_after_it(
    engine: StudioEngine, request_for: Requests
) -> None:
    running = start(engine, request_for(SHORT))
    waiting = engine.submit(request_for(SHORT)).job_id

    assert engine.finish(20 * PATIENCE)

    assert engine.get(running).status is JobStatus.SUCCEEDED
    assert engine.get(waiting).status is JobStatus.QUEUED
    assert engine.get(waiting).attempt == 0


def test_a_job_known_to_need_longer_is_put_back_at_once(
    engine: StudioEngine, request_for: Requests, make_engine: Callable[..., StudioEngine]
) -> None:
    job_id = start(engine, request_for(LONG))
    wait_until(lambda: (p := engine.get(job_id).progress) and p.seconds_left is not None, 20)
    started = time.monotonic()

    assert not engine.finish(20)
    engine.close()

    assert time.monotonic() - started < 10 * PATIENCE
    after = make_engine()
    assert (after.get(job_id).status, after.get(job_id).attempt) == (JobStatus.QUEUED, 0)


def test_nothing_to_wait_for_is_finished_at_once(engine: StudioEngine) -> None:
    started = time.monotonic()

    assert engine.finish(20 * PATIENCE)

    assert time.monotonic() - started < 1 * PATIENCE


@pytest.mark.skipif(sys.platform == "win32", reason="has no such signals")
@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_a_command_that_is_asked_to_end_leaves_no_job_no_process_and_no_video(
    tmp_path: Path, name: str
) -> None:
    target, data_dir = tmp_path / "out.mp4", tmp_path / "data"
    portrait = DATA / "portraits" / "astronaut_collins.jpg"
    sound = DATA / "speech" / "en_jfk_1961_16k.flac"
    command = subprocess.Popen(
        [sys.executable, "-m", "engine", "animate", portrait, sound, "-o", target, "--size", "512"],
        cwd=PROJECT_ROOT,
        env={**os.environ, "STUDIO_DATA_DIR": str(data_dir)},
        stderr=subprocess.PIPE,
        text=True,
    )
    videos = data_dir / "jobs"
    wait_until(lambda: list(videos.glob("*/video.mp4.part")), 90)
    family = psutil.Process(command.pid).children(recursive=True)

    command.send_signal(getattr(signal, name))
    _, said = command.communicate(timeout=40)

    assert command.returncode == 128 + getattr(signal, name)
    assert said.rstrip().endswith("Stopped.")
    assert "Traceback" not in said
    assert [process for process in family if is_alive(process)] == []
    assert not target.exists()
    with StudioEngine(EngineSettings(data_dir=data_dir)) as engine:
        assert engine.list_for(None) == []
    assert list(videos.iterdir()) == []
