"""Checking a spoken WAV, ours or not: do its tags and its manifest say that AI made it."""

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from engine.contracts import LabelCheck
from engine.errors import ErrorCode
from engine.provenance.metadata import parse_aigc
from engine.provenance.sound_seal import read_sound_seal

_MAX_CHUNKS = 1000
_MAX_READ_BYTES = 100_000
"""Of a list of tags or a description of the sound; ours take a few hundred."""

_CHUNK_HEAD = struct.Struct("<4sI")


def is_wav(path: Path) -> bool:
    """Whether a file begins as a WAV does."""
    with path.open("rb") as file:
        head = file.read(12)
    return head[:4] == b"RIFF" and head[8:] == b"WAVE"


def check_sound(wav: Path, anchor_pem: str | None = None) -> LabelCheck:
    """Read every label of a sound file; there are no words to be seen and no XMP in one.

    Args:
        wav: any file that begins as a WAV.
        anchor_pem: certificate of this installation, None when it has none yet.
    """
    manifest = read_sound_seal(wav, anchor_pem)
    duration_s, comment = _look(wav)
    _, _, fields = comment.partition("{")
    aigc = parse_aigc("{" + fields)
    problems = [ErrorCode.AIGC_MISSING] if aigc is None else []
    problems += manifest.problems
    return LabelCheck(
        ok=not problems,
        problems=tuple(code.value for code in problems),
        duration_s=round(duration_s, 3),
        aigc=aigc,
        manifest=manifest.state,
        manifest_faults=manifest.faults,
        says_ai=manifest.says_ai,
        signer=manifest.signer,
        signed_here=manifest.is_own,
        facts=manifest.proven_facts,
    )


def _look(wav: Path) -> tuple[float, str]:
    """Length in seconds and comment; 0 and nothing where the file does not tell."""
    bytes_per_s, sound_bytes, comment = 0, 0, ""
    with wav.open("rb") as file:
        file.seek(12)
        for name, length in _chunks(file):
            if name == b"data":
                sound_bytes = length
            elif name == b"fmt ":
                described = file.read(min(length, 16))
                bytes_per_s = int.from_bytes(described[8:12], "little")
            elif name == b"LIST":
                comment = _comment_in(file.read(min(length, _MAX_READ_BYTES))) or comment
    return (sound_bytes / bytes_per_s if bytes_per_s else 0.0), comment


def _chunks(file: BinaryIO) -> Iterator[tuple[bytes, int]]:
    """Name and length of each chunk, the file at the beginning of its content."""
    for _ in range(_MAX_CHUNKS):
        head = file.read(_CHUNK_HEAD.size)
        if len(head) < _CHUNK_HEAD.size:
            return
        name, length = _CHUNK_HEAD.unpack(head)
        begin = file.tell()
        yield name, length
        file.seek(begin + length + length % 2)


def _comment_in(tags: bytes) -> str:
    """The comment in a list of texts."""
    at = 4  # behind the word INFO
    while tags[:4] == b"INFO" and at + _CHUNK_HEAD.size <= len(tags):
        name, length = _CHUNK_HEAD.unpack_from(tags, at)
        at += _CHUNK_HEAD.size
        if name == b"ICMT":
            return tags[at : at + length].rstrip(b"\0").decode("utf-8", errors="replace")
        at += length + length % 2
    return ""
