"""A disk that is really full: a small one of its own, so only where one may be mounted."""

import contextlib
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engine.api import StudioEngine
from engine.contracts import AnimateRequest, JobStatus
from engine.errors import EngineError, ErrorCode
from tests.patience import PATIENCE

WORK = {"kind": "sleep", "seconds": 0}
DISK_BYTES = 12_000_000


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Mount a disk of 12 MB."""
    place = tmp_path / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "none", str(place)]
    if sys.platform != "linux" or subprocess.run(command, check=False).returncode != 0:
        pytest.skip("no disk can be mounted here")
    yield place
    subprocess.run(["umount", str(place)], check=True)


@pytest.fixture
def engine(
    small_disk: Path, make_engine: Callable[..., StudioEngine], monkeypatch: pytest.MonkeyPatch
) -> Iterator[StudioEngine]:
    """An engine on the small disk whose gate lets every job in, as the gate is tested elsewhere."""
    monkeypatch.setattr("engine.jobs.disk.DiskGate.refusal", lambda _self, _need: None)
    engine = make_engine(data_dir=small_disk / "data", min_free_disk_gb=0)
    yield engine
    engine.close()


def fill(path: Path) -> None:
    """Write a file that takes all the room there is."""
    with path.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(bytes(4096))


def test_a_job_that_fills_the_disk_fails_without_leftovers_and_the_next_one_is_made(
    engine: StudioEngine, request_for: Callable[..., AnimateRequest]
) -> None:
    full = engine.submit(request_for({"kind": "fill_disk"}))

    failed = engine.wait(full.job_id, 30 * PATIENCE)
    done = engine.wait(engine.submit(request_for(WORK)).job_id, 30)

    assert failed.error is not None
    assert failed.error.code is ErrorCode.DISK_FULL
    assert failed.artifacts == ()
    left = {path.name for path in (engine.settings.jobs_dir / full.job_id).iterdir()}
    assert left == {"portrait.png", "speech.wav"}
    assert done.status is JobStatus.SUCCEEDED


def test_a_submission_on_a_full_disk_leaves_nothing_and_works_once_there_is_room(
    engine: StudioEngine, request_for: Callable[..., AnimateRequest], small_disk: Path
) -> None:
    engine.wait(engine.submit(request_for(WORK)).job_id, 30)
    before = {path.name for path in engine.settings.jobs_dir.iterdir()}
    ballast = small_disk / "ballast"
    fill(ballast)

    with pytest.raises(EngineError) as caught:
        engine.submit(request_for(WORK))
    left = {path.name for path in engine.settings.jobs_dir.iterdir()}
    ballast.unlink()

    assert caught.value.code is ErrorCode.DISK_FULL
    assert left == before
    assert engine.wait(engine.submit(request_for(WORK)).job_id, 30).status is JobStatus.SUCCEEDED


def test_nothing_waiting_is_begun_until_there_is_room(
    make_engine: Callable[..., StudioEngine],
    request_for: Callable[..., AnimateRequest],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    engine = make_engine()
    full = EngineError(ErrorCode.DISK_LOW, free_gb=0.1, need_gb=0.2)
    with monkeypatch.context() as patch:
        patch.setattr("engine.jobs.disk.DiskGate.pause", lambda _self: full)
        job = engine.submit(request_for(WORK))
        waiting = engine.wait(job.job_id, 1.0 * PATIENCE)
        health = engine.health()

    assert waiting.status is JobStatus.QUEUED
    assert health.pause is ErrorCode.DISK_LOW
    assert engine.wait(job.job_id, 30 * PATIENCE).status is JobStatus.SUCCEEDED
