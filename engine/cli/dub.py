"""`dub`: one photo speaks every row of a table; what is there already is not made again."""

import argparse
import contextlib
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from engine.api import StudioEngine
from engine.cli.options import (
    EXIT_OK,
    EXIT_OURS,
    EXIT_USER,
    OUR_FAULTS,
    add_command,
    add_render_options,
    existing_file,
    render_options,
)
from engine.contracts import (
    BatchPart,
    BatchRecord,
    BatchRequest,
    BatchRow,
    JobError,
    RenderOptions,
    utc_now,
)
from engine.dub.archive import KINDS
from engine.dub.delivery import Delivered, DeliveryFolder, fingerprint_of
from engine.dub.names import file_stems
from engine.dub.table import read_table
from engine.errors import ErrorCode
from engine.messages import describe

ROWS_AT_ONCE = 20
"""Queued together; longer tables go on in turns, so that others find a place in the queue."""

_ABOUT_PHOTO = {
    ErrorCode.SEVERAL_FACES,
    ErrorCode.FACE_TURNED,
    ErrorCode.FACE_TOO_SMALL,
    ErrorCode.FACE_CUT_OFF,
    ErrorCode.LOW_RESOLUTION,
    ErrorCode.PHOTO_BLURRED,
    ErrorCode.PHOTO_TOO_DARK,
    ErrorCode.PHOTO_OVEREXPOSED,
    ErrorCode.MOUTH_COVERED,
    ErrorCode.FIRST_FRAME_USED,
}


def add_dub_commands(commands: Any) -> None:  # noqa: ANN401 - argparse has no public type for sub-parsers
    """Add `dub`."""
    dub = add_command(commands, "dub", _dub, "a photo and a table of texts become many videos")
    dub.add_argument("portrait", metavar="PORTRAIT", help="a picture file")
    dub.add_argument(
        "table",
        metavar="SCRIPTS",
        help="CSV or JSON with the columns name, language, voice, and text or audio",
    )
    add_render_options(dub, output="FOLDER")
    dub.set_defaults(captions="srt")


@dataclass(frozen=True)
class _Row:
    """One line of the table: its place, its content, what its files are called."""

    number: int
    asked: BatchRow
    stem: str
    fingerprint: str

    @property
    def label(self) -> str:
        """How a message names it."""
        told = ", ".join(filter(None, (self.asked.name, self.asked.language)))
        return f"Row {self.number} ({told})" if told else f"Row {self.number}"


def _dub(engine: StudioEngine, arguments: argparse.Namespace) -> int:
    portrait = existing_file(arguments.portrait)
    options = render_options(arguments)
    asked = _read_rows(existing_file(arguments.table))
    folder = DeliveryFolder(Path(arguments.output).expanduser().absolute())
    stems = file_stems((row.name, row.language) for row in asked)
    rows = [
        _Row(number, row, stem, fingerprint_of(portrait, row, options))
        for number, (row, stem) in enumerate(zip(asked, stems, strict=True), start=1)
    ]
    told = _Telling(folder, as_json=arguments.json)
    pending = [row for row in rows if not told.kept(row)]
    at_once = min(ROWS_AT_ONCE, engine.settings.max_batch_rows, engine.settings.max_queued_jobs)
    with told.showing(len(rows)):
        for first in range(0, len(pending), at_once):
            chunk = pending[first : first + at_once]
            _make(engine, (portrait, options, arguments.label_language), chunk, told)
    return told.finish()


def _read_rows(path: str) -> tuple[BatchRow, ...]:
    """The rows of a table; recordings are named from where the table lies."""
    table = Path(path)
    rows = []
    for row in read_table(table.read_bytes()):
        audio = None if row.audio is None else str(table.parent / Path(row.audio).expanduser())
        rows.append(row.model_copy(update={"audio": audio}))
    return tuple(rows)


def _make(
    engine: StudioEngine,
    look: tuple[str, RenderOptions, str],
    rows: Sequence[_Row],
    told: "_Telling",
) -> None:
    """Make some rows as one batch and deliver each as soon as it is there.

    Args:
        engine: makes them.
        look: the portrait, the choices about the picture, the language of the label.
        rows: what is said in each.
        told: delivers and tells.
    """
    portrait, options, label_language = look
    request = BatchRequest(
        portrait=portrait,
        rows=tuple(row.asked for row in rows),
        options=options,
        consent=True,  # a command-line call counts as the statement
        title=Path(portrait).stem,
        label_language=label_language,
    )
    began = utc_now()
    # The same rows after a crash of this command: their jobs are in the queue still.
    key = "dub:" + "".join(row.fingerprint[:8] for row in rows)
    batch = engine.batches.submit(request, idempotency_key=key)
    try:
        if _is_older(batch, began):
            batch = engine.batches.retry(batch.batch_id)
        open_rows = dict(enumerate(rows))

        def settle(now: BatchRecord) -> None:
            for index, part in enumerate(now.parts):
                if part.is_final and index in open_rows:
                    told.ended(engine, open_rows.pop(index), part)
            told.show(now)

        engine.batches.wait(batch.batch_id, settle)
    finally:
        engine.batches.delete(batch.batch_id)


def _is_older(batch: BatchRecord, began: datetime) -> bool:
    return batch.created_at < began


class _Telling:
    """Delivers rows and tells what became of each.

    Args:
        folder: where the files go.
        as_json: one object at the end instead of a line for each row.
    """

    def __init__(self, folder: DeliveryFolder, *, as_json: bool) -> None:
        self._folder = folder
        self._as_json = as_json
        self._rows: dict[int, dict[str, Any]] = {}
        self._codes: list[ErrorCode] = []
        self._told_of_photo: set[str] = set()
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            disable=not sys.stderr.isatty(),
            transient=True,
        )
        self._task = self._bar.add_task("Starting", total=100)
        self._whole = 0

    @contextlib.contextmanager
    def showing(self, num_rows: int) -> Iterator[None]:
        """Draw the progress of this many rows, on a terminal only."""
        self._whole = num_rows
        with self._bar:
            yield

    def show(self, batch: BatchRecord) -> None:
        """Draw how far a batch is."""
        ended = sum(part.is_final for part in batch.parts)
        done = len(self._rows) - ended + len(batch.parts) * batch.percent / 100
        words = f"Row {min(len(self._rows) + 1, self._whole)} of {self._whole}"
        self._bar.update(self._task, description=words, completed=100 * done / self._whole)

    def kept(self, row: _Row) -> bool:
        """Whether a row was delivered before from the same inputs."""
        delivered = self._folder.find(row.stem, row.fingerprint)
        if delivered is None:
            return False
        self._note_delivered(row, delivered, "kept")
        return True

    def ended(self, engine: StudioEngine, row: _Row, part: BatchPart) -> None:
        """Deliver a row that has ended, or tell why it cannot be."""
        if part.job is None or not part.is_ready:
            self._note_fault(row, part.fault or JobError(code=ErrorCode.CANCELED))
            return
        job = part.job
        kinds = {item.kind for item in job.artifacts}
        sources = {
            ending: engine.artifact_path(job.job_id, kind)
            for kind, ending in KINDS.items()
            if kind in kinds and (kind == "video" or job.spec.options.captions != "off")
        }
        delivered = self._folder.deliver(row.stem, row.fingerprint, sources, job.report)
        for code in job.report.get("notes", ()):
            message = describe(ErrorCode(code), job.report.get("note_values"))
            self._note(row, ErrorCode(code), f"{message.sentence} {message.hint}")
        self._note_delivered(row, delivered, "made")

    def finish(self) -> int:
        """Sum up.

        Returns:
            The exit code: 0 when every row is there, 1 when one failed by our fault, else 2.
        """
        rows = [self._rows[number] for number in sorted(self._rows)]
        counts = {
            state: sum(row["state"] == state for row in rows)
            for state in ("made", "kept", "failed")
        }
        if self._as_json:
            summary = {"folder": str(self._folder.path), **counts, "rows": rows}
            print(json.dumps(summary, ensure_ascii=False))
        else:
            there = counts["made"] + counts["kept"]
            print(f"{there} of {len(rows)} videos are in {self._folder.path}")
        if not self._codes:
            return EXIT_OK
        return EXIT_OURS if OUR_FAULTS.intersection(self._codes) else EXIT_USER

    def _note_delivered(self, row: _Row, delivered: Delivered, state: str) -> None:
        self._rows[row.number] = {
            **_facts(row),
            "state": state,
            "video": str(delivered.files[0]),
            "artifacts": [str(path) for path in delivered.files],
            "report": delivered.report,
        }
        name, report = delivered.files[0].name, delivered.report
        if state == "kept":
            self._say(f"{name} was made before.")
        else:
            lengths = f"{report['duration_s']:.1f} s of video in {report['elapsed_s']:.1f} s"
            self._say(f"{name} ({lengths})")

    def _note(self, row: _Row, code: ErrorCode, line: str) -> None:
        """Tell what is worth knowing: of a row, or once of the photo they share."""
        if code not in _ABOUT_PHOTO:
            self._say(f"{row.label}: {line}", is_fault=True)
        elif line not in self._told_of_photo:
            self._told_of_photo.add(line)
            self._say(line, is_fault=True)

    def _note_fault(self, row: _Row, fault: JobError) -> None:
        message = describe(fault.code, fault.values)
        body = {"code": fault.code, "message": message.sentence, "hint": message.hint}
        self._codes.append(fault.code)
        self._rows[row.number] = {**_facts(row), "state": "failed", "error": body}
        self._say(f"{row.label}: {message.sentence} {message.hint}", is_fault=True)

    def _say(self, line: str, *, is_fault: bool = False) -> None:
        if is_fault:
            print(line, file=sys.stderr, flush=True)
        elif not self._as_json:
            print(line, flush=True)


def _facts(row: _Row) -> dict[str, Any]:
    return {"row": row.number, "name": row.asked.name, "language": row.asked.language}
