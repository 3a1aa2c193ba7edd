"""The natural voices of many languages: Kokoro-82M, run directly on onnxruntime.

About 1.5 times faster than real time on two laptop cores; hibari, its pupil, is fifty times
faster and stays the first choice for English.
"""

import importlib.util
import threading
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Literal, NamedTuple

from engine.contracts import VoiceInfo
from engine.errors import Canceled, ErrorCode, InputError
from engine.speech.english import EnglishReader
from engine.speech.espeak import EspeakEngine
from engine.speech.espeak_reader import EspeakReader
from engine.speech.japanese import PACKAGES as JAPANESE_PACKAGES
from engine.speech.japanese import JapaneseReader
from engine.speech.kokoro_model import SAMPLE_RATE_HZ, KokoroModel, is_installed, load_style
from engine.speech.mandarin import PACKAGES as MANDARIN_PACKAGES
from engine.speech.mandarin import MandarinReader
from engine.speech.reading import Reader
from engine.speech.symbol_runs import speak_reading
from engine.speech.voice import SpokenClip

ENGINE_NAME = "kokoro"


class _Listed(NamedTuple):
    name: str
    language: str
    gender: Literal["female", "male"]


# Of 54 voices those with the best marks of their makers, one or two of each language.
_VOICES: Mapping[str, _Listed] = MappingProxyType(
    {
        "af_heart": _Listed("Heart, richer and slower", "en-us", "female"),
        "af_bella": _Listed("Bella", "en-us", "female"),
        "am_michael": _Listed("Michael", "en-us", "male"),
        "bf_emma": _Listed("Emma", "en-gb", "female"),
        "bm_george": _Listed("George", "en-gb", "male"),
        "ef_dora": _Listed("Dora", "es", "female"),
        "em_alex": _Listed("Alex", "es", "male"),
        "ff_siwis": _Listed("Siwis", "fr-fr", "female"),
        "if_sara": _Listed("Sara", "it", "female"),
        "im_nicola": _Listed("Nicola", "it", "male"),
        "pf_dora": _Listed("Dora", "pt-br", "female"),
        "pm_alex": _Listed("Alex", "pt-br", "male"),
        "hf_alpha": _Listed("Alpha", "hi", "female"),
        "hm_omega": _Listed("Omega", "hi", "male"),
        "jf_alpha": _Listed("Alpha", "ja", "female"),
        "jm_kumo": _Listed("Kumo", "ja", "male"),
        "zf_xiaoxiao": _Listed("Xiaoxiao", "cmn", "female"),
        "zm_yunxi": _Listed("Yunxi", "cmn", "male"),
    }
)
_SIZE_MB = 93.0  # network and style table


class KokoroEngine:
    """Speaks eight languages, English with two accents; the network is loaded with the first text.

    Args:
        espeak: reads the languages for which there are no rules of our own.
    """

    name = ENGINE_NAME
    reads_also = frozenset({"LATIN"})
    first_characters = 20  # more than a second of speech
    next_characters = 60  # about four seconds

    def __init__(self, espeak: EspeakEngine) -> None:
        self._espeak = espeak
        self._readers: dict[str, Reader] = {}
        self._lock = threading.Lock()
        self._model: KokoroModel | None = None
        self._interrupted = threading.Event()

    def voices(self) -> tuple[VoiceInfo, ...]:
        """The voices whose language can be read here; none without the network's packages."""
        if not is_installed():
            return ()
        return tuple(
            _info(name, listed)
            for name, listed in _VOICES.items()
            if self._can_read(listed.language)
        )

    def speak(self, text: str, voice_id: str, language: str, speed: float) -> SpokenClip:
        """Speak one sentence or short paragraph.

        Args:
            text: cleaned text; characters that the language does not use are not heard.
            voice_id: such as `kokoro:ff_siwis`.
            language: unused, each voice has one language.
            speed: 0.5-2, 1 = the voice's own.

        Raises:
            InputError: VOICE_UNKNOWN, or TEXT_EMPTY when nothing in the text can be spoken.
            EngineError: VOICE_UNAVAILABLE when a package is missing or damaged.
            Canceled: it was interrupted.
        """
        name, listed = _found(voice_id)
        with self._lock:
            reading = self._reader(listed.language).read(text)
            model = self._loaded_model()
            style = load_style(name)
            if self._interrupted.is_set():  # before there was a network to stop
                raise Canceled
            symbols = [symbol for symbol in reading.symbols if symbol.letter in model.ids]
            return speak_reading(
                replace(reading, symbols=symbols),
                lambda letters: model.run(letters, style, speed),
                _info(name, listed),
            )

    def get_ready(self, voice_id: str) -> None:
        """Load the network and what reads the voice's language.

        Raises:
            InputError: VOICE_UNKNOWN.
            EngineError: VOICE_UNAVAILABLE when a package is missing or damaged.
        """
        _, listed = _found(voice_id)
        with self._lock:
            self._reader(listed.language)
            self._loaded_model()

    def interrupt(self) -> None:
        """Have the text that is spoken, in another thread, end with `Canceled`; until `reset`."""
        self._interrupted.set()
        if self._model is not None:
            self._model.stop()

    def reset(self) -> None:
        """Nothing to forget but that a text was interrupted."""
        self._interrupted.clear()
        if self._model is not None:
            self._model.go_on()

    def unload(self) -> None:
        """Give the network's memory back."""
        with self._lock:
            self._model = None

    def _loaded_model(self) -> KokoroModel:
        self._model = self._model or KokoroModel()
        return self._model

    def _can_read(self, language: str) -> bool:
        if language.startswith("en"):
            return importlib.util.find_spec("hibari") is not None
        if language == "cmn":
            return all(map(importlib.util.find_spec, MANDARIN_PACKAGES))
        if language == "ja":
            return all(map(importlib.util.find_spec, JAPANESE_PACKAGES))
        return bool(self._espeak.voices())

    def _reader(self, language: str) -> Reader:
        if language not in self._readers:
            self._readers[language] = self._new_reader(language)
        return self._readers[language]

    def _new_reader(self, language: str) -> Reader:
        if language.startswith("en"):
            return EnglishReader(british=language == "en-gb")
        if language == "cmn":
            return MandarinReader(EnglishReader())
        if language == "ja":
            return JapaneseReader(EnglishReader())
        return EspeakReader(self._espeak, language)


def _found(voice_id: str) -> tuple[str, _Listed]:
    name = voice_id.removeprefix(f"{ENGINE_NAME}:")
    listed = _VOICES.get(name)
    if listed is None:
        raise InputError(ErrorCode.VOICE_UNKNOWN, voice=voice_id)
    return name, listed


def _info(name: str, listed: _Listed) -> VoiceInfo:
    return VoiceInfo(
        voice_id=f"{ENGINE_NAME}:{name}",
        engine=ENGINE_NAME,
        name=listed.name,
        languages=(listed.language,),
        gender=listed.gender,
        sample_rate_hz=SAMPLE_RATE_HZ,
        licence="Apache-2.0",
        size_mb=_SIZE_MB,
    )
