"""Finished sections, kept by what they are made of: whoever needs the same again takes it.

One folder for each owner; nothing is shared between owners. Standard library only.
"""

import contextlib
import hashlib
import json
import os
import shutil
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

FOLDER_NAME = "lectures"
USED_NAME = "sections.json"
"""In the folder of a job: the keys of everything it took from here or put here."""

DAY_S = 24 * 3600.0
BYTES_PER_GB = 1e9


def scope_of(owner: str) -> str:
    """Folder name of an owner; tells nothing about them."""
    return hashlib.sha256(owner.encode()).hexdigest()[:32]


def key_of(parts: Mapping[str, Any]) -> str:
    """Name of something that is fully described by `parts` (JSON)."""
    text = json.dumps(parts, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:40]


def digest_of(path: Path) -> str:
    """SHA-256 of a file's content in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class SectionCache:
    """The kept files of one owner.

    Args:
        root: of all owners.
        scope: folder name of this one, from `scope_of`.

    Attributes:
        used: keys that were asked for, in order.
    """

    def __init__(self, root: Path, scope: str) -> None:
        self._folder = root / scope
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.used: dict[str, None] = {}

    def place(self, key: str, suffix: str) -> Path:
        """Where a file of this key lies or would lie; one that is there counts as used now."""
        self.used[key] = None
        path = self._folder / f"{key}{suffix}"
        with contextlib.suppress(OSError):
            os.utime(path)
        return path

    def folder(self, key: str) -> Path:
        """A folder for what is kept only until the files of this key are there."""
        path = self._folder / f"{key}.parts"
        path.mkdir(exist_ok=True)
        return path

    def drop_folder(self, key: str) -> None:
        """Remove that folder."""
        shutil.rmtree(self._folder / f"{key}.parts", ignore_errors=True)


def note_used(job_dir: Path, scope: str, keys: Iterable[str]) -> None:
    """Write into a job's folder what it uses, so that it can be removed together with it."""
    text = json.dumps({"scope": scope, "keys": list(keys)})
    (job_dir / USED_NAME).write_text(text, "utf-8")


def remove_used(root: Path, job_dir: Path, others: Iterable[Path]) -> None:
    """Remove what a job used and no other job uses.

    Args:
        root: of the cache.
        job_dir: of the job that goes.
        others: folders of all jobs.
    """
    scope, keys = _used_by(job_dir)
    if not keys:
        return
    kept = set[str]()
    for other in others:
        if other != job_dir:
            other_scope, other_keys = _used_by(other)
            kept |= other_keys if other_scope == scope else set()
    for path in (root / scope).glob("*"):
        if path.name.partition(".")[0] in keys - kept:
            _remove(path)


def remove_scope(root: Path, scope: str) -> None:
    """Remove everything of one owner."""
    shutil.rmtree(root / scope, ignore_errors=True)


def sweep_cache(root: Path, max_days: float, max_gb: float, now: float | None = None) -> int:
    """Remove what was not used for long, and the oldest beyond the size.

    Returns:
        How many files were removed.
    """
    now = time.time() if now is None else now
    rows = []
    for path in root.glob("*/*"):
        with contextlib.suppress(OSError):
            info = path.stat()
            rows.append((info.st_mtime, info.st_size, path))
    rows.sort(reverse=True)
    total, count = 0, 0
    for used_at, size, path in rows:
        total += size
        if now - used_at > max_days * DAY_S or total > max_gb * BYTES_PER_GB:
            _remove(path)
            count += 1
    return count


def _used_by(job_dir: Path) -> tuple[str, set[str]]:
    try:
        stored = json.loads((job_dir / USED_NAME).read_text("utf-8"))
        return str(stored["scope"]), set(stored["keys"])
    except (OSError, ValueError, KeyError):
        return "", set()


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
        return
    with contextlib.suppress(OSError):
        path.unlink()
