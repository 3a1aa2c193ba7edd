"""The network of the `hibari-tts` package and its letters, loaded once.

Its modules are looked up when a text is spoken, so that listing voices needs neither the package
nor onnxruntime. The version is pinned: names inside its graph are no interface.
"""

import json
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import EngineError, ErrorCode
from engine.speech.kept_noise import NoiseOfText
from engine.speech.onnx_outputs import with_output

SAMPLE_RATE_HZ = 24000
_DURATIONS = "/Clip_output_0"
_STEP_S = 0.025  # one duration step: two spectrum frames of 12.5 ms
_PADDING = 0  # the symbol before and behind every run


class HibariModel:
    """The voice `heart`.

    Args:
        threads: of onnxruntime.

    Attributes:
        ids: number of each letter that the network knows.

    Raises:
        EngineError: VOICE_UNAVAILABLE when the package is missing or damaged.
    """

    def __init__(self, threads: int) -> None:
        try:
            # None of these has types.
            onnxruntime: Any = import_module("onnxruntime")
            self._synthesize: Any = import_module("hibari.dsp").synth
            assets = Path(import_module("hibari.g2p").ASSETS)
            self.ids: dict[str, int] = json.loads((assets / "vocab.json").read_text("utf-8"))
            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = options.inter_op_num_threads = threads
            options.log_severity_level = 3  # errors only
            graph = with_output((assets / "hibari.onnx").read_bytes(), _DURATIONS)
            self._session = onnxruntime.InferenceSession(
                graph, options, providers=["CPUExecutionProvider"]
            )
        except (ImportError, OSError) as error:
            raise EngineError(ErrorCode.VOICE_UNAVAILABLE, voice="Heart") from error

    def run(
        self, letters: Sequence[str], speed: float, noise: NoiseOfText
    ) -> tuple[NDArray[np.float32], list[float]]:
        """Speak at most a few hundred letters.

        Args:
            letters: known ones.
            speed: 0.5-2, 1 = the voice's own.
            noise: of voiceless sounds.

        Returns:
            Samples at `SAMPLE_RATE_HZ`, and the seconds of the padding before, of every letter
            and of the padding behind.
        """
        ids = [_PADDING, *(self.ids[letter] for letter in letters), _PADDING]
        *spectrum, steps = self._session.run(
            None, {"ids": np.array([ids], np.int64), "speed": np.array([speed], np.float32)}
        )
        samples: NDArray[np.float32] = self._synthesize(*(part[0] for part in spectrum), noise)
        return samples, (np.ravel(steps) * _STEP_S).tolist()
