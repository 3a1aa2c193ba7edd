"""Loudness is that of pyloudnorm, however a sound is cut into pieces, and takes no memory."""

import subprocess
import sys
import tracemalloc

import numpy as np
import pyloudnorm
import pytest

from engine.media.loudness import LoudnessMeter, integrated_lufs


def measured(pieces: list[np.ndarray], rate_hz: int) -> float | None:
    meter = LoudnessMeter(rate_hz)
    for piece in pieces:
        meter.add(piece)
    return integrated_lufs(meter.block_powers)


@pytest.mark.parametrize("rate_hz", [8000, 16000, 44100, 48000])
def test_as_loud_as_pyloudnorm_says(rate_hz: int) -> None:
    """Loud, soft, hardly anything and nothing: both gates have work to do."""
    levels = np.repeat([0.1, 0.01, 0.0001, 0.2, 0.0], 2 * rate_hz)
    sound = np.random.default_rng(rate_hz).standard_normal(len(levels)) * levels

    expected = pyloudnorm.Meter(rate_hz).integrated_loudness(sound)

    assert measured([sound], rate_hz) == pytest.approx(expected, abs=1e-6)
    cuts = [7, 1000, 1001, rate_hz, 3 * rate_hz + 17]
    assert measured(np.split(sound, cuts), rate_hz) == pytest.approx(expected, abs=1e-6)


def test_silence_and_a_moment_have_no_loudness() -> None:
    assert measured([np.zeros(48_000)], 48_000) is None
    assert measured([np.ones(4 * 4800 - 1)], 48_000) is None
    assert measured([], 48_000) is None


def test_a_minute_takes_no_more_memory_than_three_seconds() -> None:
    second = np.random.default_rng(1).standard_normal(48_000).astype(np.float32)
    measured([second] * 3, 48_000)
    peaks = []
    for count in (3, 60):
        tracemalloc.start()
        measured([second] * count, 48_000)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()

    assert peaks[1] < peaks[0] + 100_000


def test_measuring_a_file_loads_no_library_of_signals() -> None:
    """It would take a second and 50 MB of every child."""
    program = "import sys, engine.media.care; sys.exit('scipy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
