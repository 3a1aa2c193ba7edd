"""The natural English voice that needs no download: hibari's `heart`, run directly on onnxruntime.

The package's own entry point gives no times, so its graph is run with one more output: the
duration of every letter, from which words and sounds get their place.
"""

import functools
import importlib.util
import threading
from dataclasses import replace

from engine.contracts import VoiceInfo
from engine.errors import ErrorCode, InputError
from engine.speech.english import EnglishReader
from engine.speech.hibari_model import SAMPLE_RATE_HZ, HibariModel
from engine.speech.kept_noise import KeptNoise, NoiseOfText
from engine.speech.symbol_runs import speak_reading
from engine.speech.voice import SpokenClip

ENGINE_NAME = "hibari"
USUAL_VOICE = "hibari:heart"
"""The voice that most people hear first."""

_HEART = VoiceInfo(
    voice_id=USUAL_VOICE,
    engine=ENGINE_NAME,
    name="Heart",
    languages=("en-us",),
    gender="female",
    sample_rate_hz=SAMPLE_RATE_HZ,
    licence="Apache-2.0",
    size_mb=16.0,
)
_FIRST_WORDS = "Hello."
"""Spoken for nobody, so that all is loaded."""

_SEED = 0  # of the noise in voiceless sounds: the same text gives the same samples


class HibariEngine:
    """Speaks English with one voice; the network is loaded with the first text."""

    name = ENGINE_NAME
    reads_also: frozenset[str] = frozenset()

    def __init__(self, threads: int = 1) -> None:
        """Prepare without loading.

        Args:
            threads: of onnxruntime; one core already speaks about 80 times faster than real time.
        """
        self._threads = threads
        self._reader = EnglishReader()
        self._noise = KeptNoise(_SEED)
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
        _require_known(voice_id)
        with self._lock:
            return self._speak(text, speed)

    def get_ready(self, voice_id: str) -> None:
        """Load the network and the dictionaries.

        Raises:
            InputError: VOICE_UNKNOWN.
            EngineError: VOICE_UNAVAILABLE when the package is missing or damaged.
        """
        _require_known(voice_id)
        with self._lock:
            self._speak(_FIRST_WORDS, speed=1.0)

    def reset(self) -> None:
        """Nothing to do: every text starts with the same noise."""

    def unload(self) -> None:
        """Forget the network and the dictionaries, 130 MB; half a second brings them back."""
        with self._lock:
            self.__dict__.pop("_model", None)
            self._reader = EnglishReader()
            self._noise = KeptNoise(_SEED)

    def _speak(self, text: str, speed: float) -> SpokenClip:
        model = self._model
        noise = NoiseOfText(self._noise)
        reading = self._reader.read(text)
        symbols = [symbol for symbol in reading.symbols if symbol.letter in model.ids]
        return speak_reading(
            replace(reading, symbols=symbols),
            lambda letters: model.run(letters, speed, noise),
            _HEART,
        )

    @functools.cached_property
    def _model(self) -> HibariModel:
        return HibariModel(self._threads)


def _require_known(voice_id: str) -> None:
    if voice_id != USUAL_VOICE:
        raise InputError(ErrorCode.VOICE_UNKNOWN, voice=voice_id)
