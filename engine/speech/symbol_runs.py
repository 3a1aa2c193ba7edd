"""Letters of any number through a network that takes a few hundred at once, as one timed clip."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from engine.contracts import VoiceInfo
from engine.errors import ErrorCode, InputError
from engine.speech.joining import trim
from engine.speech.levels import heard_span_s
from engine.speech.reading import Reading
from engine.speech.symbol_timing import OFFSET_S, Symbol, place_sounds
from engine.speech.voice import SpokenClip, TimedPhoneme
from engine.speech.words import time_words

MAX_SYMBOLS = 400
"""Longest run: the family's style table has 510 rows, and memory grows with the run."""

_SHORTEST_S = 0.025  # the networks' own shortest sound
_BREAKS = (", ", "; ", ": ", ". ", "! ", "? ", "… ", "— ")

Run = Callable[[Sequence[str]], tuple[NDArray[np.float32], list[float]]]
"""Letters -> samples, and the seconds of the padding before, of each letter, of the padding
behind."""


def speak_reading(
    reading: Reading, run: Run, voice: VoiceInfo, offset_s: float = OFFSET_S
) -> SpokenClip:
    """Speak a text that was read.

    Args:
        reading: its words and letters.
        run: the network.
        voice: who speaks.
        offset_s: how late the network places its sounds, below 0.

    Raises:
        InputError: TEXT_EMPTY when nothing in it can be spoken.
    """
    runs = split_runs(reading.symbols)
    pieces: list[NDArray[np.float32]] = []
    owned: list[tuple[int, TimedPhoneme]] = []
    start_s = 0.0
    for symbols in runs:
        piece = _speak_run(symbols, run, voice, offset_s, is_part=len(runs) > 1)
        if piece is None:
            continue
        samples, sounds = piece
        owned += [
            (word, replace(sound, start_s=sound.start_s + start_s, end_s=sound.end_s + start_s))
            for word, sound in sounds
        ]
        pieces.append(samples)
        start_s += len(samples) / voice.sample_rate_hz
    if not owned:
        raise InputError(ErrorCode.TEXT_EMPTY)
    return SpokenClip(
        samples=np.concatenate(pieces),
        sample_rate_hz=voice.sample_rate_hz,
        words=time_words(reading.spans, owned),
        phonemes=tuple(sound for _, sound in owned),
        voice_id=voice.voice_id,
        language=voice.languages[0],
    )


def split_runs(symbols: list[Symbol], max_symbols: int = MAX_SYMBOLS) -> list[list[Symbol]]:
    """Cut what is too long for one run behind punctuation, else between words, else anywhere."""
    runs: list[list[Symbol]] = []
    symbols = _strip(symbols)
    while len(symbols) > max_symbols:
        head = "".join(symbol.letter for symbol in symbols[:max_symbols])
        cut = max(head.rfind(mark) for mark in _BREAKS) + 1
        cut = cut or max(head.rfind(" "), 0) or max_symbols
        runs.append(_strip(symbols[:cut]))
        symbols = _strip(symbols[cut:])
    return [run for run in (*runs, symbols) if run]


def _speak_run(
    symbols: list[Symbol], run: Run, voice: VoiceInfo, offset_s: float, *, is_part: bool
) -> tuple[NDArray[np.float32], list[tuple[int, TimedPhoneme]]] | None:
    """One run; of a part the long silences around it are cut. None when it is silent."""
    samples, durations_s = run([symbol.letter for symbol in symbols])
    sounds_placed = place_sounds(symbols, durations_s, offset_s)
    placed = _end_with_sound(sounds_placed, samples, voice.sample_rate_hz)
    if not is_part or not placed:
        return samples, placed
    sounds = tuple(sound for _, sound in placed)
    clip = trim(SpokenClip(samples, voice.sample_rate_hz, (), sounds, voice.voice_id, ""))
    if clip is None:
        return None
    words = (word for word, _ in placed)
    return clip.samples, list(zip(words, clip.phonemes, strict=True))


def _strip(symbols: list[Symbol]) -> list[Symbol]:
    """Without spaces at either end."""
    heard = [index for index, symbol in enumerate(symbols) if symbol.letter != " "]
    return symbols[heard[0] : heard[-1] + 1] if heard else []


def _end_with_sound(
    placed: list[tuple[int, TimedPhoneme]], samples: NDArray[np.float32], sample_rate_hz: int
) -> list[tuple[int, TimedPhoneme]]:
    """Let the last sound end when it can no longer be heard: its duration holds the silence too."""
    span_s = heard_span_s(samples, sample_rate_hz)
    if not placed or span_s is None:
        return placed
    word, last = placed[-1]
    end_s = min(last.end_s, max(span_s[1], last.start_s + _SHORTEST_S))
    return [*placed[:-1], (word, replace(last, end_s=end_s))]
