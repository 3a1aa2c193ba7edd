"""Fetching a set of weights: room on the disk first, then file by file, resumed and verified."""

import errno
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import FileLock

from engine.errors import EngineError, ErrorCode, InputError
from engine.weights.fault_messages import damaged
from engine.weights.file_check import find_fault
from engine.weights.store import FetchedFile, hash_file, read_lock, write_lock
from engine.weights.weight_files import WeightSet

if TYPE_CHECKING:  # httpx, half a second that every start of a command would wait for
    from engine.weights.hub import Hub, RemoteFile

SPARE_BYTES = 500_000_000
"""Kept free on the disk beside the weights, for the videos."""

TELL_EVERY_BYTES = 1_000_000
GUARD_NAME = ".download.lock"
ETAG_SHOWN = 12


@dataclass(frozen=True)
class DownloadProgress:
    """How far the download of a set is.

    Attributes:
        file: name of the file being fetched.
        done_bytes: of the whole set, what was here before included.
        total_bytes: of the whole set.
    """

    file: str
    done_bytes: int
    total_bytes: int


OnProgress = Callable[[DownloadProgress], None]


def download_set(
    weight_set: WeightSet,
    folder: Path,
    hub: "Hub",
    on_progress: OnProgress = lambda _progress: None,
) -> None:
    """Fetch whatever a folder lacks of a set.

    Files that are whole and of the newest commit are left alone; a file that broke off goes on
    where it stopped. Two downloads into one folder wait for each other.

    Args:
        weight_set: what to fetch.
        folder: where to; made when it is not there.
        hub: where from.
        on_progress: told every megabyte; may raise to stop, what came is kept.

    Raises:
        InputError: WEIGHTS_REFUSED, WEIGHTS_DAMAGED (the content is not what was announced) or
            WEIGHTS_NOT_WRITABLE.
        EngineError: WEIGHTS_UNREACHABLE or WEIGHTS_DISK.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder / GUARD_NAME):
            _Download(weight_set, folder, hub, on_progress).run()
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise _no_room(folder, SPARE_BYTES) from error
        raise InputError(ErrorCode.WEIGHTS_NOT_WRITABLE, place=str(folder)) from error


class _Download:
    """One download of one set, alone in its folder."""

    def __init__(
        self, weight_set: WeightSet, folder: Path, hub: "Hub", on_progress: OnProgress
    ) -> None:
        self._set, self._folder, self._hub = weight_set, folder, hub
        self._tell = on_progress
        self._lock = read_lock(folder)
        self._done = self._total = self._told = 0

    def run(self) -> None:
        remotes = [self._hub.describe(file) for file in self._set.files]
        self._total = sum(remote.size_bytes for remote in remotes)
        wanted = [remote for remote in remotes if not self._is_here(remote)]
        self._done = self._total - sum(remote.size_bytes for remote in wanted)
        missing = sum(remote.size_bytes - _size(self._part(remote)) for remote in wanted)
        if shutil.disk_usage(self._folder).free < missing + SPARE_BYTES:
            raise _no_room(self._folder, missing + SPARE_BYTES)
        for remote in wanted:
            self._fetch(remote)

    def _is_here(self, remote: "RemoteFile") -> bool:
        """Whether the file is whole: by what was kept of it, else by its own content."""
        path = self._folder / remote.file.path
        if self._is_converted(remote, path):
            return True
        if not path.is_file() or path.stat().st_size != remote.size_bytes or find_fault(path):
            return False
        known = self._lock.get(remote.file.path)
        if known and known.sha256 == remote.etag:
            return True
        if not remote.matches(path):
            return False
        self._keep(remote, path)
        return True

    def _is_converted(self, remote: "RemoteFile", path: Path) -> bool:
        """Whether its content lies here as safetensors, made from what is published now."""
        converted = path.with_suffix(".safetensors")
        if path.is_file() or converted == path or not converted.is_file():
            return False
        known = self._lock.get(remote.file.path)
        return known is not None and known.sha256 == remote.etag and not find_fault(converted)

    def _part(self, remote: "RemoteFile") -> Path:
        """Where its bytes gather; named after the content, so that no other is continued."""
        target = self._folder / remote.file.path
        return target.with_name(f"{target.name}.{remote.etag[:ETAG_SHOWN]}.part")

    def _fetch(self, remote: "RemoteFile") -> None:
        part, target = self._part(remote), self._folder / remote.file.path
        part.parent.mkdir(parents=True, exist_ok=True)
        for stale in part.parent.glob(f"{target.name}.*.part"):
            if stale != part:
                stale.unlink()
        self._count(remote, _size(part))
        self._hub.fetch(remote, part, lambda count: self._count(remote, count))
        if not remote.matches(part):
            part.unlink()
            reason = "what arrived is not what the publisher announced"
            raise damaged(self._set, remote.file, self._folder, reason)
        part.replace(target)
        self._keep(remote, target)

    def _count(self, remote: "RemoteFile", count: int) -> None:
        self._done += count
        if abs(self._done - self._told) >= TELL_EVERY_BYTES or self._done == self._total:
            self._told = self._done
            self._tell(DownloadProgress(remote.file.name, self._done, self._total))

    def _keep(self, remote: "RemoteFile", path: Path) -> None:
        sha256 = hash_file(path)
        self._lock[remote.file.path] = FetchedFile(
            remote.file.repo, remote.commit, remote.size_bytes, sha256
        )
        write_lock(self._folder, self._lock)


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0


def _no_room(folder: Path, need_bytes: int) -> EngineError:
    free_gb = shutil.disk_usage(folder).free / 1e9
    return EngineError(
        ErrorCode.WEIGHTS_DISK, need_gb=f"{need_bytes / 1e9:.1f}", free_gb=f"{free_gb:.1f}"
    )
