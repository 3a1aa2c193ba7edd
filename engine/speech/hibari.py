"""The natural English voice that needs no download: hibari's `heart`, run directly on onnxruntime.

The package's own entry point gives no times, so its graph is run with one more output: the
duration of every letter, from which words and sounds get their place.
"""

import functools
import importlib.util
import threading
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from engine.contracts import VoiceInfo
from engine.errors import ErrorCode, InputError
from engine.speech.hibari_model import SAMPLE_RATE_HZ, HibariModel
from engine.speech.hibari_timing import Symbol, place_sounds
from engine.speech.levels import heard_span_s
from engine.speech.voice import SpokenClip, TimedPhoneme
from engine.speech.words import match_words, split_words, time_words

ENGINE_NAME = "hibari"
_HEART = VoiceInfo(
    voice_id="hibari:heart",
    engine=ENGINE_NAME,
    name="Heart",
    languages=("en-us",),
    gender="female",
    sample_rate_hz=SAMPLE_RATE_HZ,
    licence="Apache-2.0",
    size_mb=16.0,
)
_MAX_SYMBOLS = 400  # the package's own limit for one run of the network
_SHORTEST_S = 0.025  # the network's own shortest sound
_SEED = 0  # of the noise in voiceless sounds: the same text gives the same samples


class HibariEngine:
    """Speaks English with one voice; the network is loaded with the first text."""

    name = ENGINE_NAME

    def __init__(self, threads: int = 1) -> None:
        """Prepare without loading.

        Args:
            threads: of onnxruntime; one core already speaks about 80 times faster than real time.
        """
        self._threads = threads
        self._lock = threading.Lock()

    def voices(self) -> tuple[VoiceInfo, ...]:
        """The voice, or none when its package is not installed."""
        return (_HEART,) if importlib.util.find_spec("hibari") else ()

    def speak(self, text: str, voice_id: str, language: str, speed: float) -> SpokenClip:
        """Speak one sentence or short paragraph.

        Args:
            text: cleaned English text; characters that English does not use are not heard.
            voice_id: `hibari:heart`.
            language: unused, the voice speaks American English.
            speed: 0.5-2, 1 = the voice's own.

        Raises:
            InputError: VOICE_UNKNOWN, or TEXT_EMPTY when nothing in the text can be spoken.
            EngineError: VOICE_UNAVAILABLE when the package is missing or damaged.
        """
        if voice_id != _HEART.voice_id:
            raise InputError(ErrorCode.VOICE_UNKNOWN, voice=voice_id)
        with self._lock:
            return self._speak(text, speed)

    def reset(self) -> None:
        """Nothing to do: every text starts with the same noise."""

    def _speak(self, text: str, speed: float) -> SpokenClip:
        spans = split_words(text)
        rng = np.random.default_rng(_SEED)
        pieces: list[NDArray[np.float32]] = []
        owned: list[tuple[int, TimedPhoneme]] = []
        start_s = 0.0
        for run in _split_runs(self._symbols(text, [span.text for span in spans])):
            samples, durations_s = self._model.run([symbol.letter for symbol in run], speed, rng)
            owned += [
                (word, replace(sound, start_s=sound.start_s + start_s, end_s=sound.end_s + start_s))
                for word, sound in _end_with_sound(place_sounds(run, durations_s), samples)
            ]
            pieces.append(samples)
            start_s += len(samples) / SAMPLE_RATE_HZ
        if not owned:
            raise InputError(ErrorCode.TEXT_EMPTY)
        return SpokenClip(
            samples=np.concatenate(pieces),
            sample_rate_hz=SAMPLE_RATE_HZ,
            words=time_words(spans, owned),
            phonemes=tuple(sound for _, sound in owned),
            voice_id=_HEART.voice_id,
            language=_HEART.languages[0],
        )

    def _symbols(self, text: str, typed: Sequence[str]) -> list[Symbol]:
        """What the network gets to read, each letter with the index of its typed word."""
        read = self._model.read(text)
        if not typed or not read:
            return []
        owners = match_words(typed, [word for word, _ in read])
        return _strip(
            [
                Symbol(letter, owner)
                for owner, (_, letters) in zip(owners, read, strict=True)
                for letter in letters
            ]
        )

    @functools.cached_property
    def _model(self) -> HibariModel:
        return HibariModel(self._threads)


def _split_runs(symbols: list[Symbol]) -> list[list[Symbol]]:
    """Cut what is too long for one run behind punctuation, else between words, else anywhere."""
    runs: list[list[Symbol]] = []
    while len(symbols) > _MAX_SYMBOLS:
        head = "".join(symbol.letter for symbol in symbols[:_MAX_SYMBOLS])
        cut = max(head.rfind(mark) for mark in (", ", "; ", ": ", ". ", "— ")) + 1
        cut = cut or head.rfind(" ") or _MAX_SYMBOLS
        runs.append(_strip(symbols[:cut]))
        symbols = _strip(symbols[cut:])
    return [run for run in (*runs, symbols) if run]


def _strip(symbols: list[Symbol]) -> list[Symbol]:
    """Without spaces at either end."""
    heard = [index for index, symbol in enumerate(symbols) if symbol.letter != " "]
    return symbols[heard[0] : heard[-1] + 1] if heard else []


def _end_with_sound(
    placed: list[tuple[int, TimedPhoneme]], samples: NDArray[np.float32]
) -> list[tuple[int, TimedPhoneme]]:
    """Let the last sound end when it can no longer be heard: its duration holds the silence too."""
    span_s = heard_span_s(samples, SAMPLE_RATE_HZ)
    if not placed or span_s is None:
        return placed
    word, last = placed[-1]
    end_s = min(last.end_s, max(span_s[1], last.start_s + _SHORTEST_S))
    return [*placed[:-1], (word, replace(last, end_s=end_s))]
