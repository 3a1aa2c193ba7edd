"""How loud a sound is to people: ITU-R BS.1770-4 for one channel, piece by piece.

What is kept of a sound is one power for every tenth of a second. Knows nothing of files.
"""

import math

import numpy as np
from numpy.typing import NDArray

from engine.media.biquad import Biquad

STEP_S, STEPS_PER_BLOCK = 0.1, 4
"""Blocks of the standard are 0.4 s long and begin every 0.1 s."""

_ABSOLUTE_GATE_LUFS, _RELATIVE_GATE_LU, _OFFSET_LU = -70.0, -10.0, -0.691
"""Equations 2 and 5 to 7 of the standard."""

_SHELF_HZ, _SHELF_DB = 1500.0, 4.0
"""The head of a listener: what is higher counts more."""

_LOW_CUT_HZ, _LOW_CUT_Q = 38.0, 0.5
"""What is lower is hardly heard. Both filters as in the audio equaliser cookbook of R.
Bristow-Johnson; pyloudnorm's have the same numbers."""


class LoudnessMeter:
    """Measures one stretch of sound given piece by piece.

    Args:
        rate_hz: of the sound.
    """

    def __init__(self, rate_hz: float) -> None:
        self._step = round(STEP_S * rate_hz)
        self._filters = (_shelf(rate_hz), _low_cut(rate_hz))
        self._pending = np.zeros(0)
        self._powers: list[float] = []

    def add(self, samples: NDArray[np.floating]) -> None:
        """Hear the next piece: N, mono, full scale 1."""
        heard = samples
        for each in self._filters:
            heard = each.filter(heard)
        squares = np.concatenate([self._pending, np.square(heard)])
        whole = len(squares) // self._step * self._step
        self._powers += squares[:whole].reshape(-1, self._step).mean(axis=1).tolist()
        self._pending = squares[whole:]

    @property
    def block_powers(self) -> NDArray[np.float64]:
        """Power of every whole block so far."""
        powers = np.array(self._powers)
        if len(powers) < STEPS_PER_BLOCK:
            return np.zeros(0)
        steps = np.lib.stride_tricks.sliding_window_view(powers, STEPS_PER_BLOCK)
        return np.asarray(steps.mean(axis=1), np.float64)


def integrated_lufs(block_powers: NDArray[np.float64]) -> float | None:
    """Loudness of all blocks, of one stretch or of several; None when they are silent."""
    heard = block_powers[block_powers >= _power(_ABSOLUTE_GATE_LUFS)]
    if not len(heard):
        return None
    relative_gate = heard.mean() * 10.0 ** (_RELATIVE_GATE_LU / 10.0)
    loud = heard[heard > relative_gate]
    return float(_OFFSET_LU + 10.0 * np.log10(loud.mean()))


def _power(lufs: float) -> float:
    return float(10.0 ** ((lufs - _OFFSET_LU) / 10.0))


def _shelf(rate_hz: float) -> Biquad:
    root = 10.0 ** (_SHELF_DB / 40.0)
    angle = 2.0 * math.pi * _SHELF_HZ / rate_hz
    cos, slope = math.cos(angle), 2.0 * math.sqrt(root) * math.sin(angle) / math.sqrt(2.0)
    b0 = root * ((root + 1) + (root - 1) * cos + slope)
    b1 = -2.0 * root * ((root - 1) + (root + 1) * cos)
    b2 = root * ((root + 1) + (root - 1) * cos - slope)
    a0 = (root + 1) - (root - 1) * cos + slope
    a1 = 2.0 * ((root - 1) - (root + 1) * cos)
    a2 = (root + 1) - (root - 1) * cos - slope
    return Biquad((b0 / a0, b1 / a0, b2 / a0), (a1 / a0, a2 / a0))


def _low_cut(rate_hz: float) -> Biquad:
    angle = 2.0 * math.pi * _LOW_CUT_HZ / rate_hz
    cos, slope = math.cos(angle), math.sin(angle) / (2.0 * _LOW_CUT_Q)
    a0 = 1.0 + slope
    half = (1.0 + cos) / 2.0 / a0
    return Biquad((half, -2.0 * half, half), (-2.0 * cos / a0, (1.0 - slope) / a0))
