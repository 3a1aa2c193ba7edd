"""The studio voices of Qwen3-TTS: nine people, ten languages, said in the way one asks for.

The model needs other versions of large libraries than the product, so it lives in an environment
of its own (`voices setup qwen`), is spoken to by JSON lines (`engine.speech.qwen_process`) and
gives the card back when asked.
"""

import base64
import functools
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import numpy as np

from engine.contracts import VoiceInfo
from engine.errors import EngineError, ErrorCode, InputError
from engine.speech.json_child import ChildLost, JsonChild
from engine.speech.tempo import at_speed
from engine.speech.voice import SpokenClip
from engine.weights.environments import environment_python
from engine.weights.voices import QWEN_LARGE, QWEN_LICENCE, QWEN_SMALL
from engine.weights.weight_files import WeightSet

ENGINE_NAME = "qwen"
_PROGRAM = Path(__file__).with_name("qwen_process.py")
_TIMEOUT_S = 600.0
"""Longest wait for one sentence: the first one loads the model; without a card it takes minutes."""
_SAMPLE_RATE_HZ = 24000
_SEED = 0
_LANGUAGES: Mapping[str, str] = MappingProxyType(
    {
        "zh": "Chinese", "en": "English", "ja": "Japanese", "ko": "Korean", "de": "German",
        "fr": "French", "ru": "Russian", "pt": "Portuguese", "es": "Spanish", "it": "Italian",
    }
)  # fmt: skip
_TAGS = tuple("cmn" if tag == "zh" else tag for tag in _LANGUAGES)
_INSTRUCTIONS: Mapping[str, str] = MappingProxyType(
    {
        "happy": "Speak happily, with a smile.",
        "sad": "Speak sadly and softly.",
        "excited": "Speak with great excitement.",
        "calm": "Speak calmly and slowly.",
        "angry": "Speak angrily.",
        "whisper": "Whisper.",
        "serious": "Speak seriously, like in the news.",
    }
)


class _Person(NamedTuple):
    name: str
    gender: Literal["female", "male"]
    own: str
    """Language that comes first."""


_PEOPLE = (
    _Person("Vivian", "female", "cmn"),
    _Person("Serena", "female", "cmn"),
    _Person("Uncle_Fu", "male", "cmn"),
    _Person("Dylan", "male", "cmn"),
    _Person("Eric", "male", "cmn"),
    _Person("Ryan", "male", "en"),
    _Person("Aiden", "male", "en"),
    _Person("Ono_Anna", "female", "ja"),
    _Person("Sohee", "female", "ko"),
)


class _Size(NamedTuple):
    """One model and whether it obeys instructions; the small one drops them silently."""

    weights: WeightSet
    has_styles: bool


_SIZES: Mapping[str, _Size] = MappingProxyType(
    {"1.7b": _Size(QWEN_LARGE, True), "0.6b": _Size(QWEN_SMALL, False)}
)


class QwenEngine:
    """Speaks through one process with one model; the model is loaded with the first text.

    Args:
        weights_dir: below it lies one folder for each model.
        env_dir: of the environment with its libraries.
    """

    name = ENGINE_NAME
    reads_also = frozenset({"LATIN"})

    def __init__(self, weights_dir: Path, env_dir: Path) -> None:
        self._weights_dir = weights_dir
        self._env_dir = env_dir
        self._child: JsonChild | None = None
        self._size = ""

    def voices(self) -> tuple[VoiceInfo, ...]:
        """All people of both models, here or to be fetched."""
        return tuple(
            _info(size, person, installed=self._is_here(size))
            for size in _SIZES
            for person in _PEOPLE
        )

    def speak(self, text: str, voice_id: str, language: str, speed: float) -> SpokenClip:
        """Speak one sentence in the person's usual way; see `speak_styled`."""
        return self.speak_styled(text, voice_id, language, speed, "")

    def speak_styled(
        self, text: str, voice_id: str, language: str, speed: float, style: str
    ) -> SpokenClip:
        """Speak one sentence; the clip has no times.

        Args:
            text: cleaned text.
            voice_id: such as `qwen:1.7b-Vivian`.
            language: BCP 47 tag.
            speed: 0.5-2; the sound is stretched, the pitch stays.
            style: one of the voice's own, or an instruction in any words.

        Raises:
            InputError: VOICE_UNKNOWN.
            EngineError: VOICE_UNAVAILABLE, or GPU_MEMORY when the card has no room.
        """
        size, _, name = voice_id.removeprefix(f"{ENGINE_NAME}:").partition("-")
        person = next((known for known in _PEOPLE if known.name == name), None)
        if person is None or size not in _SIZES:
            raise InputError(ErrorCode.VOICE_UNKNOWN, voice=voice_id)
        base = language.partition("-")[0]
        answer = self._ask(
            size,
            type="speak",
            text=text,
            speaker=name,
            language=_LANGUAGES.get("zh" if base == "cmn" else base, "Auto"),
            instruct=_INSTRUCTIONS.get(style, style) if _SIZES[size].has_styles else "",
            seed=_SEED,
        )
        pcm = np.frombuffer(base64.b64decode(answer["pcm"]), "<i2").astype(np.float32) / 32768.0
        rate_hz = int(answer["sample_rate_hz"])
        samples = at_speed(pcm, rate_hz, speed)
        return SpokenClip(samples, rate_hz, (), (), voice_id, language)

    def reset(self) -> None:
        """Nothing to do: every sentence is drawn from the same seed."""

    def unload(self) -> None:
        """End the process: memory and card are free at once."""
        if self._child is not None:
            self._child.close()
            self._child = None

    def free_card(self) -> None:
        """End the process, for a video that needs the card."""
        self.unload()

    def _is_here(self, size: str) -> bool:
        files = _SIZES[size].weights.files
        folder = self._folder(size)
        return environment_python(self._env_dir).is_file() and all(
            (folder / file.path).is_file() for file in files
        )

    def _folder(self, size: str) -> Path:
        return self._weights_dir / _SIZES[size].weights.name

    def _ask(self, size: str, **request: str | int) -> dict[str, Any]:
        child = self._running(size)
        try:
            answer = child.ask(request)
        except ChildLost as error:
            self.unload()
            raise EngineError(ErrorCode.VOICE_UNAVAILABLE, voice="Qwen3-TTS") from error
        if answer["type"] == "failed":
            self.unload()  # whatever it held may be in any state
            if answer.get("is_memory"):
                raise EngineError(ErrorCode.GPU_MEMORY)
            raise EngineError(ErrorCode.VOICE_UNAVAILABLE, voice="Qwen3-TTS")
        return answer

    def _running(self, size: str) -> JsonChild:
        if self._child is None or self._size != size:
            self.unload()
            command = (
                str(environment_python(self._env_dir)),
                str(_PROGRAM),
                str(self._folder(size)),
            )
            self._child = JsonChild("Qwen3-TTS", _TIMEOUT_S, command)
            self._size = size
        return self._child


@functools.cache
def _info(size: str, person: _Person, *, installed: bool) -> VoiceInfo:
    total_bytes = sum(file.max_bytes for file in _SIZES[size].weights.files)
    others = tuple(tag for tag in _TAGS if tag != person.own)
    return VoiceInfo(
        voice_id=f"{ENGINE_NAME}:{size}-{person.name}",
        engine=ENGINE_NAME,
        name=f"{person.name.replace('_', ' ')} (Qwen {size.upper()})",
        languages=(person.own, *others),
        gender=person.gender,
        sample_rate_hz=_SAMPLE_RATE_HZ,
        licence=QWEN_LICENCE,
        size_mb=total_bytes / 1e6,
        needs="gpu",
        styles=tuple(_INSTRUCTIONS) if _SIZES[size].has_styles else (),
        installed=installed,
    )
