"""Room on the disk, and what is removed after a while."""

import os
import sqlite3
import threading
import time
from collections.abc import Iterable
from pathlib import Path

import pytest

from engine.contracts import JobError, JobSpec, RenderOptions
from engine.errors import EngineError, ErrorCode
from engine.jobs import disk
from engine.jobs.disk import DiskGate, Space, folder_bytes, job_bytes
from engine.jobs.retention import remove_old_files, sweep_all
from engine.jobs.rows import NewJob
from engine.jobs.store import JobStore
from engine.settings import EngineSettings
from engine.storage import JobFolders

GB = 10**9
HOUR_S = 3600
DAY_S = 24 * HOUR_S


def gate(tmp_path: Path, free: float, total: float = 100 * GB, **changes: float) -> DiskGate:
    settings = EngineSettings(data_dir=tmp_path, **changes)
    return DiskGate(settings, lambda _path: Space(total=int(total), free=int(free)))


def test_a_job_needs_three_times_its_estimate_and_the_floor(tmp_path: Path) -> None:
    small, large = 0.03 * GB, 1.0 * GB

    assert gate(tmp_path, 1.1 * GB).refusal(small) is None
    assert gate(tmp_path, 3.1 * GB).refusal(large) is None
    below_floor = gate(tmp_path, 0.9 * GB).refusal(small)
    below_need = gate(tmp_path, 2.9 * GB).refusal(large)

    assert below_floor is not None
    assert below_need is not None
    assert (below_floor.code, below_floor.values) == (
        ErrorCode.DISK_LOW,
        {"free_gb": 0.9, "need_gb": 1.0},
    )
    assert below_need.values == {"free_gb": 2.9, "need_gb": 3.0}


def test_strangers_leave_five_gigabytes_free(tmp_path: Path) -> None:
    assert EngineSettings(public="accounts").min_free_disk_gb == 5.0


def test_jobs_temporary_files_and_uploads_share_one_budget(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    for folder in (tmp_path / "jobs" / "a", tmp_path / "tmp", elsewhere / "deep" / "er"):
        folder.mkdir(parents=True)
        (folder / "file").write_bytes(bytes(400_000))
    settings = {"max_data_gb": 0.0015, "uploads_dir": elsewhere}

    assert gate(tmp_path, 9 * GB, **settings).refusal(200_000) is None
    why_not = gate(tmp_path, 9 * GB, **settings).refusal(400_000)

    assert why_not is not None
    assert why_not.code is ErrorCode.STORAGE_FULL
    assert folder_bytes([tmp_path / "jobs", tmp_path / "nowhere"]) == 400_000


def test_our_folders_are_measured_anew_without_anybody_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "jobs").mkdir()
    tested = gate(tmp_path, 9 * GB)
    may_measure = threading.Event()
    may_measure.set()

    def measure(folders: Iterable[Path]) -> int:
        assert may_measure.wait(10)
        return folder_bytes(folders)

    monkeypatch.setattr(disk, "folder_bytes", measure)
    assert tested.read().ours_gb == 0.0
    (tmp_path / "jobs" / "video.mp4").write_bytes(bytes(20_000_000))
    monkeypatch.setattr(disk, "MEASURED_FOR_S", 0.0)
    may_measure.clear()

    assert tested.read().ours_gb == 0.0, "what was measured last"
    may_measure.set()
    deadline = time.monotonic() + 10
    while tested.read().ours_gb != 0.02:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_no_job_is_begun_on_a_disk_that_is_full(tmp_path: Path) -> None:
    assert gate(tmp_path, 0.25 * GB).pause() is None
    pause = gate(tmp_path, 0.15 * GB).pause()

    assert pause is not None
    assert pause.code is ErrorCode.DISK_LOW


def test_people_are_told_long_before_anything_is_refused(tmp_path: Path) -> None:
    low, fine = gate(tmp_path, 14 * GB).read(), gate(tmp_path, 16 * GB).read()

    assert (low.is_low, fine.is_low) == (True, False)
    assert (fine.total_gb, fine.free_gb, fine.limit_gb) == (100, 16, 50)


def test_larger_and_longer_videos_need_more_room() -> None:
    quick, hd = RenderOptions(preset="quick"), RenderOptions(preset="hd")

    assert job_bytes(quick, 10) < job_bytes(hd, 10) < job_bytes(hd, 100)
    assert 1 * GB < job_bytes(hd, 7200) < 8 * GB


class Kept:
    """A store with folders, and jobs whose age a test chooses."""

    def __init__(self, root: Path, **changes: float) -> None:
        self.settings = EngineSettings(data_dir=root, **changes)
        self.store = JobStore(self.settings.store_path)
        self.folders = JobFolders(self.settings.jobs_dir)
        self.number = 0

    def add(self, end: str = "succeeded") -> str:
        """Add a job that ended as told, with its files; returns its id."""
        self.number += 1
        job_id = f"{self.number:032x}"
        spec = JobSpec(job_id=job_id, portrait_name="portrait.png", audio_name="speech.wav")
        self.store.add(NewJob(spec=spec, owner="ann"))
        folder = self.folders.create(job_id)
        for name in ("portrait.png", "speech.wav", "video.mp4"):
            (folder / name).write_text("x")
        if end == "queued":
            return job_id
        self.store.claim_next("me")
        if end == "succeeded":
            self.store.finish_succeeded(job_id, "me", {}, ())
        elif end == "failed":
            self.store.finish_failed(job_id, "me", JobError(code=ErrorCode.INTERNAL))
        return job_id

    def files(self, job_id: str) -> set[str]:
        folder = self.folders.path(job_id)
        return {entry.name for entry in folder.iterdir()} if folder.exists() else set()

    def sweep(self, later_s: float) -> None:
        sweep_all(self.store, self.folders, self.settings, time.time() + later_s)


EVERYTHING = {"portrait.png", "speech.wav", "video.mp4"}


def test_inputs_of_a_finished_video_go_after_a_day_and_those_of_a_failed_one_stay(
    tmp_path: Path,
) -> None:
    kept = Kept(tmp_path)
    done, failed = kept.add(), kept.add("failed")

    kept.sweep(23 * HOUR_S)
    before = kept.files(done)
    kept.sweep(25 * HOUR_S)

    assert before == EVERYTHING
    assert kept.files(done) == {"video.mp4"}
    assert kept.files(failed) == EVERYTHING


def test_a_job_goes_with_all_its_files_after_its_time_unless_it_still_waits_or_runs(
    tmp_path: Path,
) -> None:
    kept = Kept(tmp_path)
    ended = [kept.add(), kept.add("failed")]
    running, waiting = kept.add("running"), kept.add("queued")

    kept.sweep(29 * DAY_S)
    there = [kept.store.get(job_id) is not None for job_id in ended]
    kept.sweep(31 * DAY_S)

    assert there == [True, True]
    assert [kept.store.get(job_id) for job_id in ended] == [None, None]
    assert [kept.files(job_id) for job_id in ended] == [set(), set()]
    assert [kept.files(job_id) for job_id in (running, waiting)] == [EVERYTHING, EVERYTHING]
    assert {event.job_id for event in kept.store.events_since("ann", 0)} >= set(ended)


def test_videos_of_strangers_go_after_a_day(tmp_path: Path) -> None:
    kept = Kept(tmp_path, public="anonymous")
    job_id = kept.add()

    kept.sweep(25 * HOUR_S)

    assert kept.store.get(job_id) is None


def test_old_uploads_go_and_new_ones_stay(tmp_path: Path) -> None:
    old, new = tmp_path / "a" / "old.png", tmp_path / "b" / "new.png"
    for path in (old, new):
        path.parent.mkdir()
        path.write_text("x")
    day_ago = time.time() - DAY_S
    os.utime(old, (day_ago - 60, day_ago - 60))

    assert remove_old_files(tmp_path, day_ago) == 1

    assert [path.name for path in tmp_path.iterdir()] == ["b"]
    assert new.exists()
    assert remove_old_files(tmp_path / "nowhere", day_ago) == 0


def test_a_sweep_removes_old_folders_without_a_row(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    old, new = kept.folders.create("a" * 32), kept.folders.create("b" * 32)
    foreign = kept.settings.jobs_dir / "notes"
    foreign.mkdir()
    for folder in (old, foreign):
        os.utime(folder, (time.time() - 2 * HOUR_S,) * 2)

    kept.sweep(0)

    assert [folder.exists() for folder in (old, new, foreign)] == [False, True, True]


def test_a_store_on_a_full_disk_says_so_and_keeps_what_it_had(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    first = kept.add()
    database = kept.store._database
    pages = database.connection().execute("PRAGMA page_count").fetchone()[0]
    database.connection().execute(f"PRAGMA max_page_count = {pages}")
    spec = JobSpec(job_id="f" * 32, portrait_name="p.png", script="x" * 1_000_000)

    with pytest.raises(EngineError) as caught:
        kept.store.add(NewJob(spec=spec, owner="ann"))

    assert caught.value.code is ErrorCode.DISK_FULL
    assert kept.store.get("f" * 32) is None
    database.connection().execute("PRAGMA max_page_count = 1000000")
    assert kept.store.get(first) is not None
    assert kept.add()


def test_other_errors_of_a_store_are_not_taken_for_a_full_disk(tmp_path: Path) -> None:
    database = Kept(tmp_path).store._database

    with pytest.raises(sqlite3.OperationalError), database.transaction() as connection:
        connection.execute("NO SUCH STATEMENT")

    assert not database.connection().in_transaction
