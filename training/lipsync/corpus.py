"""Utterances with phoneme times, and the shards they are kept in.

A shard is two files: the sound of all utterances one after the other (`.flac`, or `.ogg` with Opus
where size matters) and a `.json` that says where each begins and what is spoken when.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import soundfile
from numpy.typing import NDArray

SAMPLE_RATE_HZ = 16_000
FORMATS = {".flac": ("FLAC", "PCM_16"), ".ogg": ("OGG", "OPUS")}


@dataclass(frozen=True)
class Utterance:
    """One spoken piece.

    Attributes:
        samples: int16 mono, 16 kHz.
        phonemes: (ipa, start in seconds, end in seconds), silences left out.
        source: what made it: `espeak`, `kokoro`, `hibari`, `festival`, `recording`, ...
        voice: which voice of the source.
        language: tag such as `de` or `en-us`.
    """

    samples: NDArray[np.int16]
    phonemes: tuple[tuple[str, float, float], ...]
    source: str
    voice: str
    language: str

    @property
    def duration_s(self) -> float:
        return len(self.samples) / SAMPLE_RATE_HZ


@dataclass(frozen=True)
class Timed:
    """What `targets_from_timings` reads of a phoneme."""

    ipa: str
    start_s: float
    end_s: float


def to_int16(samples: NDArray[np.float32], peak: float = 0.5) -> NDArray[np.int16]:
    """Scale to a common peak so that quiet engines do not lose bits."""
    loudest = float(np.max(np.abs(samples), initial=1e-6))
    return np.round(samples * (peak / loudest * 32767.0)).astype(np.int16)


def write_shard(path: Path, utterances: Iterable[Utterance]) -> float:
    """Write a shard (`path` ends in .flac or .ogg) and return its length in seconds."""
    kind, subtype = FORMATS[path.suffix]
    rows: list[dict[str, object]] = []
    seconds = 0.0
    with soundfile.SoundFile(path, "w", SAMPLE_RATE_HZ, 1, subtype=subtype, format=kind) as sound:
        for item in utterances:
            sound.write(item.samples)
            seconds += item.duration_s
            rows.append(
                {
                    "n": len(item.samples),
                    "p": [[ipa, round(a, 4), round(b, 4)] for ipa, a, b in item.phonemes],
                    "s": item.source,
                    "v": item.voice,
                    "l": item.language,
                }
            )
    path.with_suffix(".json").write_text(
        json.dumps(rows, ensure_ascii=False, separators=(",", ":")), encoding="utf-8"
    )
    return seconds


def read_shard(path: Path) -> Iterator[Utterance]:
    """Read the utterances of a shard back."""
    samples, rate_hz = soundfile.read(path, dtype="int16")
    assert rate_hz == SAMPLE_RATE_HZ, path
    start = 0
    for row in json.loads(path.with_suffix(".json").read_text(encoding="utf-8")):
        piece = samples[start : start + row["n"]]
        start += row["n"]
        yield Utterance(
            piece, tuple((p[0], p[1], p[2]) for p in row["p"]), row["s"], row["v"], row["l"]
        )


def shards_in(folder: Path) -> list[Path]:
    """All finished shards under a folder, in a fixed order."""
    return sorted(
        path
        for path in folder.rglob("*")
        if path.suffix in FORMATS and path.with_suffix(".json").exists()
    )
