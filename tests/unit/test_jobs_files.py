"""Folders of jobs, temporary files and what a recovery removes."""

import os
import time
from pathlib import Path

import pytest

from engine.contracts import JobSpec, JobStatus, Progress, Stage
from engine.errors import EngineError, ErrorCode
from engine.jobs.recovery import recover
from engine.jobs.rows import NewJob
from engine.jobs.store import JobStore
from engine.jobs.temp import SessionTemp, sweep
from engine.storage import JobFolders

JOB_ID = "0123456789abcdef" * 2


def age(path: Path, seconds: float) -> None:
    then = time.time() - seconds
    os.utime(path, (then, then))


@pytest.mark.parametrize("job_id", ["..", "", "0" * 31, "0" * 33, "A" * 32, "../" + "0" * 29])
def test_an_id_that_is_not_ours_has_no_folder(tmp_path: Path, job_id: str) -> None:
    with pytest.raises(EngineError) as caught:
        JobFolders(tmp_path / "jobs").path(job_id)

    assert caught.value.code is ErrorCode.JOB_NOT_FOUND


def test_files_outside_a_job_are_never_found(tmp_path: Path) -> None:
    folders = JobFolders(tmp_path / "jobs")
    folder = folders.create(JOB_ID)
    secret = tmp_path / "secret.txt"
    secret.write_text("x")
    (folder / "link.mp4").symlink_to(secret)
    (folder / "video.mp4").write_text("v")

    for name in ("../../secret.txt", str(secret), "link.mp4", "missing.mp4", "."):
        with pytest.raises(EngineError):
            folders.file(JOB_ID, name)

    assert folders.file(JOB_ID, "video.mp4").read_text() == "v"


def test_only_named_files_are_kept(tmp_path: Path) -> None:
    folders = JobFolders(tmp_path / "jobs")
    folder = folders.create(JOB_ID)
    for name in ("portrait.png", "video.mp4.part"):
        (folder / name).write_text("x")
    (folder / "segments").mkdir()
    (folder / "segments" / "0.mp4").write_text("x")

    folders.keep_only(JOB_ID, ["portrait.png"])

    assert [entry.name for entry in folder.iterdir()] == ["portrait.png"]


def test_a_sweep_spares_what_a_living_engine_uses(tmp_path: Path) -> None:
    mine = SessionTemp(tmp_path).create()
    dead = tmp_path / "999999999-1-ab"
    reused = tmp_path / f"{os.getpid()}-1-cd"
    for folder in (dead, reused):
        folder.mkdir()
        (folder / "file").write_text("x")
    old, new = tmp_path / "old.wav", tmp_path / "new.wav"
    for file in (old, new):
        file.write_text("x")
    age(old, 2 * 3600)

    assert sweep(tmp_path) == 3

    assert {entry.name for entry in tmp_path.iterdir()} == {mine.name, "new.wav"}


def test_a_recovery_settles_every_job_that_was_running(tmp_path: Path) -> None:
    store, folders = JobStore(tmp_path / "s"), JobFolders(tmp_path / "jobs")
    ids = [f"{number:032x}" for number in range(5)]
    for job_id in ids:
        folders.create(job_id)
        spec = JobSpec(job_id=job_id, portrait_name="p.png")
        store.add(NewJob(spec=spec, owner="ann"))
    fresh, poison, unwanted, deleted, waiting = ids
    for _ in range(2):
        store.claim_next("dead")
    store.renew(poison, "dead", Progress(stage=Stage.ANIMATE))
    store.requeue(poison)
    for _ in range(3):
        store.claim_next("dead")
    store.request_cancel(unwanted)
    store.hide(deleted)

    recovered = recover(store, folders, "new")

    jobs = {job_id: store.get(job_id) for job_id in ids}
    states = {job_id: job and job.record.status for job_id, job in jobs.items()}
    assert states == {
        fresh: JobStatus.QUEUED,
        poison: JobStatus.FAILED,
        unwanted: JobStatus.CANCELED,
        deleted: None,
        waiting: JobStatus.QUEUED,
    }
    poisoned, again = jobs[poison], store.claim_next("new")
    assert poisoned is not None
    assert poisoned.record.error is not None
    assert poisoned.record.error.code is ErrorCode.WORKER_LOST
    assert again is not None
    assert (again.job_id, again.record.attempt) == (fresh, 2)
    assert not folders.path(deleted).exists()
    assert (recovered.requeued, recovered.failed, recovered.canceled) == (1, 1, 1)
