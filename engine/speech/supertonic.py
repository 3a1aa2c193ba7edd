# ruff: noqa: RUF001 - marks of many scripts look like others
"""Ten natural voices in 31 languages after one download: Supertonic 3, run on onnxruntime.

Four networks: how long the text lasts, what it means, eight steps from noise to a sound's latent
form, and its waveform. None of them tells when each sound comes: whoever asks finds the times
in the sound.
"""

import json
import threading
import unicodedata
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from engine.contracts import VoiceInfo
from engine.errors import EngineError, ErrorCode, InputError
from engine.speech.network import open_network, run_network
from engine.speech.voice import SpokenClip
from engine.weights.voices import (
    SUPERTONIC,
    SUPERTONIC_BYTES,
    SUPERTONIC_LICENCE,
    SUPERTONIC_STYLES,
)

ENGINE_NAME = "supertonic"
_TITLE = "Supertonic"
LANGUAGES = (
    "en", "ar", "bg", "cs", "da", "de", "el", "es", "et", "fi", "fr", "hi", "hr", "hu", "id", "it",
    "ja", "ko", "lt", "lv", "nl", "pl", "pt", "ro", "ru", "sk", "sl", "sv", "tr", "uk", "vi",
)  # fmt: skip
_STEPS = 8
_OWN_SPEED = 1.05  # its makers' usual one
_SEED = 0  # the same text gives the same samples
_SAMPLE_RATE_HZ = 44100
_PLAIN_MARKS = str.maketrans(
    {"–": "-", "—": "-", "‑": "-", "_": " ", "“": '"', "”": '"', "‘": "'", "’": "'", "´": "'",
     "`": "'", "[": " ", "]": " ", "|": " ", "/": " ", "#": " ", "→": " ", "←": " "}
)  # fmt: skip
_ENDS = tuple(".!?;:,'\")]}…。」』】〉》›»")


@dataclass(frozen=True)
class _Shape:
    """What `tts.json` says of the latent form: 1 step holds `chunk` samples, `width` numbers."""

    sample_rate_hz: int
    chunk: int
    width: int


class SupertonicModel:
    """The four networks, their alphabet and shapes; about 400 MB.

    Args:
        folder: of the downloaded files.

    Raises:
        EngineError: VOICE_UNAVAILABLE when a file is missing or damaged.
    """

    def __init__(self, folder: Path) -> None:
        onnx = folder / "onnx"
        try:
            given = json.loads((onnx / "tts.json").read_text("utf-8"))
            self._numbers: list[int] = json.loads(
                (onnx / "unicode_indexer.json").read_text("utf-8")
            )
            together = int(given["ttl"]["chunk_compress_factor"])
            self.shape = _Shape(
                sample_rate_hz=int(given["ae"]["sample_rate"]),
                chunk=int(given["ae"]["base_chunk_size"]) * together,
                width=int(given["ttl"]["latent_dim"]) * together,
            )
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise EngineError(ErrorCode.VOICE_UNAVAILABLE, voice=_TITLE) from error
        self._duration = open_network(onnx / "duration_predictor.onnx", _TITLE)
        self._text = open_network(onnx / "text_encoder.onnx", _TITLE)
        self._estimate = open_network(onnx / "vector_estimator.onnx", _TITLE)
        self._vocoder = open_network(onnx / "vocoder.onnx", _TITLE)
        self._folder = folder
        self._styles: dict[str, tuple[NDArray[np.float32], NDArray[np.float32]]] = {}

    def run(self, text: str, language: str, style: str, speed: float) -> NDArray[np.float32]:
        """Speak one sentence.

        Args:
            text: cleaned.
            language: one of `LANGUAGES`.
            style: one of `SUPERTONIC_STYLES`.
            speed: 0.5-2, 1 = the voice's own.

        Returns:
            Samples.

        Raises:
            InputError: TEXT_EMPTY when it knows no letter of the text.
            EngineError: VOICE_UNAVAILABLE.
        """
        for_meaning, for_length = self._style(style)
        ids = np.array([self._ids(text, language)], np.int64)
        text_mask = np.ones((1, 1, ids.shape[1]), np.float32)
        same: dict[str, Any] = {"text_ids": ids, "text_mask": text_mask}
        seconds = run_network(self._duration, {**same, "style_dp": for_length}, _TITLE)[0]
        length_s = float(np.ravel(seconds)[0]) / (speed * _OWN_SPEED)
        meaning = run_network(self._text, {**same, "style_ttl": for_meaning}, _TITLE)[0]
        num_samples = int(length_s * self.shape.sample_rate_hz)
        num_steps = max(1, -(-num_samples // self.shape.chunk))
        rng = np.random.default_rng(_SEED)
        latent = rng.standard_normal((1, self.shape.width, num_steps)).astype(np.float32)
        for step in range(_STEPS):
            feeds = {
                "noisy_latent": latent,
                "text_emb": meaning,
                "style_ttl": for_meaning,
                "text_mask": text_mask,
                "latent_mask": np.ones((1, 1, num_steps), np.float32),
                "current_step": np.array([step], np.float32),
                "total_step": np.array([_STEPS], np.float32),
            }
            latent = run_network(self._estimate, feeds, _TITLE)[0]
        samples = np.ravel(run_network(self._vocoder, {"latent": latent}, _TITLE)[0])
        return np.asarray(samples[:num_samples], np.float32)

    def _ids(self, text: str, language: str) -> list[int]:
        """Numbers of the letters, between marks of the language; unknown letters are left out."""
        plain = " ".join(unicodedata.normalize("NFKD", text).translate(_PLAIN_MARKS).split())
        known = "".join(letter for letter in plain if self._number(letter) >= 0)
        if not any(letter.isalnum() for letter in known):
            raise InputError(ErrorCode.TEXT_EMPTY)
        ending = "" if known.endswith(_ENDS) else "."
        whole = f"<{language}>{known}{ending}</{language}>"
        return [number for letter in whole if (number := self._number(letter)) >= 0]

    def _number(self, letter: str) -> int:
        code = ord(letter)
        return self._numbers[code] if code < len(self._numbers) else -1

    def _style(self, name: str) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        if name not in self._styles:
            path = self._folder / "voice_styles" / f"{name}.json"
            try:
                given = json.loads(path.read_text("utf-8"))
                meaning, length = (_tensor(given[key]) for key in ("style_ttl", "style_dp"))
            except (OSError, ValueError, KeyError, TypeError) as error:
                raise EngineError(ErrorCode.VOICE_UNAVAILABLE, voice=f"{_TITLE} {name}") from error
            self._styles[name] = (meaning, length)
        return self._styles[name]


class SupertonicEngine:
    """Speaks 31 languages with ten voices; the networks are loaded with the first text.

    Args:
        folder: where the download puts its files.
    """

    name = ENGINE_NAME
    reads_also = frozenset({"LATIN"})

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._model: SupertonicModel | None = None

    def voices(self) -> tuple[VoiceInfo, ...]:
        """All ten, here or to be downloaded."""
        installed = all((self._folder / file.path).is_file() for file in SUPERTONIC.files)
        return tuple(_info(style, installed=installed) for style in SUPERTONIC_STYLES)

    def speak(self, text: str, voice_id: str, language: str, speed: float) -> SpokenClip:
        """Speak one sentence; the clip has no times.

        Args:
            text: cleaned text.
            voice_id: such as `supertonic:F1`.
            language: BCP 47 tag, one of `LANGUAGES`.
            speed: 0.5-2, 1 = the voice's own.

        Raises:
            InputError: VOICE_UNKNOWN, or TEXT_EMPTY when nothing in the text can be spoken.
            EngineError: VOICE_UNAVAILABLE when files are missing or damaged.
        """
        style = voice_id.removeprefix(f"{ENGINE_NAME}:")
        if style not in SUPERTONIC_STYLES:
            raise InputError(ErrorCode.VOICE_UNKNOWN, voice=voice_id)
        base = language.partition("-")[0]
        spoken = base if base in LANGUAGES else LANGUAGES[0]
        with self._lock:
            self._model = model = self._model or SupertonicModel(self._folder)
            samples = model.run(text, spoken, style, speed)
        return SpokenClip(samples, model.shape.sample_rate_hz, (), (), voice_id, spoken)

    def reset(self) -> None:
        """Nothing to do: every text starts from the same noise."""

    def unload(self) -> None:
        """Give the networks' memory back."""
        with self._lock:
            self._model = None


def _tensor(given: dict[str, Any]) -> NDArray[np.float32]:
    values: NDArray[np.float32] = np.array(given["data"], np.float32).reshape(given["dims"])
    return values


def _info(style: str, *, installed: bool) -> VoiceInfo:
    gender: Literal["female", "male"] = "female" if style[0] == "F" else "male"
    return VoiceInfo(
        voice_id=f"{ENGINE_NAME}:{style}",
        engine=ENGINE_NAME,
        name=f"{_TITLE} {style}",
        languages=LANGUAGES,
        gender=gender,
        sample_rate_hz=_SAMPLE_RATE_HZ,
        licence=SUPERTONIC_LICENCE,
        size_mb=SUPERTONIC_BYTES / 1e6,
        needs="none" if installed else "download",
        installed=installed,
    )
