"""Where the files of a job lie: one folder per job under one root, named by its id.

Nothing outside the root is ever read, served or removed; names come from us, never from people.
"""

import contextlib
import logging
import re
import shutil
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from engine.errors import EngineError, ErrorCode
from engine.lecture.cache import FOLDER_NAME, USED_NAME, remove_used

LIVE_NAME = "live.jpg"
"""The newest frame of a video in the making, in its job's folder."""

_log = logging.getLogger(__name__)

_JOB_ID = re.compile(r"[0-9a-f]{32}")


class JobFolders:
    """The folders of all jobs.

    Args:
        root: holds them; made when missing.
        lectures: kept sections of lectures, which go with their jobs; None = beside `root`.
    """

    def __init__(self, root: Path, lectures: Path | None = None) -> None:
        self._root = root.absolute()
        self._lectures = lectures or self._root.parent / FOLDER_NAME
        self._root.mkdir(parents=True, exist_ok=True)
        self._remove_elsewhere: Callable[[str], None] | None = None

    def removes_also(self, remove: Callable[[str], None]) -> None:
        """Have `remove` called with the id of every job that is removed here."""
        self._remove_elsewhere = remove

    def create(self, job_id: str) -> Path:
        """Make the empty folder of a new job."""
        folder = self.path(job_id)
        folder.mkdir()
        return folder

    def path(self, job_id: str) -> Path:
        """The folder of a job, whether it exists or not.

        Raises:
            EngineError: JOB_NOT_FOUND when this is not an id of ours.
        """
        if not _JOB_ID.fullmatch(job_id):
            raise EngineError(ErrorCode.JOB_NOT_FOUND)
        return self._root / job_id

    def file(self, job_id: str, name: str) -> Path:
        """An existing file of a job.

        Raises:
            EngineError: JOB_NOT_FOUND when it is gone or lies outside the job's folder.
        """
        folder = self.path(job_id).resolve()
        found = (folder / name).resolve()
        if not found.is_relative_to(folder) or not found.is_file():
            raise EngineError(ErrorCode.JOB_NOT_FOUND)
        return found

    def keep_only(self, job_id: str, names: Iterable[str]) -> None:
        """Remove everything a job made, but leave the files of these names."""
        folder = self.path(job_id)
        kept = set(names)
        for entry in folder.iterdir() if folder.is_dir() else ():
            if entry.name in kept:
                continue
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry, ignore_errors=True)
            else:
                with contextlib.suppress(OSError):  # open in a player on Windows
                    entry.unlink()

    def remove(self, job_id: str) -> None:
        """Remove a job's folder with all it holds; a file in use stays for a later sweep."""
        folder = self.path(job_id)
        if (folder / USED_NAME).is_file():
            remove_used(self._lectures, folder, self._root.iterdir())
        shutil.rmtree(folder, ignore_errors=True)
        if self._remove_elsewhere is not None:
            try:
                self._remove_elsewhere(job_id)
            except EngineError as error:
                _log.warning("job %s is not removed elsewhere: %s", job_id, error.code)

    def orphans(self, known: set[str], min_age_s: float) -> Iterator[str]:
        """Ids of folders that belong to no known job and are older than `min_age_s`."""
        oldest = time.time() - min_age_s
        for entry in self._root.iterdir():
            if not _JOB_ID.fullmatch(entry.name) or entry.name in known:
                continue
            if entry.stat().st_mtime < oldest:
                yield entry.name
