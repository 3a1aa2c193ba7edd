"""The boxes an MP4 is made of: put tags into one and read them back, media bytes untouched.

Tags lie in `moov/meta` with named keys, as phones write theirs; XMP lies in a box of its own at
the end. Only what is needed for files of ours; a strange file can at worst be refused.
"""

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

XMP_ID = bytes.fromhex("be7acfcb97a942e89c71999491e3afac")
C2PA_ID = bytes.fromhex("d8fec3d61b0e483c92975828877ec481")

MAX_BOXES = 10_000
MAX_INDEX_BYTES = 200_000_000
"""The index of a day of video is far below."""
MAX_XMP_BYTES = 10_000_000
PIECE_BYTES = 1_000_000

_UTF8 = 1
_TO_CHUNKS = (b"trak", b"mdia", b"minf", b"stbl")


class NotAnMp4(ValueError):
    """The boxes of a file do not add up."""


@dataclass(frozen=True)
class _Box:
    name: bytes
    start: int
    header: int
    size: int
    extended: bytes = b""

    @property
    def end(self) -> int:
        return self.start + self.size


def write_tags(source: Path, target: Path, tags: Mapping[str, str], xmp: bytes) -> None:
    """Copy an MP4 and add tags and XMP; those written before by us are replaced.

    Raises:
        NotAnMp4: the file is none, or is in fragments.
    """
    with source.open("rb") as reading, target.open("wb") as writing:
        boxes = list(_top_boxes(reading))
        if not any(box.name == b"moov" for box in boxes):
            raise NotAnMp4("there is no index")
        kept = [box for box in boxes if box.extended not in (XMP_ID, C2PA_ID)]
        index = next(box for box in kept if box.name == b"moov")
        old = _content(reading, index, MAX_INDEX_BYTES)
        meta = _meta_box(tags)
        inner = b"".join(part for name, part in _inner_boxes(old) if name != b"meta")
        moves, position = [], 0
        for box in kept:
            moves.append((box.start, box.end, position - box.start))
            position += len(inner) + len(meta) + 8 if box is index else box.size
        moved = _with_moved_chunks(inner, moves)
        for box in kept:
            if box is index:
                writing.write(_box(b"moov", moved + meta))
            else:
                reading.seek(box.start)
                _copy(reading, writing, box.size)
        writing.write(_box(b"uuid", XMP_ID + xmp))


def read_tags(path: Path) -> tuple[dict[str, str], bytes | None]:
    """The named tags of an MP4 and its XMP, None where there is none.

    Raises:
        NotAnMp4: the boxes do not add up.
    """
    tags: dict[str, str] = {}
    xmp = None
    with path.open("rb") as file:
        for box in _top_boxes(file):
            if box.name == b"moov":
                for name, part in _inner_boxes(_content(file, box, MAX_INDEX_BYTES)):
                    if name == b"meta":
                        tags.update(_tags_in(part[8:]))
            elif box.extended == XMP_ID:
                xmp = _content(file, box, MAX_XMP_BYTES)[16:]
    return tags, xmp


def _top_boxes(file: BinaryIO) -> Iterator[_Box]:
    file.seek(0, 2)
    end, start = file.tell(), 0
    for _ in range(MAX_BOXES):
        if start == end:
            return
        file.seek(start)
        head = file.read(32)
        if len(head) < 8:
            raise NotAnMp4("a box is cut off")
        size, header = int.from_bytes(head[:4], "big"), 8
        if size == 1:
            size, header = int.from_bytes(head[8:16], "big"), 16
        elif size == 0:
            size = end - start
        if size < header or start + size > end:
            raise NotAnMp4("a box is longer than its file")
        name = head[4:8]
        extended = head[header : header + 16] if name == b"uuid" else b""
        yield _Box(name, start, header, size, extended)
        start += size
    raise NotAnMp4("too many boxes")


def _inner_boxes(content: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Name and bytes, header included, of the boxes inside another."""
    start = 0
    while start + 8 <= len(content):
        size = int.from_bytes(content[start : start + 4], "big")
        if size < 8 or start + size > len(content):
            raise NotAnMp4("a box is longer than the one around it")
        yield content[start + 4 : start + 8], content[start : start + size]
        start += size


def _content(file: BinaryIO, box: _Box, limit: int) -> bytes:
    if box.size > limit:
        raise NotAnMp4("a box is too long")
    file.seek(box.start + box.header)
    return file.read(box.size - box.header)


def _copy(reading: BinaryIO, writing: BinaryIO, size: int) -> None:
    end = reading.tell() + size
    while (left := end - reading.tell()) > 0:
        piece = reading.read(min(left, PIECE_BYTES))
        if not piece:
            raise NotAnMp4("the file became shorter")
        writing.write(piece)


def _box(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I4s", len(content) + 8, name) + content


def _meta_box(tags: Mapping[str, str]) -> bytes:
    """Named tags: who handles them, the list of names, the list of values."""
    handler = _box(b"hdlr", bytes(8) + b"mdta" + bytes(13))
    names = b"".join(_box(b"mdta", name.encode()) for name in tags)
    keys = _box(b"keys", struct.pack(">II", 0, len(tags)) + names)
    values = b"".join(
        struct.pack(">II", len(data) + 8, number) + data
        for number, data in enumerate(map(_value, tags.values()), start=1)
    )
    return _box(b"meta", handler + keys + _box(b"ilst", values))


def _value(text: str) -> bytes:
    return _box(b"data", struct.pack(">II", _UTF8, 0) + text.encode())


def _tags_in(meta: bytes) -> dict[str, str]:
    """What `_meta_box` wrote, without its header."""
    inner = dict(_inner_boxes(meta))
    if b"keys" not in inner or b"ilst" not in inner:
        return {}
    names = [part[8:].decode("utf-8", "replace") for _, part in _inner_boxes(inner[b"keys"][16:])]
    found = {}
    for number, part in _inner_boxes(inner[b"ilst"][8:]):
        place = int.from_bytes(number, "big") - 1
        if 0 <= place < len(names):
            found[names[place]] = part[24:].decode("utf-8", "replace")
    return found


def _with_moved_chunks(content: bytes, moves: list[tuple[int, int, int]]) -> bytes:
    """An index whose places of the media follow where the boxes around them went."""
    parts = []
    for name, part in _inner_boxes(content):
        if name in _TO_CHUNKS:
            parts.append(_box(name, _with_moved_chunks(part[8:], moves)))
        elif name in (b"stco", b"co64"):
            parts.append(_moved_table(part, ">I" if name == b"stco" else ">Q", moves))
        else:
            parts.append(part)
    return b"".join(parts)


def _moved_table(table: bytes, kind: str, moves: list[tuple[int, int, int]]) -> bytes:
    width = struct.calcsize(kind)
    count = int.from_bytes(table[12:16], "big")
    places = struct.unpack(f">{count}{kind[1]}", table[16 : 16 + count * width])
    try:
        moved = [place + _shift(place, moves) for place in places]
        return table[:16] + struct.pack(f">{count}{kind[1]}", *moved)
    except struct.error as error:
        raise NotAnMp4("the file is too long for its index") from error


def _shift(place: int, moves: list[tuple[int, int, int]]) -> int:
    for start, end, shift in moves:
        if start <= place < end:
            return shift
    raise NotAnMp4("the index points outside of the file")
