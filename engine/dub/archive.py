"""The finished files of a batch as one ZIP, written piece by piece to disk."""

import csv
import io
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.contracts import JobStatus
from engine.errors import ErrorCode
from engine.messages import Message, describe

TABLE_NAME = "contents.csv"

# Kinds of artifacts that belong into it, with their endings.
KINDS = {"video": "mp4", "srt": "srt", "vtt": "vtt"}


@dataclass(frozen=True)
class TableWords:
    """The words of the table of contents, in one language.

    Attributes:
        heads: of name, language, state and files.
        states: of a row's job.
        gone: state of a row whose job was deleted.
        explain: says why there is no job.
    """

    heads: tuple[str, str, str, str]
    states: Mapping[JobStatus, str]
    gone: str
    explain: Callable[[ErrorCode, dict[str, object]], Message]


ENGLISH = TableWords(
    heads=("name", "language", "state", "files"),
    states={status: status.value for status in JobStatus} | {JobStatus.SUCCEEDED: "ready"},
    gone="deleted",
    explain=describe,
)


@dataclass(frozen=True)
class Entry:
    """One row of a batch.

    Attributes:
        stem: what its files are called.
        name, language: as asked.
        state: that it is ready, or why there is no video, in a word or a sentence.
        files: the finished ones by their ending.
    """

    stem: str
    name: str
    language: str
    state: str
    files: dict[str, Path]


def write_archive(target: Path, entries: Sequence[Entry], words: TableWords = ENGLISH) -> None:
    """Write videos, captions and a table of what is inside.

    Videos are stored as they are, because they are compressed already; a megabyte at a time is
    in memory.

    Args:
        target: the ZIP; appears when it is complete.
        entries: in the order of the rows.
        words: of the table.

    Raises:
        OSError: nothing is left behind.
    """
    part = target.with_name(target.name + ".part")
    try:
        with zipfile.ZipFile(part, "w", zipfile.ZIP_STORED) as archive:
            for name, path in _files(entries):
                archive.write(path, name)
            # Excel takes a CSV for UTF-8 only when it begins with this mark.
            archive.writestr(TABLE_NAME, "\ufeff" + contents_table(entries, words))
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def contents_table(entries: Sequence[Entry], words: TableWords = ENGLISH) -> str:
    """What is inside, and what is not and why, as CSV."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(words.heads)
    for entry in entries:
        files = " ".join(f"{entry.stem}.{ending}" for ending in entry.files)
        writer.writerow(map(_harmless, (entry.name, entry.language, entry.state, files)))
    return text.getvalue()


def _files(entries: Sequence[Entry]) -> Iterator[tuple[str, Path]]:
    for entry in entries:
        for ending, path in entry.files.items():
            yield f"{entry.stem}.{ending}", path


def _harmless(cell: str) -> str:
    """A cell that no spreadsheet takes for a formula."""
    return f"'{cell}" if cell[:1] in ("=", "+", "-", "@", "\t", "\r") else cell
