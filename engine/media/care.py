"""Care for a sound of ours before a video is made of it: loudness, noise, silent ends.

Nothing here changes a file: each step writes another one. A second of sound is in memory at a
time.
"""

import wave
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import soundfile as sf
from numpy.typing import NDArray

from engine.media.atomic import replace_when_done
from engine.media.loudness import LoudnessMeter, integrated_lufs
from engine.speech.levels import limit_peaks

TARGET_LUFS = -16.0
"""What most places on the web play speech at; a voice is neither lost nor shouted there."""

MAX_GAIN_DB = 20.0
"""More would mostly lift hiss; a recording was brought to a usual level before."""

STRETCH_S = 30.0
NUM_STRETCHES = 8
"""Up to four minutes are measured whole, longer sounds on as much of them, spread evenly."""

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
    powers = []
    with sf.SoundFile(str(wav)) as file:
        for start, count in _stretches(file):
            file.seek(start)
            meter = LoudnessMeter(file.samplerate)
            for samples in file.blocks(file.samplerate, dtype="float32", frames=count):
                meter.add(_amplified(samples, gain_db))
            powers.append(meter.block_powers)
    return integrated_lufs(np.concatenate(powers))


def _stretches(file: sf.SoundFile) -> list[tuple[int, int]]:
    """First sample and number of samples of every stretch that is measured."""
    count = round(STRETCH_S * file.samplerate)
    if file.frames <= NUM_STRETCHES * count:
        return [(0, file.frames)]
    starts = np.linspace(0, file.frames - count, NUM_STRETCHES)
    return [(int(start), count) for start in starts]


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
    rate_hz, second = file.samplerate, Fraction(1, file.samplerate)
    graph = av.filter.Graph()
    source = graph.add_abuffer(sample_rate=rate_hz, format="flt", layout="mono", time_base=second)
    denoiser = graph.add("afftdn", f"nr={NOISE_REDUCTION_DB}:nf={floor_dbfs:.1f}")
    sink = graph.add("abuffersink")
    source.link_to(denoiser)
    denoiser.link_to(sink)
    graph.configure()
    late = round(_FILTER_DELAY_S * rate_hz)
    at, to_drop = 0, late
    for samples in _then_silence(file, late):
        frame = av.AudioFrame.from_ndarray(samples[np.newaxis], format="flt", layout="mono")
        frame.sample_rate, frame.pts, frame.time_base = rate_hz, at, second
        at += len(samples)
        graph.push(frame)
        for clean in _pulled(graph):
            yield clean[to_drop:]
            to_drop -= min(to_drop, len(clean))
    graph.push(None)
    yield from _pulled(graph)


def _then_silence(file: sf.SoundFile, count: int) -> Iterator[NDArray[np.float32]]:
    yield from file.blocks(file.samplerate, dtype="float32")
    yield np.zeros(count, np.float32)


def _pulled(graph: av.filter.Graph) -> Iterator[NDArray[np.float32]]:
    while True:
        try:
            frame = graph.pull()
        except (av.error.BlockingIOError, av.error.EOFError):
            return
        yield np.asarray(frame.to_ndarray(), np.float32).reshape(-1)
