"""The program around Qwen3-TTS: JSON lines in, sound out; run by the Python of its own environment.

``python qwen_process.py FOLDER`` loads the model that lies in FOLDER, reads one JSON object a line
on stdin, answers each with one on stdout and ends with its stdin. It imports nothing of the
product, whose packages its environment does not have.

Requests and answers::

    {"type": "hello"} -> {"type": "ready", "speakers": [...], "languages": [...], "device"}
    {"type": "speak", "text", "speaker", "language", "instruct", "seed"}
        -> {"type": "spoken", "sample_rate_hz", "pcm": base64 of int16 little-endian mono}
    anything that cannot be done -> {"type": "failed", "reason", "is_memory"}
"""

import base64
import json
import os
import sys
import threading
import time
import types
from importlib import import_module
from typing import Any

_TOKENS_PER_S = 12.5  # of sound
_LOOK_EVERY_S = 2.0
_LONGEST_S = 60.0  # of one sentence; a model that finds no end is stopped


def import_packages() -> tuple[Any, Any]:
    """Torch and the model's package.

    The package imports torchaudio for a tokenizer that these models do not use; where it is
    absent or does not fit to torch, an empty stand-in takes its place.
    """
    torch = import_module("torch")
    import_module("transformers")  # first: it looks for torchaudio as well, and shall not find ours
    try:
        import_module("torchaudio.compliance.kaldi")
    except (ImportError, OSError):
        names = ("torchaudio", "torchaudio.compliance", "torchaudio.compliance.kaldi")
        for name in [name for name in sys.modules if name.partition(".")[0] == "torchaudio"]:
            del sys.modules[name]
        for name in names:
            sys.modules[name] = types.ModuleType(name)
    return torch, import_module("qwen_tts")


class Speaker:
    """One loaded model.

    Args:
        folder: with its files in the public layout.
    """

    def __init__(self, folder: str) -> None:
        self._torch, package = import_packages()
        has_card = self._torch.cuda.is_available()
        self.device = "cuda:0" if has_card else "cpu"
        dtype = self._torch.bfloat16 if has_card else self._torch.float32
        self._model = package.Qwen3TTSModel.from_pretrained(
            folder, device_map=self.device, dtype=dtype, local_files_only=True
        )

    def hello(self) -> dict[str, Any]:
        """What it offers."""
        return {
            "type": "ready",
            "speakers": list(self._model.get_supported_speakers() or ()),
            "languages": list(self._model.get_supported_languages() or ()),
            "device": self.device,
        }

    def speak(
        self, text: str, speaker: str, language: str, instruct: str, seed: int
    ) -> dict[str, Any]:
        """Speak one sentence."""
        self._torch.manual_seed(seed)
        with self._torch.inference_mode():
            waves, rate_hz = self._model.generate_custom_voice(
                text=text,
                speaker=speaker,
                language=language,
                instruct=instruct or None,
                max_new_tokens=int(_LONGEST_S * _TOKENS_PER_S),
            )
        samples = self._torch.as_tensor(waves[0]).float().flatten().clamp(-1, 1)
        pcm = (samples * 32767).to(self._torch.int16).cpu().numpy().astype("<i2").tobytes()
        return {
            "type": "spoken",
            "sample_rate_hz": int(rate_hz),
            "pcm": base64.b64encode(pcm).decode(),
        }

    def answer(self, line: bytes) -> dict[str, Any]:
        """Do what one request line asks."""
        request = json.loads(line)
        kind = request.pop("type", None)
        try:
            if kind == "hello":
                return self.hello()
            if kind == "speak":
                return self.speak(**request)
        except Exception as error:  # noqa: BLE001 - the edge of the program: it goes on
            is_memory = "out of memory" in str(error).lower() or isinstance(error, MemoryError)
            return {"type": "failed", "reason": type(error).__name__, "is_memory": is_memory}
        return {"type": "failed", "reason": f"unknown request {kind}", "is_memory": False}


def end_with_parent() -> None:
    """End when the parent is gone, even in the middle of a long sentence."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_LOOK_EVERY_S)
        os._exit(1)

    threading.Thread(target=watch, name="parent", daemon=True).start()


def main() -> None:
    """Serve until stdin ends."""
    end_with_parent()
    # The answers get a descriptor of their own: what the libraries print goes to stderr.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    speaker: Speaker | None = None
    for line in sys.stdin.buffer:
        try:
            speaker = speaker or Speaker(sys.argv[1])
            answer = speaker.answer(line)
        except Exception as error:  # noqa: BLE001 - a model that cannot be loaded is an answer too
            is_memory = "out of memory" in str(error).lower()
            answer = {"type": "failed", "reason": type(error).__name__, "is_memory": is_memory}
        answers.write(json.dumps(answer, separators=(",", ":")).encode() + b"\n")
        answers.flush()


if __name__ == "__main__":
    main()
