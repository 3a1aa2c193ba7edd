"""What is said in a recording: words with times, by Whisper. Optional, offline, on the processor.

The model is loaded for one recording and given back, because the animator needs the memory.
"""

from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import soundfile as sf
import soxr
from numpy.typing import NDArray

from engine.errors import Canceled
from engine.speech.voice import TimedWord
from engine.speech.words import is_unspaced

RATE_HZ = 16_000

# Whisper invents words for what is no speech; it says so itself by these two figures (those of
# its publication).
MAX_NO_SPEECH = 0.6
MIN_LOG_PROBABILITY = -1.0

SURE_OF_LANGUAGE = 0.5
"""Below this the language that was heard is not used to read the words; they tell it themselves."""


@dataclass(frozen=True)
class Recognised:
    """What was understood.

    Attributes:
        text: of the whole recording, in one line.
        language: BCP 47 tag; None when it was not clear.
        words: in order; times are good to about 0.2 s.
    """

    text: str
    language: str | None
    words: tuple[TimedWord, ...]


class Recogniser:
    """Whisper from a folder that CTranslate2 reads.

    Args:
        folder: of the model, complete.
        language: BCP 47 tag of what is said if it is known; one that Whisper does not know is
            not used.
        threads: of the processor.
    """

    def __init__(self, folder: Path, language: str | None = None, threads: int = 2) -> None:
        self._folder = folder
        self._language = (language or "").partition("-")[0].lower()
        self._threads = threads

    def listen(self, wav: Path, canceled: Event) -> Recognised:
        """Write down what is said.

        Args:
            wav: a sound file that this product wrote.
            canceled: looked at between pieces of up to 30 s.

        Raises:
            Canceled: when the user asked to stop.
        """
        from faster_whisper import WhisperModel  # noqa: PLC0415 - optional, and slow to load

        model = WhisperModel(
            str(self._folder),
            device="cpu",  # the card belongs to the video
            compute_type="int8",
            cpu_threads=self._threads,
            local_files_only=True,
        )
        known = self._language if self._language in model.supported_languages else None
        segments, info = model.transcribe(
            _samples_of(wav),
            language=known,
            word_timestamps=True,
            vad_filter=True,
            condition_on_previous_text=False,  # a slip would be repeated to the end
        )
        words: list[TimedWord] = []
        for segment in segments:
            if canceled.is_set():
                raise Canceled
            if _is_speech(segment):
                words += _words_of(segment)
        heard = info.language if info.language_probability >= SURE_OF_LANGUAGE else None
        return Recognised(_joined(words), known or heard, tuple(words))


def _samples_of(wav: Path) -> NDArray[np.float32]:
    """Mono at Whisper's rate."""
    samples, rate_hz = sf.read(str(wav), dtype="float32", always_2d=True)
    mono = samples.mean(axis=1)
    return np.asarray(soxr.resample(mono, rate_hz, RATE_HZ), dtype=np.float32)


def _is_speech(segment: Any) -> bool:  # noqa: ANN401 - a type of the optional library
    seems_silent = segment.no_speech_prob > MAX_NO_SPEECH
    return not (seems_silent and segment.avg_logprob < MIN_LOG_PROBABILITY)


def _words_of(segment: Any) -> list[TimedWord]:  # noqa: ANN401 - a type of the optional library
    """The words; marks, and parts behind a hyphen, go to the word before them."""
    words: list[TimedWord] = []
    for piece in segment.words or ():
        text = piece.word.strip()
        if not text:
            continue
        start_s, end_s = float(piece.start), max(float(piece.end), float(piece.start))
        if words and _goes_on(words[-1].text, piece.word):
            before = words[-1]
            words[-1] = TimedWord(before.text + text, before.start_s, end_s)
        else:
            words.append(TimedWord(text, start_s, end_s))
    return words


def _goes_on(before: str, piece: str) -> bool:
    """Whether a piece belongs to the word before it."""
    if not any(character.isalnum() for character in piece):
        return True
    is_unspaced_script = is_unspaced(before[-1:]) or is_unspaced(piece[:1])
    return not piece[:1].isspace() and not is_unspaced_script


def _joined(words: list[TimedWord]) -> str:
    return " ".join(word.text for word in words)
