"""The table of a batch as people bring it: CSV, JSON, or cells pasted from a spreadsheet. Pure.

Columns are known by their names, in any order and in capitals or not. Rows that are empty are
left out; whether a row can be made is not judged here.
"""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from engine.contracts import BatchRow
from engine.errors import ErrorCode, InputError

COLUMNS = ("name", "language", "voice", "text", "audio", "speed")

_ALIASES = {
    "name": {"name", "title", "file", "filename", "id"},
    "language": {"language", "lang", "locale", "language code"},
    "voice": {"voice", "speaker"},
    "text": {"text", "script", "words", "transcript"},
    "audio": {"audio", "recording", "sound", "audio file"},
    "speed": {"speed", "rate"},
}
_MARKS = ("\t", ";", ",")

# A cell that is longer is a whole file by mistake; no text may be as long (`max_text_characters`).
_MAX_CELL = 1_000_000

MAX_TABLE_BYTES = 20_000_000
"""Longer than 50 rows of the longest text; nobody's table of scripts."""


def read_table(data: bytes) -> tuple[BatchRow, ...]:
    """The rows of a CSV or JSON file.

    Args:
        data: of the file, in UTF-8, or UTF-16 with its mark as Excel's "Unicode text".

    Raises:
        InputError: TABLE_UNREADABLE, TABLE_NOT_TEXT, TABLE_TOO_LARGE, TABLE_NAMELESS, TABLE_CELL,
            TABLE_EMPTY.
    """
    if len(data) > MAX_TABLE_BYTES:
        raise InputError(ErrorCode.TABLE_TOO_LARGE, limit_mb=MAX_TABLE_BYTES // 1_000_000)
    text = _decode(data)
    if text.lstrip()[:1] in ("[", "{"):
        return _checked(_json_rows(text))
    return _checked(_csv_rows(text))


def read_pasted(text: str) -> tuple[BatchRow, ...]:
    """Rows of cells that were copied from a spreadsheet, with or without names above them.

    Without names, two columns are language and text; three have the name before, four the name,
    the language, the voice and the text.

    Raises:
        InputError: as `read_table`.
    """
    if text.lstrip()[:1] in ("[", "{"):
        return _checked(_json_rows(text))
    lines = _lines(text)
    header = _header(lines[0]) if lines else []
    if any(header):
        return _checked(_under(header, lines[1:]))
    widest = max((len(line) for line in lines), default=0)
    known = {
        1: ("text",),
        2: ("language", "text"),
        3: ("name", "language", "text"),
        4: ("name", "language", "voice", "text"),
    }.get(widest)
    if known is None and lines:
        raise InputError(ErrorCode.TABLE_NAMELESS)
    return _checked(_under(list(known or ()), lines))


def _decode(data: bytes) -> str:
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        return data.decode(encoding)
    except UnicodeDecodeError:
        raise InputError(ErrorCode.TABLE_NOT_TEXT) from None


def _csv_rows(text: str) -> list[Mapping[str, Any]]:
    lines = _lines(text)
    header = _header(lines[0]) if lines else []
    if lines and not {"text", "audio"} & set(header):
        raise InputError(ErrorCode.TABLE_NAMELESS)
    return _under(header, lines[1:])


def _lines(text: str) -> list[list[str]]:
    """The cells, row by row; empty rows are left out."""
    if "\0" in text:
        raise InputError(ErrorCode.TABLE_NOT_TEXT)
    first, _, rest = text.partition("\n")
    mark = _mark_of(first)
    if first.strip().lower().startswith("sep=") and len(first.strip()) == len("sep=") + 1:
        mark, text = first.strip()[-1], rest  # how Excel says what stands between the cells
    csv.field_size_limit(_MAX_CELL)
    try:
        lines = list(csv.reader(io.StringIO(text, newline=""), delimiter=mark, strict=True))
    except csv.Error:
        raise InputError(ErrorCode.TABLE_UNREADABLE) from None
    return [line for line in lines if any(cell.strip() for cell in line)]


def _mark_of(first_line: str) -> str:
    """What stands between cells: of tab, semicolon and comma the one that finds most columns."""
    counts = {mark: sum(map(bool, _header(first_line.split(mark)))) for mark in _MARKS}
    found = max(_MARKS, key=lambda mark: counts[mark])
    return found if counts[found] else next((m for m in _MARKS if m in first_line), ",")


def _header(cells: Sequence[str]) -> list[str]:
    """The columns these cells name, empty where one names none."""
    plain = [cell.strip().strip('"').strip().lower().replace("_", " ") for cell in cells]
    return [
        next((column for column, names in _ALIASES.items() if name in names), "") for name in plain
    ]


def _under(header: Sequence[str], lines: Sequence[Sequence[str]]) -> list[Mapping[str, Any]]:
    return [
        {column: cell for column, cell in zip(header, line, strict=False) if column}
        for line in lines
    ]


def _json_rows(text: str) -> list[Mapping[str, Any]]:
    try:
        read = json.loads(text)
    except (ValueError, RecursionError):
        raise InputError(ErrorCode.TABLE_UNREADABLE) from None
    rows = read.get("rows") if isinstance(read, dict) else read
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise InputError(ErrorCode.TABLE_UNREADABLE)
    return [
        {column: value for key, value in row.items() if (column := _header([str(key)])[0])}
        for row in rows
    ]


def _checked(rows: Sequence[Mapping[str, Any]]) -> tuple[BatchRow, ...]:
    if not rows:
        raise InputError(ErrorCode.TABLE_EMPTY)
    return tuple(_row(number, row) for number, row in enumerate(rows, start=1))


def _row(number: int, given: Mapping[str, Any]) -> BatchRow:
    kept: dict[str, Any] = {}
    for column, value in given.items():
        cell = "" if value is None else str(value).strip()
        if cell:
            kept[column] = cell.replace(",", ".") if column == "speed" else cell
    if "language" in kept:
        kept["language"] = kept["language"].lower().replace("_", "-")
    try:
        return BatchRow(**kept)
    except ValidationError as error:
        column = str(error.errors()[0]["loc"][0])
        raise InputError(ErrorCode.TABLE_CELL, row=number, column=column) from None
