"""Recorded people with known words: the English prompts of the Asterisk telephone system.

`python -m training.lipsync.recordings SOUNDS TRANSCRIPT OUT.flac` where SOUNDS is the folder of
.g722 files (Debian's `asterisk-core-sounds-en-g722`) and TRANSCRIPT the `core-sounds-en.txt.gz` of
`asterisk-core-sounds-en`. ffmpeg decodes the prompts, pocketsphinx aligns them; those that do not
align are left out.
"""

import argparse
import gzip
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from training.lipsync.align import by_pocketsphinx
from training.lipsync.corpus import Utterance, to_int16, write_shard

# A phone longer than this is a slip of the aligner.
LONGEST_S = 0.6


def transcripts(path: Path) -> dict[str, str]:
    """Prompt name -> words, without those that hold digits, sound effects or abbreviations."""
    found = {}
    with gzip.open(path, "rt", encoding="utf-8", errors="ignore") as lines:
        text_lines = lines.read().splitlines()
    for line in text_lines:
        name, _, text = line.strip().partition(": ")
        if text and not line.startswith(";") and not re.search(r"[0-9\[\]()<>*#/]|[A-Z]{2,}", text):
            found[name] = text
    return found


def decoded(path: Path) -> np.ndarray:
    """A G.722 file as 16 kHz floats."""
    command = [
        "ffmpeg",
        "-v",
        "error",
        "-f",
        "g722",
        "-i",
        str(path),
        "-f",
        "f32le",
        "-ar",
        "16000",
        "-",
    ]
    raw = subprocess.run(command, capture_output=True, check=True).stdout
    return np.frombuffer(raw, np.float32)


def aligned(sounds: Path, words: dict[str, str]) -> Iterator[Utterance]:
    for name, text in sorted(words.items()):
        path = sounds / f"{name}.g722"
        if not path.exists():
            continue
        samples = decoded(path)
        try:
            times = by_pocketsphinx(samples, text)
        except (KeyError, RuntimeError):
            continue  # a word the dictionary does not have, or no alignment
        if len(times) >= 4 and max(b - a for _, a, b in times) < LONGEST_S:
            yield Utterance(to_int16(samples), tuple(times), "recording", sounds.name, "en-us")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sounds", type=Path)
    parser.add_argument("transcript", type=Path)
    parser.add_argument("out", type=Path)
    arguments = parser.parse_args()
    items = list(aligned(arguments.sounds, transcripts(arguments.transcript)))
    print(f"{len(items)} prompts, {write_shard(arguments.out, items):.0f} s")


if __name__ == "__main__":
    main()
