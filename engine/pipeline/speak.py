"""The speak stage: a text becomes speech.wav and timings.json in the job's folder."""

import itertools
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np

from engine.contracts import SpeechOptions
from engine.media.atomic import replace_when_done
from engine.media.audio import write_speech_wav
from engine.speech.catalog import VoiceCatalog
from engine.speech.lexicon import Lexicon
from engine.speech.voice import SpokenClip, TimedPhoneme, TimedWord

# The rate of every speech.wav, and of the sound in every finished video.
SPEECH_RATE_HZ = 48_000

Spoken = Callable[[SpokenClip], None]
"""Takes a piece of a text as soon as it is spoken."""


def speak_to_file(
    speech: SpeechOptions,
    target: Path,
    voices: VoiceCatalog,
    canceled: Event,
    on_progress: Callable[[int, int], None] | None = None,
    lexicon: Lexicon | None = None,
) -> SpokenClip:
    """Speak `speech` and write it as 48 kHz mono WAV.

    Args:
        speech: text and voice.
        target: the WAV file, written atomically.
        voices: the built-in voices.
        canceled: stops between sentences.
        on_progress: called with sentences done and sentences in all.
        lexicon: the person's own pronunciations.

    Returns:
        The clip at the voice's own sample rate, with its times.
    """
    clip = voices.speak(speech, canceled, on_progress, lexicon)
    write_speech(target, clip)
    return clip


def write_pieces(target: Path) -> Spoken:
    """A taker of pieces that writes each as a WAV of its own: `NAME-0.wav` for `NAME.wav`."""
    numbers = itertools.count()

    def write(clip: SpokenClip) -> None:
        name = f"{target.stem}-{next(numbers)}{target.suffix}"
        write_speech(target.with_name(name), clip)

    return write


def write_speech(target: Path, clip: SpokenClip) -> None:
    """Write a clip as 48 kHz mono WAV, whole or not at all."""
    write_speech_wav(target, np.asarray(clip.samples, np.float32), clip.sample_rate_hz)


def timings_of(clip: SpokenClip) -> dict[str, Any]:
    """Word and phoneme times as JSON: what `speak --timings` writes."""
    return {
        "voice": clip.voice_id,
        "language": clip.language,
        "duration_s": round(clip.duration_s, 4),
        "notes": list(clip.notes),
        "words": [
            {"text": w.text, "start_s": round(w.start_s, 4), "end_s": round(w.end_s, 4)}
            for w in clip.words
        ],
        "phonemes": [
            {"ipa": p.ipa, "start_s": round(p.start_s, 4), "end_s": round(p.end_s, 4)}
            for p in clip.phonemes
        ],
    }


def save_timings(clip: SpokenClip, target: Path) -> None:
    """Write the times beside the sound, atomically."""
    with replace_when_done(target) as part:
        part.write_text(json.dumps(timings_of(clip), ensure_ascii=False), "utf-8")


@dataclass(frozen=True)
class Timings:
    """What a kept timings.json says.

    Attributes:
        words: in order.
        phonemes: in order.
        notes: what was left out or done differently, as `ErrorCode` values.
    """

    words: tuple[TimedWord, ...] = ()
    phonemes: tuple[TimedPhoneme, ...] = ()
    notes: tuple[str, ...] = ()


def load_timings(source: Path) -> Timings:
    """Read a timings.json back."""
    stored = json.loads(source.read_text("utf-8"))
    return Timings(
        tuple(TimedWord(**word) for word in stored["words"]),
        tuple(TimedPhoneme(**phoneme) for phoneme in stored["phonemes"]),
        tuple(stored["notes"]),
    )
