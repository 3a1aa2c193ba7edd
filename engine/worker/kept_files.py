"""What was decoded a moment ago: a form asks about its photo after every change, then sends it.

Nothing is kept longer than some minutes after it was last needed, nothing outlives the engine, and
when somebody removes a video or all that is theirs, all of it goes.
"""

import contextlib
import os
import shutil
import threading
import time
import uuid
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER_NAME = "decoded"

MAX_AGE_S = 600.0
MAX_FILES = 64
MAX_FILE_BYTES = 64 * 2**20
"""A picture of 4096 x 4096 pixels, or eleven minutes of speech."""

MAX_TOTAL_BYTES = 256 * 2**20

Key = tuple[str, ...]


@dataclass(frozen=True)
class _Kept:
    path: Path
    size_bytes: int
    facts: Mapping[str, Any]
    used_at: float


class KeptFiles:
    """Keeps decoded files by the content of their sources. Thread-safe.

    Args:
        temp_dir: makes the engine's temporary folder and returns it.
    """

    def __init__(self, temp_dir: Callable[[], Path]) -> None:
        self._temp_dir = temp_dir
        self._kept: OrderedDict[Key, _Kept] = OrderedDict()
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None

    def take(self, key: Key, target: Path) -> dict[str, Any] | None:
        """Lay a kept file at `target`.

        Returns:
            What `keep` was told about it; None when it is not kept.
        """
        with self._lock:
            self._drop_old()
            kept = self._kept.get(key)
            if kept is None:
                return None
            self._kept[key] = _Kept(kept.path, kept.size_bytes, kept.facts, time.monotonic())
            self._kept.move_to_end(key)
            try:
                _lay(kept.path, target)
            except OSError:
                self._drop(key)
                return None
        return dict(kept.facts)

    def keep(self, key: Key, file: Path, facts: Mapping[str, Any]) -> None:
        """Keep a decoded file, which nobody changes from now on."""
        with contextlib.suppress(OSError):  # then it is decoded again
            size_bytes = file.stat().st_size
            if size_bytes > MAX_FILE_BYTES:
                return
            folder = self._temp_dir() / FOLDER_NAME
            folder.mkdir(mode=0o700, exist_ok=True)
            path = folder / uuid.uuid4().hex
            _lay(file, path)
            with self._lock:
                self._drop(key)
                self._kept[key] = _Kept(path, size_bytes, dict(facts), time.monotonic())
                self._drop_old()
                self._watch()

    def clear(self) -> None:
        """Remove all of it."""
        with self._lock:
            for key in tuple(self._kept):
                self._drop(key)
            self._watch()

    def _drop_old(self) -> None:
        oldest = time.monotonic() - MAX_AGE_S
        while self._kept:
            first = next(iter(self._kept))
            total = sum(kept.size_bytes for kept in self._kept.values())
            is_over = len(self._kept) > MAX_FILES or total > MAX_TOTAL_BYTES
            if not is_over and self._kept[first].used_at > oldest:
                return
            self._drop(first)

    def _drop(self, key: Key) -> None:
        kept = self._kept.pop(key, None)
        if kept is not None:
            with contextlib.suppress(OSError):
                kept.path.unlink()

    def _watch(self) -> None:
        """Look again when the first is too old, although nobody may ask until then."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._kept:
            first = next(iter(self._kept.values()))
            wait_s = max(0.0, first.used_at + MAX_AGE_S - time.monotonic()) + 1.0
            self._timer = threading.Timer(wait_s, self._look)
            self._timer.daemon = True
            self._timer.start()

    def _look(self) -> None:
        with self._lock:
            self._drop_old()
            self._watch()


def _lay(source: Path, target: Path) -> None:
    """The same file under another name, or a copy where a disk knows no such thing."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)
