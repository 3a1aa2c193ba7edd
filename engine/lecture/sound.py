"""The sound of a whole lecture, block by block: the sections after each other, music behind them.

Music is lowered while somebody speaks and comes back in pauses.
"""

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import maximum_filter1d

from engine.media.audio import SPEECH_RATE_HZ, read_blocks

BLOCK_S = 1.0
DUCKED = 0.22
"""Music while somebody speaks, as a share of its loudness in pauses: 13 dB less."""

SPEECH_DBFS = -45.0
LEVEL_S = 0.02
HOLD_S = 0.5
"""Pauses shorter than this are part of speech."""

GLIDE_S = 0.25
"""How slowly the music follows."""

FADE_IN_S, FADE_OUT_S = 1.5, 3.0
CROSS_S = 2.0
"""Music that is too short is begun anew while its end fades."""

_RATE = SPEECH_RATE_HZ
Blocks = Generator[NDArray[np.float32], None, None]


@dataclass(frozen=True)
class Music:
    """What plays behind the words.

    Attributes:
        wav: a WAV of ours.
        volume: 0 .. 1, in pauses.
    """

    wav: Path
    volume: float


def lecture_sound(
    wavs: Sequence[Path], num_samples: Sequence[int], music: Music | None = None
) -> Blocks:
    """Yield mono blocks of the whole lecture at 48 kHz.

    Args:
        wavs: of the sections, in order.
        num_samples: how long each is.
        music: None = none.
    """
    speech = _speech(wavs, num_samples)
    if music is None or music.volume <= 0:
        yield from speech
        return
    total = sum(num_samples)
    tune = _Taker(_endless(music.wav))
    done = 0
    for block, shares in _with_shares(_in_blocks(speech, round(BLOCK_S * _RATE))):
        at = np.arange(done, done + block.size)
        edges = np.minimum(at / (FADE_IN_S * _RATE), (total - at) / (FADE_OUT_S * _RATE))
        gain = music.volume * shares * np.clip(edges, 0.0, 1.0)
        mixed = block + tune.take(block.size) * gain.astype(np.float32)
        done += block.size
        yield np.clip(mixed, -1.0, 1.0).astype(np.float32)


def _speech(wavs: Sequence[Path], num_samples: Sequence[int]) -> Blocks:
    """Every section, cut or filled up to its exact length."""
    for wav, wanted in zip(wavs, num_samples, strict=True):
        left = wanted
        for block in read_blocks(wav, _RATE, BLOCK_S):
            yield block[:left]
            left -= min(left, block.size)
        if left > 0:
            yield np.zeros(left, np.float32)


def _in_blocks(blocks: Iterator[NDArray[np.float32]], length: int) -> Blocks:
    """The same samples in blocks of one length; the last one may be shorter."""
    pending = np.zeros(0, np.float32)
    for block in blocks:
        pending = np.concatenate([pending, block])
        while pending.size >= length:
            yield pending[:length]
            pending = pending[length:]
    if pending.size:
        yield pending


def _with_shares(
    blocks: Iterator[NDArray[np.float32]],
) -> Iterator[tuple[NDArray[np.float32], NDArray[np.float64]]]:
    """Each block with the share of the music for every sample, 0 .. 1.

    A block waits for the one behind it, so that the music goes down before the first word.
    """
    # Half of what a child loads at its start, and only those that mix music need it.
    from scipy import signal  # noqa: PLC0415

    state = np.array([1.0 - _GLIDE])
    before: NDArray[np.float64] = np.zeros(0)
    current = next(blocks, None)
    levels = _levels(current)
    while current is not None:
        following = next(blocks, None)
        behind = _levels(following)
        around = np.concatenate([before, levels, behind])
        hold = max(round(HOLD_S / LEVEL_S), 1)
        speaks = maximum_filter1d((around > SPEECH_DBFS).astype(float), 2 * hold + 1)
        wanted = np.where(speaks[len(before) : len(before) + len(levels)] > 0, DUCKED, 1.0)
        shares, state = signal.lfilter([1.0 - _GLIDE], [1.0, -_GLIDE], wanted, zi=state)
        step = round(LEVEL_S * _RATE)
        positions = np.arange(current.size) / step
        yield current, np.interp(positions, np.arange(len(shares)), shares)
        before, levels, current = levels, behind, following


_GLIDE = float(np.exp(-LEVEL_S / GLIDE_S))


def _levels(block: NDArray[np.float32] | None) -> NDArray[np.float64]:
    """Loudness in dB of full scale, every `LEVEL_S`."""
    if block is None or not block.size:
        return np.zeros(0)
    step = round(LEVEL_S * _RATE)
    padded = np.pad(block, (0, -block.size % step)).reshape(-1, step)
    power = np.mean(padded.astype(np.float64) ** 2, axis=1)
    return np.asarray(10 * np.log10(power + 1e-12))


def _endless(wav: Path) -> Blocks:
    """The tune again and again, each end faded into the next beginning."""
    cross = round(CROSS_S * _RATE)
    tail = np.zeros(0, np.float32)
    while True:
        # Everything but the last seconds of this round goes out at once.
        pending = np.zeros(0, np.float32)
        is_start = True
        for block in read_blocks(wav, _RATE, BLOCK_S):
            pending = np.concatenate([pending, block])
            if is_start and pending.size < 2 * cross:
                continue
            if is_start:
                pending, tail, is_start = _crossed(tail, pending), np.zeros(0, np.float32), False
            if pending.size > cross:
                yield pending[:-cross]
                pending = pending[-cross:]
        if is_start:  # shorter than two fades: plain repetition
            yield from (tail, pending) if pending.size else (np.zeros(_RATE, np.float32),)
            tail = np.zeros(0, np.float32)
        else:
            tail = pending


def _crossed(tail: NDArray[np.float32], head: NDArray[np.float32]) -> NDArray[np.float32]:
    """The head with the tail fading out over it."""
    if not tail.size:
        return head
    ramp = np.linspace(0.0, 1.0, tail.size, dtype=np.float32)
    joined = head.copy()
    joined[: tail.size] = head[: tail.size] * ramp + tail * (1 - ramp)
    return joined


class _Taker:
    """Takes exact numbers of samples from blocks."""

    def __init__(self, blocks: Iterator[NDArray[np.float32]]) -> None:
        self._blocks = blocks
        self._pending = np.zeros(0, np.float32)

    def take(self, count: int) -> NDArray[np.float32]:
        while self._pending.size < count:
            self._pending = np.concatenate([self._pending, next(self._blocks)])
        taken, self._pending = self._pending[:count], self._pending[count:]
        return taken
