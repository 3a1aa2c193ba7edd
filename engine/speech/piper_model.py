"""One voice in Piper's file format: `NAME.onnx` and `NAME.onnx.json`, run directly on onnxruntime.

The configuration says which letters the network knows, which language of espeak-ng wrote them,
and how lively it speaks. The durations of the letters are an inner tensor of the graph: what its
only `Ceil` node gives.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import EngineError, ErrorCode
from engine.speech.network import open_network, run_network
from engine.speech.onnx_outputs import with_output

_BEGIN, _END, _GAP = "^", "$", "_"
# In protobuf a node is written as output (field 2), perhaps name (3), then its kind (4).
_CEIL = re.compile(rb"\x12(.)([ -~]{1,120})(?:\x1a.[ -~]{1,120})?\x22\x04Ceil", re.S)
_HOP_SAMPLES = 256
_MAX_CONFIG_BYTES = 2_000_000


@dataclass(frozen=True)
class PiperConfig:
    """What a voice's JSON says.

    Attributes:
        sample_rate_hz: of its sound.
        espeak_voice: which language of espeak-ng its letters are of.
        letters: letter -> numbers the network knows it by.
        is_text: letters are those of the text itself instead of IPA.
        noise, noise_of_lengths: how lively it speaks.
        length: its own slowness, 1 = as trained.
        hop_samples: one step of the durations.
        num_speakers: people in the network; the first one speaks.
    """

    sample_rate_hz: int
    espeak_voice: str
    letters: dict[str, list[int]]
    is_text: bool = False
    noise: float = 0.667
    noise_of_lengths: float = 0.8
    length: float = 1.0
    hop_samples: int = _HOP_SAMPLES
    num_speakers: int = 1

    @classmethod
    def load(cls, path: Path) -> "PiperConfig":
        """Read it.

        Raises:
            EngineError: VOICE_UNAVAILABLE when the file is missing, damaged, or of a voice that
                is written in something other than IPA or plain text.
        """
        try:
            with path.open("rb") as stream:
                given = json.loads(stream.read(_MAX_CONFIG_BYTES))
            is_text = {"espeak": False, "text": True}[given.get("phoneme_type", "espeak")]
            inference = given.get("inference", {})
            return cls(
                sample_rate_hz=int(given["audio"]["sample_rate"]),
                espeak_voice=str(given["espeak"]["voice"]),
                letters={str(key): list(ids) for key, ids in given["phoneme_id_map"].items()},
                is_text=is_text,
                noise=float(inference.get("noise_scale", cls.noise)),
                noise_of_lengths=float(inference.get("noise_w", cls.noise_of_lengths)),
                length=float(inference.get("length_scale", cls.length)),
                hop_samples=int(given.get("hop_length", _HOP_SAMPLES)),
                num_speakers=int(given.get("num_speakers", 1)),
            )
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise EngineError(ErrorCode.VOICE_UNAVAILABLE, voice=path.name) from error


class PiperModel:
    """The network of one voice; about 100 MB.

    Args:
        path: the `.onnx` file; its `.onnx.json` lies beside it.

    Attributes:
        config: what its JSON says.
        has_times: whether it tells how long each letter lasts.

    Raises:
        EngineError: VOICE_UNAVAILABLE when a file is missing or damaged.
    """

    def __init__(self, path: Path) -> None:
        self._name = path.stem
        self.config = PiperConfig.load(path.with_name(path.name + ".json"))
        try:
            graph = path.read_bytes()
        except OSError as error:
            raise EngineError(ErrorCode.VOICE_UNAVAILABLE, voice=self._name) from error
        durations = _name_of_durations(graph)
        self.has_times = durations is not None
        self._session: Any = open_network(
            with_output(graph, durations) if durations else graph, self._name
        )
        self._wants_speaker = any(entry.name == "sid" for entry in self._session.get_inputs())

    def knows(self, letter: str) -> bool:
        """Whether the network knows a letter."""
        return letter in self.config.letters

    def run_timed(
        self, letters: Sequence[str], speed: float
    ) -> tuple[NDArray[np.float32], list[float]]:
        """As `run`, of a network that `has_times`."""
        samples, durations_s = self.run(letters, speed)
        return samples, durations_s or []

    def run(
        self, letters: Sequence[str], speed: float
    ) -> tuple[NDArray[np.float32], list[float] | None]:
        """Speak letters that it knows.

        Args:
            letters: in order.
            speed: 0.5-2, 1 = the voice's own.

        Returns:
            Samples, and the seconds of the begin mark, of every letter and of the end mark;
            None for the seconds when the network does not tell.

        Raises:
            EngineError: VOICE_UNAVAILABLE.
        """
        config = self.config
        gap = config.letters.get(_GAP, [])
        groups = [[*config.letters.get(letter, []), *gap] for letter in (_BEGIN, *letters)] + [
            list(config.letters.get(_END, []))
        ]
        ids = [number for group in groups for number in group]
        scales = [config.noise, config.length / speed, config.noise_of_lengths]
        feeds = {
            "input": np.array([ids], np.int64),
            "input_lengths": np.array([len(ids)], np.int64),
            "scales": np.array(scales, np.float32),
        }
        if self._wants_speaker:
            feeds["sid"] = np.array([0], np.int64)
        outputs = run_network(self._session, feeds, self._name)
        samples = np.ravel(outputs[0]).astype(np.float32)
        if not self.has_times:
            return samples, None
        steps = np.ravel(outputs[-1]) * (config.hop_samples / config.sample_rate_hz)
        ends = np.cumsum([len(group) for group in groups])
        return samples, [float(part.sum()) for part in np.split(steps, ends[:-1])]


def _name_of_durations(graph: bytes) -> str | None:
    """The tensor that the only `Ceil` of a graph gives; None when there is not just one."""
    found = {match[2].decode() for match in _CEIL.finditer(graph) if ord(match[1]) == len(match[2])}
    return found.pop() if len(found) == 1 else None
