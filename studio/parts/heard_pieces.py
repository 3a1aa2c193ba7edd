"""A preview of a voice on the page: heard from its first piece on, going on with every other."""

import base64
import html
import io
import itertools
import wave
from collections.abc import Sequence
from dataclasses import dataclass

from studio.locales import say

_NUMBERS = itertools.count()


@dataclass(frozen=True)
class Piece:
    """The sound of one piece, mono; `number` tells one preview from the next."""

    number: int
    frames: bytes
    width_bytes: int
    rate_hz: int

    @property
    def duration_s(self) -> float:
        """Length of the sound in seconds."""
        return len(self.frames) / self.width_bytes / self.rate_hz


def read_piece(wav: bytes) -> Piece:
    """A piece out of its WAV."""
    with wave.open(io.BytesIO(wav), "rb") as file:
        frames = file.readframes(file.getnframes())
        return Piece(next(_NUMBERS), frames, file.getsampwidth(), file.getframerate())


def first_html(first: Piece) -> str:
    """A player that begins with the first piece at once."""
    label = html.escape(say("voice.preview_label"))
    return (
        f'<audio class="player" controls autoplay src="{_address([first])}" '
        f'data-number="{first.number}" aria-label="{label}"></audio>'
    )


def so_far_html(pieces: Sequence[Piece]) -> str:
    """All that is there, for the player to go on with; empty when that is the first piece."""
    if len(pieces) < 2:
        return ""
    until_s = sum(piece.duration_s for piece in pieces)
    return (
        f'<span hidden data-sound="{_address(pieces)}" data-until="{until_s:.3f}" '
        f'data-number="{pieces[0].number}"></span>'
    )


def _address(pieces: Sequence[Piece]) -> str:
    """The pieces as one sound inside an address."""
    target = io.BytesIO()
    with wave.open(target, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(pieces[0].width_bytes)
        file.setframerate(pieces[0].rate_hz)
        file.writeframes(b"".join(piece.frames for piece in pieces))
    return "data:audio/wav;base64," + base64.b64encode(target.getvalue()).decode()
