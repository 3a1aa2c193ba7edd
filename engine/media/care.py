"""Care for a sound of ours before a video is made of it: loudness, noise, silent ends.

Nothing here changes a file: each step writes another one. A second of sound is in memory at a
time.
"""

import wave
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import soundfile as sf
from numpy.typing import NDArray

from engine.media.atomic import replace_when_done
from engine.media.loudness import integrated_lufs
from engine.media.sound_filter import through_filter
from engine.speech.levels import limit_peaks

TARGET_LUFS = -16.0
"""What most places on the web play speech at; a voice is neither lost nor shouted there."""

MAX_GAIN_DB = 20.0
"""More would mostly lift hiss; a recording was brought to a usual level before."""

NOISE_REDUCTION_DB = 12.0
"""Gentle: pauses become about half as loud, and a voice keeps its consonants."""

_FILTER_DELAY_S = 1 / 40
"""FFmpeg's filter answers two of its steps late, and says nothing about it."""

_QUIETEST, _LOUDEST = -80.0, -20.0
"""Noise floors that the filter takes, in dBFS."""

_FLOOR_BLOCK_S = 0.05
_FLOOR_PERCENTILE = 10
"""Of the levels of all blocks, what the pauses have: read speech pauses for a fifth of its time."""

PASSES = 2
"""Bending peaks takes some loudness away again; a second look makes up for it."""


def loudness_lufs(wav: Path) -> float | None:
    """Integrated loudness (ITU-R BS.1770); None for silence and for less than 0.4 s.

    Args:
        wav: a sound file of ours.
    """
    return _loudness(wav, 0.0)


def gain_to_target_db(wav: Path) -> float:
    """What brings a sound to `TARGET_LUFS`; 0 where that cannot be told."""
    gain_db = 0.0
    for _ in range(PASSES):
        reached = _loudness(wav, gain_db)
        if reached is None:
            return 0.0
        gain_db = float(np.clip(gain_db + TARGET_LUFS - reached, -MAX_GAIN_DB, MAX_GAIN_DB))
    return gain_db


def write_cared(source: Path, target: Path, gain_db: float, span_s: tuple[float, float]) -> None:
    """Write a part of a sound louder or softer, its peaks bent below full scale.

    Args:
        source: a mono WAV of ours.
        target: another one, written whole or not at all.
        gain_db: 0 leaves the samples as they are.
        span_s: first and last moment kept, in seconds.

    Raises:
        EngineError: DISK_FULL or OUTPUT_NOT_WRITABLE.
    """
    with sf.SoundFile(str(source)) as file, replace_when_done(target) as part:
        first, last = (round(moment_s * file.samplerate) for moment_s in span_s)
        file.seek(min(first, file.frames))
        left = min(last, file.frames) - file.tell()
        with wave.open(str(part), "wb") as writer:
            writer.setnchannels(1)
            writer.setsampwidth(2)
            writer.setframerate(file.samplerate)
            while left > 0:
                samples = file.read(min(left, file.samplerate), dtype="float32")
                if not len(samples):
                    return
                left -= len(samples)
                writer.writeframes(_int16(_amplified(samples, gain_db)))


def reduce_noise(source: Path, target: Path) -> None:
    """Write a sound with less of the steady noise behind the voice; its length stays.

    FFmpeg's spectral filter, told how loud the pauses are.

    Args:
        source: a mono WAV of ours.
        target: another one, written whole or not at all.

    Raises:
        EngineError: DISK_FULL or OUTPUT_NOT_WRITABLE.
    """
    with sf.SoundFile(str(source)) as file, replace_when_done(target) as part:
        left = file.frames
        with wave.open(str(part), "wb") as writer:
            writer.setnchannels(1)
            writer.setsampwidth(2)
            writer.setframerate(file.samplerate)
            for samples in _denoised(file, noise_floor_dbfs(source)):
                writer.writeframes(_int16(samples[:left]))
                left -= min(left, len(samples))
            writer.writeframes(bytes(2 * left))


def _loudness(wav: Path, gain_db: float) -> float | None:
    """Loudness as it would be after a gain."""
    with sf.SoundFile(str(wav)) as file:
        pieces = file.blocks(file.samplerate, dtype="float32")
        return integrated_lufs((_amplified(one, gain_db) for one in pieces), file.samplerate)


def _amplified(samples: NDArray[np.float32], gain_db: float) -> NDArray[np.float32]:
    return samples if gain_db == 0.0 else limit_peaks(samples * np.float32(10 ** (gain_db / 20)))


def _int16(samples: NDArray[np.float32]) -> bytes:
    return bytes(np.clip(np.rint(samples * 32767.0), -32768, 32767).astype("<i2"))


def noise_floor_dbfs(wav: Path) -> float:
    """How loud a sound is where nobody speaks."""
    powers: list[float] = []
    with sf.SoundFile(str(wav)) as file:
        block = round(_FLOOR_BLOCK_S * file.samplerate)
        for samples in file.blocks(block, dtype="float32"):
            powers.append(float(np.mean(np.square(samples, dtype=np.float64))))
    heard = [power for power in powers if power > 0.0]
    if not heard:
        return _QUIETEST
    floor_dbfs = 10.0 * np.log10(np.percentile(heard, _FLOOR_PERCENTILE))
    return float(np.clip(floor_dbfs, _QUIETEST, _LOUDEST))


def _denoised(file: sf.SoundFile, floor_dbfs: float) -> Iterator[NDArray[np.float32]]:
    """The sound without its noise, in time with the original."""
    late = round(_FILTER_DELAY_S * file.samplerate)
    options = f"nr={NOISE_REDUCTION_DB}:nf={floor_dbfs:.1f}"
    to_drop = late
    for frame in through_filter(_then_silence(file, late), file.samplerate, "afftdn", options):
        clean = np.asarray(frame.to_ndarray(), np.float32).reshape(-1)
        yield clean[to_drop:]
        to_drop -= min(to_drop, len(clean))


def _then_silence(file: sf.SoundFile, count: int) -> Iterator[NDArray[np.float32]]:
    yield from file.blocks(file.samplerate, dtype="float32")
    yield np.zeros(count, np.float32)
