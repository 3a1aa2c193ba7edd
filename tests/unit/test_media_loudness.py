"""Loudness is that of pyloudnorm, however a sound is cut into pieces, and takes no memory."""

import subprocess
import sys
import tracemalloc

import numpy as np
import pyloudnorm
import pytest

from engine.media.loudness import integrated_lufs


@pytest.mark.parametrize("rate_hz", [8000, 16000, 24000, 44100, 48000])
def test_as_loud_as_pyloudnorm_says(rate_hz: int) -> None:
    """Loud, soft, hardly anything and nothing: both gates have work to do."""
    levels = np.repeat([0.1, 0.01, 0.0001, 0.2, 0.0], 2 * rate_hz)
    sound = np.random.default_rng(rate_hz).standard_normal(len(levels)) * levels
    pieces = np.split(sound.astype(np.float32), [7, 1000, 1001, rate_hz, 3 * rate_hz + 17])

    measured = integrated_lufs(pieces, rate_hz)

    meter = pyloudnorm.Meter(rate_hz, filter_class="DeMan")  # the filters of the standard
    assert measured == pytest.approx(meter.integrated_loudness(sound), abs=0.02)
    assert measured == integrated_lufs([sound.astype(np.float32)], rate_hz)
    softer = integrated_lufs([piece / np.float32(2) for piece in pieces], rate_hz)
    assert softer == pytest.approx(measured - 20 * np.log10(2), abs=0.01)


@pytest.mark.parametrize("count", [0, 1, 4 * 4800 - 1])
def test_a_moment_has_no_loudness(count: int) -> None:
    assert integrated_lufs([np.full(count, 0.5, np.float32)] * bool(count), 48_000) is None


def test_silence_has_no_loudness() -> None:
    assert integrated_lufs([np.zeros(48_000, np.float32)] * 3, 48_000) is None


def test_a_minute_takes_no_more_memory_than_three_seconds() -> None:
    second = np.random.default_rng(1).standard_normal(48_000).astype(np.float32)
    integrated_lufs([second] * 3, 48_000)
    peaks = []
    for count in (3, 60):
        tracemalloc.start()
        integrated_lufs([second] * count, 48_000)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()

    assert peaks[1] < peaks[0] + 100_000


def test_caring_for_a_file_loads_no_library_of_signals() -> None:
    """It would take a second and 50 MB of every child."""
    program = "import sys, engine.media.care; sys.exit('scipy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
