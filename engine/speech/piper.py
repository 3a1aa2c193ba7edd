"""Voices in Piper's format: those of the catalogue after a click, and files of a person's own.

Own files lie in the data folder under `voices/piper`: `NAME.onnx` with `NAME.onnx.json`.
"""

import threading
import unicodedata
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from engine.contracts import VoiceInfo
from engine.errors import EngineError, ErrorCode, InputError
from engine.speech.espeak import EspeakEngine
from engine.speech.espeak_reader import EspeakReader, plain_ipa
from engine.speech.languages import language_distance
from engine.speech.piper_model import PiperConfig, PiperModel
from engine.speech.symbol_runs import speak_reading
from engine.speech.voice import SpokenClip
from engine.weights.voices import PIPER_VOICES, PiperVoice

ENGINE_NAME = "piper"
_OFFSET_S = -0.01
"""Its durations place every sound late by this much against the energy of vowels (0 to 15 ms)."""
_OWN_LICENCE = "see the voice's own model card"


class PiperEngine:
    """Speaks with one network a voice; the last one used stays loaded.

    Args:
        espeak: tells the sounds of a text; without it these voices are not offered.
        weights_dir: below it lies one folder for each voice of the catalogue.
        own_dir: voices of a person's own.
    """

    name = ENGINE_NAME
    reads_also = frozenset({"LATIN"})

    def __init__(self, espeak: EspeakEngine, weights_dir: Path, own_dir: Path) -> None:
        self._espeak = espeak
        self._weights_dir = weights_dir
        self._own_dir = own_dir
        self._lock = threading.Lock()
        self._loaded: tuple[str, PiperModel] | None = None
        self._readers = _Readers(espeak)

    def voices(self) -> tuple[VoiceInfo, ...]:
        """Voices that are here, and those that a download would bring."""
        if not self._espeak.voices():
            return ()
        own = tuple(_own_info(path) for path in self._own_files() if _is_readable(path))
        return own + tuple(
            _info(voice, installed=self._path_of(voice).is_file()) for voice in PIPER_VOICES
        )

    def speak(self, text: str, voice_id: str, language: str, speed: float) -> SpokenClip:
        """Speak one sentence or short paragraph.

        Args:
            text: cleaned text; letters that the network does not know are not heard.
            voice_id: such as `piper:de_DE-thorsten-medium`.
            language: unused, each voice has one language.
            speed: 0.5-2, 1 = the voice's own.

        Returns:
            The clip; without times when the network tells none.

        Raises:
            InputError: VOICE_UNKNOWN, or TEXT_EMPTY when nothing in the text can be spoken.
            EngineError: VOICE_UNAVAILABLE when files are missing or damaged.
        """
        info, path = self._find(voice_id)
        with self._lock:
            model = self._model(voice_id, path)
            if model.config.is_text or not model.has_times:
                return self._speak_without_times(text, model, info, speed)
            reading = self._readers[model.config.espeak_voice].read(text)
            symbols = [symbol for symbol in reading.symbols if model.knows(symbol.letter)]
            return speak_reading(
                replace(reading, symbols=symbols),
                lambda letters: model.run_timed(letters, speed),
                info.model_copy(update={"sample_rate_hz": model.config.sample_rate_hz}),
                _OFFSET_S,
            )

    def reset(self) -> None:
        """Nothing to do: no text leaves anything behind."""

    def unload(self) -> None:
        """Give the network's memory back."""
        with self._lock:
            self._loaded = None

    def _model(self, voice_id: str, path: Path) -> PiperModel:
        if self._loaded is None or self._loaded[0] != voice_id:
            self._loaded = None  # the old one's memory first
            self._loaded = (voice_id, PiperModel(path))
        return self._loaded[1]

    def _speak_without_times(
        self, text: str, model: PiperModel, info: VoiceInfo, speed: float
    ) -> SpokenClip:
        if model.config.is_text:
            letters = list(unicodedata.normalize("NFD", text.casefold()))
        else:
            reading = self._readers[model.config.espeak_voice].read(text)
            letters = [symbol.letter for symbol in reading.symbols]
        known = [letter for letter in letters if model.knows(letter)]
        if not any(letter.isalnum() for letter in known):
            raise InputError(ErrorCode.TEXT_EMPTY)
        samples, _ = model.run(known, speed)
        rate_hz = model.config.sample_rate_hz
        return SpokenClip(samples, rate_hz, (), (), info.voice_id, info.languages[0])

    def _find(self, voice_id: str) -> tuple[VoiceInfo, Path]:
        """A voice that is here and its network."""
        name = voice_id.removeprefix(f"{ENGINE_NAME}:")
        for voice in PIPER_VOICES:
            if voice.key == name:
                return _info(voice, installed=True), self._path_of(voice)
        for path in self._own_files():
            if path.stem == name:
                return _own_info(path), path
        raise InputError(ErrorCode.VOICE_UNKNOWN, voice=voice_id)

    def _path_of(self, voice: PiperVoice) -> Path:
        return self._weights_dir / voice.set_name / f"{voice.key}.onnx"

    def _own_files(self) -> Iterator[Path]:
        yield from sorted(self._own_dir.glob("*.onnx"))


class _Readers(dict[str, EspeakReader]):
    """A reader for each language of espeak-ng, made when it is first asked for."""

    def __init__(self, espeak: EspeakEngine) -> None:
        super().__init__()
        self._espeak = espeak

    def __missing__(self, espeak_voice: str) -> EspeakReader:
        """Make the reader of the voice whose language fits best."""
        tags = [voice.languages[0] for voice in self._espeak.voices()]
        ranked = [
            (distance, tag)
            for tag in tags
            if (distance := language_distance(espeak_voice, tag)) is not None
        ]
        if not ranked:
            raise EngineError(ErrorCode.VOICE_UNAVAILABLE, voice=espeak_voice)
        self[espeak_voice] = reader = EspeakReader(self._espeak, min(ranked)[1], plain_ipa)
        return reader


def _is_readable(path: Path) -> bool:
    try:
        PiperConfig.load(path.with_name(path.name + ".json"))
    except EngineError:
        return False
    return True


def _own_info(path: Path) -> VoiceInfo:
    config = PiperConfig.load(path.with_name(path.name + ".json"))
    return VoiceInfo(
        voice_id=f"{ENGINE_NAME}:{path.stem}",
        engine=ENGINE_NAME,
        name=path.stem.replace("_", " "),
        languages=(config.espeak_voice.lower(),),
        sample_rate_hz=config.sample_rate_hz,
        licence=_OWN_LICENCE,
        size_mb=round(path.stat().st_size / 1e6, 1),
    )


def _info(voice: PiperVoice, *, installed: bool) -> VoiceInfo:
    return VoiceInfo(
        voice_id=f"{ENGINE_NAME}:{voice.key}",
        engine=ENGINE_NAME,
        name=voice.title,
        languages=(voice.language,),
        gender=voice.gender,
        sample_rate_hz=voice.sample_rate_hz,
        licence=voice.licence,
        size_mb=round(voice.size_bytes / 1e6, 1),
        needs="none" if installed else "download",
        installed=installed,
    )
