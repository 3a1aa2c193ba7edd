"""The folder a dub is delivered into, and what of it need not be made again.

Beside the videos lies `dub.json`, which tells from which inputs each was made; a row is made
again only when one of them has changed or a file is gone.
"""

import contextlib
import hashlib
import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.contracts import BatchRow, RenderOptions
from engine.errors import ErrorCode, InputError
from engine.worker.quick import no_room

BOOK_NAME = "dub.json"
BOOK_VERSION = 1


@dataclass(frozen=True)
class Delivered:
    """What the folder holds of one row.

    Attributes:
        files: paths, the video first.
        report: the numbers of `animate --json`.
    """

    files: tuple[Path, ...]
    report: dict[str, Any]


class DeliveryFolder:
    """Finished rows in a folder of the person.

    Args:
        path: the folder; made when missing.

    Raises:
        InputError: OUTPUT_NOT_WRITABLE.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            path.mkdir(exist_ok=True)
        except OSError:
            raise InputError(ErrorCode.OUTPUT_NOT_WRITABLE) from None
        if not os.access(path, os.W_OK):
            raise InputError(ErrorCode.OUTPUT_NOT_WRITABLE)
        self._rows = self._read_book()

    def find(self, stem: str, fingerprint: str) -> Delivered | None:
        """What was delivered of a row, None when it has to be made.

        Args:
            stem: what its files are called.
            fingerprint: of its inputs.
        """
        known = self._rows.get(stem)
        if not isinstance(known, dict) or known.get("inputs") != fingerprint:
            return None
        sizes: dict[str, int] = known.get("files", {})
        for name, size_bytes in sizes.items():
            path = self.path / Path(name).name
            if not path.is_file() or path.stat().st_size != size_bytes:
                return None
        files = tuple(self.path / Path(name).name for name in sizes)
        return Delivered(files, known.get("report", {})) if files else None

    def deliver(
        self, stem: str, fingerprint: str, sources: Mapping[str, Path], report: dict[str, Any]
    ) -> Delivered:
        """Copy the files of a row into the folder, each whole or not at all, and write it down.

        Args:
            stem: what they are called.
            fingerprint: of the row's inputs.
            sources: the files by their ending, the video first.
            report: the numbers of the video.

        Raises:
            EngineError: DISK_FULL or OUTPUT_NOT_WRITABLE.
        """
        files = []
        try:
            for ending, source in sources.items():
                place = self.path / f"{stem}.{ending}"
                part = place.with_name(place.name + ".part")
                try:
                    shutil.copyfile(source, part)
                    part.replace(place)
                finally:
                    part.unlink(missing_ok=True)
                files.append(place)
            sizes = {path.name: path.stat().st_size for path in files}
            self._rows[stem] = {"inputs": fingerprint, "files": sizes, "report": report}
            self._write_book()
        except OSError as error:
            raise no_room(error) from error
        return Delivered(tuple(files), report)

    def _read_book(self) -> dict[str, Any]:
        with contextlib.suppress(OSError, ValueError, AttributeError):
            book = json.loads((self.path / BOOK_NAME).read_text("utf-8"))
            if book.get("version") == BOOK_VERSION and isinstance(book.get("rows"), dict):
                return dict(book["rows"])
        return {}

    def _write_book(self) -> None:
        book = {"version": BOOK_VERSION, "rows": self._rows}
        part = self.path / f"{BOOK_NAME}.part"
        part.write_text(json.dumps(book, ensure_ascii=False, indent=1), "utf-8")
        part.replace(self.path / BOOK_NAME)


def fingerprint_of(portrait: str, row: BatchRow, options: RenderOptions) -> str:
    """One word for everything a video is made from; a file that is missing counts as empty.

    Args:
        portrait: path of the picture.
        row: what is said.
        options: about the picture.
    """
    said = row.model_dump(mode="json", exclude={"audio", "name"})
    recording = _hash_of(row.audio) if row.audio is not None else None
    inputs = [_hash_of(portrait), recording, said, options.model_dump(mode="json")]
    return hashlib.sha256(json.dumps(inputs, sort_keys=True).encode()).hexdigest()


def _hash_of(path: str) -> str:
    try:
        with Path(path).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""
