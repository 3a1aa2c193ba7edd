"""Names of files by what is in them: a file that comes again, or under another name, is known."""

import hashlib
import stat
import threading
import time
from collections import OrderedDict
from pathlib import Path

MAX_READ_BYTES = 64 * 2**20
"""Larger files are named by where they lie and when they were written: reading them takes long."""

MAX_MEMORY = 256

SETTLED_S = 2.0
"""A file written less long ago is read again: two versions may bear the same time."""

CHUNK_BYTES = 2**20

_Signature = tuple[str, int, int, int, int]


class ContentNames:
    """Names files; one that did not change is read once. Thread-safe."""

    def __init__(self) -> None:
        self._known: OrderedDict[_Signature, str] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, path: Path) -> str | None:
        """The same for the same content only; None for what cannot be read."""
        try:
            facts = path.stat()
            if not stat.S_ISREG(facts.st_mode):
                return None
            times = facts.st_mtime_ns, facts.st_ctime_ns
            signature = (str(path), facts.st_size, *times, facts.st_ino)
            if facts.st_size > MAX_READ_BYTES:
                return repr(signature)
            with self._lock:
                known = self._known.get(signature)
            if known is not None:
                return known
            name = _digest(path)
        except OSError:
            return None
        if time.time() - max(times) / 1e9 > SETTLED_S:
            with self._lock:
                self._known[signature] = name
                while len(self._known) > MAX_MEMORY:
                    self._known.popitem(last=False)
        return name


def _digest(path: Path) -> str:
    digest = hashlib.blake2b(digest_size=20)
    with path.open("rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            digest.update(chunk)
    return digest.hexdigest()
