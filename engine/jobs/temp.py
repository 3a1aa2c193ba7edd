"""Temporary files: one folder per running engine, removed with it or by the next one."""

import logging
import re
import secrets
import shutil
import time
from pathlib import Path

import psutil

STRAY_AGE_S = 3600.0
"""Anything else in the folder is removed when nobody touched it for this long."""

_SESSION = re.compile(r"(?P<pid>\d+)-(?P<created>\d+)-[0-9a-f]+")

_log = logging.getLogger(__name__)


class SessionTemp:
    """The temporary folder of one engine, named so that others can tell whether it lives.

    Attributes:
        path: the folder; made by `create`.

    Args:
        root: folder of all such folders.
    """

    def __init__(self, root: Path) -> None:
        process = psutil.Process()
        name = f"{process.pid}-{int(process.create_time())}-{secrets.token_hex(4)}"
        self.path = root / name

    def create(self) -> Path:
        """Make the folder when it does not exist."""
        self.path.mkdir(parents=True, exist_ok=True)
        return self.path

    def remove(self) -> None:
        """Remove the folder with all it holds."""
        shutil.rmtree(self.path, ignore_errors=True)


def sweep(root: Path) -> int:
    """Remove what engines that are gone left behind.

    Returns:
        How many entries were removed.
    """
    count = 0
    for entry in root.iterdir() if root.is_dir() else ():
        if not _is_leftover(entry):
            continue
        count += 1
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry, ignore_errors=True)
        else:
            entry.unlink(missing_ok=True)
    if count:
        _log.info("removed %d leftover temporary entries", count)
    return count


def _is_leftover(entry: Path) -> bool:
    named = _SESSION.fullmatch(entry.name)
    if named:
        return not _is_running(int(named["pid"]), int(named["created"]))
    try:
        return entry.lstat().st_mtime < time.time() - STRAY_AGE_S
    except FileNotFoundError:
        return False


def _is_running(pid: int, created: int) -> bool:
    try:
        return abs(psutil.Process(pid).create_time() - created) <= 1.0
    except psutil.NoSuchProcess:
        return False
    except psutil.Error:
        return True  # not ours to look at, but alive
