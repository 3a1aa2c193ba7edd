"""Speak English with flite's voices (models of recorded people), which print their segment times.

`python -m training.lipsync.flite TEXTS.json OUT.flac --voice rms --count 200` needs the `flite`
program.
"""

import argparse
import json
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import soundfile

from training.lipsync.corpus import Utterance, write_shard
from training.lipsync.festival import SILENCES, US
from training.lipsync.speak import to_16k, trimmed

VOICES = ("rms", "slt", "awb", "kal16")


def spoken(voice: str, texts: list[str], rng: np.random.Generator) -> Iterator[Utterance]:
    """One process a sentence; the printed times are the ends of the segments."""
    with tempfile.TemporaryDirectory() as folder:
        wav = Path(folder) / "a.wav"
        for text in texts:
            stretch = f"duration_stretch={rng.uniform(0.8, 1.15):.2f}"
            command = [
                "flite",
                "-voice",
                voice,
                "--setf",
                stretch,
                "-psdur",
                "-t",
                text,
                "-o",
                str(wav),
            ]
            shown = subprocess.run(command, capture_output=True, text=True, check=False).stdout
            samples, rate_hz = soundfile.read(wav, dtype="float32")
            found = []
            start = 0.0
            for entry in shown.split():
                phone, _, end = entry.rpartition(":")
                if phone not in SILENCES:
                    found.append((US.get(phone, phone), start, float(end)))
                start = float(end)
            if len(found) > 3:
                times = trimmed(found, samples, rate_hz)
                yield Utterance(to_16k(samples, rate_hz), times, "flite", voice, "en-us")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("texts", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--voice", choices=VOICES, required=True)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    texts = json.loads(arguments.texts.read_text(encoding="utf-8"))["en-us"]
    rng = np.random.default_rng(arguments.seed)
    lines = [texts[k] for k in rng.permutation(len(texts))[: arguments.count]]
    seconds = write_shard(arguments.out, spoken(arguments.voice, lines, rng))
    print(f"{arguments.voice}: {seconds:.0f} s")


if __name__ == "__main__":
    main()
