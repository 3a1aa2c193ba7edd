"""What is removed after a while: old videos, inputs of finished ones, uploads, temporary files.

Called by the holder of the folder lock only: at its start and every hour.
"""

import contextlib
import logging
import os
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from engine.jobs.store import JobStore
from engine.jobs.temp import sweep
from engine.lecture.cache import FOLDER_NAME, sweep_cache
from engine.settings import EngineSettings
from engine.storage import JobFolders

SWEEP_EVERY_S = 3600.0
HOUR_S = 3600.0
DAY_S = 24 * HOUR_S

UPLOAD_AGE_S = DAY_S
"""An upload is copied into its job when that is submitted; a day later nobody looks at the form."""

ORPHAN_AGE_S = HOUR_S
"""A folder without a row may belong to a submission under way, but not for an hour."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Swept:
    """How many of each were removed."""

    jobs: int
    inputs: int
    uploads: int
    temporary: int
    orphans: int

    @property
    def total(self) -> int:
        """Of all of them."""
        return self.jobs + self.inputs + self.uploads + self.temporary + self.orphans


def sweep_all(
    store: JobStore, folders: JobFolders, settings: EngineSettings, now: float | None = None
) -> Swept:
    """Remove everything that is older than it may be.

    Args:
        store: of the jobs.
        folders: of the jobs.
        settings: how long things are kept.
        now: seconds since 1970; None = now.
    """
    now = time.time() if now is None else now
    expired = store.expire(_moment(now - settings.result_days * DAY_S))
    for job_id in expired:
        folders.remove(job_id)
    swept = Swept(
        jobs=len(expired),
        inputs=_remove_inputs(store, folders, _moment(now - settings.input_hours * HOUR_S)),
        uploads=remove_old_files(settings.uploads_path, now - UPLOAD_AGE_S),
        temporary=sweep(settings.temp_dir),
        orphans=_remove_orphans(store, folders),
    )
    sweep_cache(
        settings.data_dir / FOLDER_NAME, settings.lecture_cache_days, settings.lecture_cache_gb
    )
    store.prune()
    if swept.total:
        _log.info("removed what was kept long enough: %s", swept)
    return swept


def remove_old_files(root: Path, before: float) -> int:
    """Remove files that were last written before a time, and folders that are empty then.

    Returns:
        How many files were removed; one that is open on Windows stays.
    """
    count = 0
    for place, folders, names in os.walk(root, topdown=False):
        for name in names:
            path = Path(place, name)
            with contextlib.suppress(OSError):
                if path.lstat().st_mtime < before:
                    path.unlink()
                    count += 1
        for name in folders:
            with contextlib.suppress(OSError):  # not empty, or a link
                Path(place, name).rmdir()
    return count


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def _remove_inputs(store: JobStore, folders: JobFolders, before: datetime) -> int:
    """Remove the photo and recording of videos that were finished before a time."""
    count = 0
    for job in store.succeeded_before(before):
        spec = job.record.spec
        for name in spec.input_names:
            path = folders.path(job.job_id) / name
            with contextlib.suppress(OSError):
                path.unlink()
                count += 1
    return count


def _remove_orphans(store: JobStore, folders: JobFolders) -> int:
    lost = list(folders.orphans(store.all_ids(), ORPHAN_AGE_S))
    for job_id in lost:
        folders.remove(job_id)
    return len(lost)
