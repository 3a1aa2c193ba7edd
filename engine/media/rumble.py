"""Takes out what lies below any voice: constant offset, slow drift, rumble.

A Butterworth filter of the second order. `scipy.signal` has it too, but costs a second and more
to load, and everyone who brings a recording would wait for that whenever a decoder is replaced.
"""

import math

import numpy as np
from numpy.typing import NDArray

BLOCK = 128
"""Samples filtered in one step: a product of matrices within a step, a recursion between steps."""


class RumbleFilter:
    """Filters a sound given piece by piece.

    Args:
        rate_hz: of the sound.
        cutoff_hz: what is lower goes.
        offset: as if this value had been there for ever before the first sample: no thump.
    """

    def __init__(self, rate_hz: float, cutoff_hz: float, offset: float) -> None:
        # The bilinear transform of the analogue filter, its cutoff bent back to where it was.
        k = math.tan(math.pi * cutoff_hz / rate_hz)
        norm = 1.0 + math.sqrt(2.0) * k + k * k
        gain = 1.0 / norm
        a1, a2 = 2.0 * (k * k - 1.0) / norm, (1.0 - math.sqrt(2.0) * k + k * k) / norm
        step = np.array([[-a1, 1.0], [-a2, 0.0]])
        powers = [np.eye(2)]
        for _ in range(BLOCK):
            powers.append(powers[-1] @ step)
        entry = np.array([-2.0 * gain - a1 * gain, gain - a2 * gain])
        answer = np.array([gain, *(power[0] @ entry for power in powers[: BLOCK - 1])])
        ages = np.arange(BLOCK)[:, None] - np.arange(BLOCK)
        self._powers = powers
        self._within = np.where(ages >= 0, answer[ages], 0.0)
        self._before = np.array([power[0] for power in powers[:BLOCK]])
        self._left = np.array([power @ entry for power in reversed(powers[:BLOCK])])
        self._state = np.array([-gain, gain]) * offset

    def filter(self, samples: NDArray[np.floating]) -> NDArray[np.float64]:
        """The next piece, filtered; as long as it was given."""
        whole = len(samples) // BLOCK * BLOCK
        blocks = np.asarray(samples[:whole], np.float64).reshape(-1, BLOCK)
        rest = np.asarray(samples[whole:], np.float64)
        return np.concatenate([self._filter_blocks(blocks), self._filter_blocks(rest[None])])

    def _filter_blocks(self, blocks: NDArray[np.float64]) -> NDArray[np.float64]:
        """N x length, `BLOCK` at most, one behind the other."""
        count, length = blocks.shape
        if not length:
            return np.zeros(0)
        left = blocks @ self._left[BLOCK - length :]
        states = np.empty((count, 2))
        ((p, q), (r, s)), (one, two) = self._powers[length].tolist(), self._state.tolist()
        for index, (first, second) in enumerate(left.tolist()):
            states[index] = one, two
            one, two = p * one + q * two + first, r * one + s * two + second
        self._state = np.array([one, two])
        within = blocks @ self._within[:length, :length].T
        return np.asarray((within + states @ self._before[:length].T).ravel(), np.float64)
