"""The folder of one set of weights: where each file lies, whether it is whole, what it should be.

`weights.lock.json` beside the files keeps what was fetched: commit, size and hash of each file.
It is written by `engine.weights.download`; a folder filled by hand has none.
"""

import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from engine.weights.catalog import find_set
from engine.weights.fault_messages import damaged, missing
from engine.weights.file_check import find_fault
from engine.weights.weight_files import WeightFile, WeightSet

LOCK_NAME = "weights.lock.json"
HASH_BLOCK_BYTES = 2**22

OnBytes = Callable[[int], None]


@dataclass(frozen=True)
class FetchedFile:
    """What is known of a file that was fetched.

    Attributes:
        repo: where it came from.
        commit: what its revision stood for then.
        size_bytes: of the content.
        sha256: of the content.
    """

    repo: str
    commit: str
    size_bytes: int
    sha256: str


@dataclass(frozen=True)
class FileStatus:
    """What `weights list`, `weights verify` and `doctor` tell of one file.

    Attributes:
        file: which.
        place: where it belongs, or where it was found.
        state: whether it can be used; `unverified` is whole as far as can be told, but no hash
            of it is known.
        detail: the end of a sentence about a damaged file, else empty.
        command: what fetches it.
    """

    file: WeightFile
    place: Path
    state: Literal["ok", "unverified", "missing", "damaged"]
    detail: str
    command: str

    @property
    def sentence(self) -> str:
        """What there is to say about it, with the place and, where it helps, the command."""
        words = {
            "ok": "is here",
            "unverified": "is here, but no hash of it is known",
            "missing": f"is missing ({self.file.size_words})",
            "damaged": f"cannot be used: {self.detail}",
        }[self.state]
        hint = "" if self.is_usable else f"; get it with `{self.command}`"
        return f"{self.file.path} {words}, in {self.place.parent}{hint}"

    @property
    def is_usable(self) -> bool:
        """Whether a run may start with it."""
        return self.state in ("ok", "unverified")


def find_file(file: WeightFile, folder: Path) -> Path | None:
    """Where a file of a set lies, at its own place or one that is accepted too."""
    places = (folder / place for place in (file.path, *file.also_named))
    return next((path for path in places if path.is_file()), None)


def locate(weight_set: WeightSet, file: WeightFile, folder: Path) -> Path:
    """Where a file lies that is there and looks whole.

    Raises:
        InputError: WEIGHTS_MISSING, WEIGHTS_MISPLACED or WEIGHTS_DAMAGED.
    """
    path = find_file(file, folder)
    if path is None:
        raise missing(weight_set, file, folder)
    if reason := find_fault(path):
        raise damaged(weight_set, file, folder, reason)
    return path


def require_whole(name: str, folder: Path) -> None:
    """Look at every file of a set without reading its tensors.

    Raises:
        InputError: about the first file that is missing or damaged.
    """
    weight_set = find_set(name)
    for file in weight_set.files:
        locate(weight_set, file, folder)


def examine(weight_set: WeightSet, folder: Path) -> list[FileStatus]:
    """What is there, told from names, sizes and headers; takes milliseconds."""
    lock = read_lock(folder)
    return [_status(weight_set, file, folder, lock, None) for file in weight_set.files]


def verify(
    weight_set: WeightSet, folder: Path, on_bytes: OnBytes = lambda _count: None
) -> list[FileStatus]:
    """The same, but every byte is read and compared with the known hash.

    Args:
        weight_set: what should be there.
        folder: where.
        on_bytes: told how many more bytes were read; may raise to stop.
    """
    lock = read_lock(folder)
    return [_status(weight_set, file, folder, lock, on_bytes) for file in weight_set.files]


def _status(
    weight_set: WeightSet,
    file: WeightFile,
    folder: Path,
    lock: dict[str, FetchedFile],
    on_bytes: OnBytes | None,
) -> FileStatus:
    path = find_file(file, folder)
    if path is None:
        return FileStatus(file, folder / file.path, "missing", "", weight_set.command)
    reason = find_fault(path)
    own = path == folder / file.path
    fetched = lock.get(file.path) if own else None
    sha256 = fetched.sha256 if fetched else file.sha256 if own else None
    if reason is None and fetched and path.stat().st_size != fetched.size_bytes:
        reason = f"it has {path.stat().st_size:,} bytes instead of {fetched.size_bytes:,}"
    if reason is None and on_bytes and sha256 and hash_file(path, on_bytes) != sha256:
        reason = "its content changed since it was published"
    if reason:
        return FileStatus(file, path, "damaged", reason, weight_set.command)
    state: Literal["ok", "unverified"] = "ok" if sha256 else "unverified"
    return FileStatus(file, path, state, "", weight_set.command)


def hash_file(path: Path, on_bytes: OnBytes = lambda _count: None) -> str:
    """SHA-256 of a file's content, read in blocks."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while block := stream.read(HASH_BLOCK_BYTES):
            digest.update(block)
            on_bytes(len(block))
    return digest.hexdigest()


def read_lock(folder: Path) -> dict[str, FetchedFile]:
    """What was fetched into a folder, by path; empty when nothing is known."""
    try:
        entries = json.loads((folder / LOCK_NAME).read_text("utf-8"))
        return {path: FetchedFile(**entry) for path, entry in entries.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def write_lock(folder: Path, lock: dict[str, FetchedFile]) -> None:
    """Keep what was fetched; a reader never sees half of it."""
    part = folder / f"{LOCK_NAME}.part"
    content = {path: asdict(entry) for path, entry in sorted(lock.items())}
    with part.open("w", encoding="utf-8") as stream:
        json.dump(content, stream, indent=1)
        stream.flush()
        os.fsync(stream.fileno())
    part.replace(folder / LOCK_NAME)
