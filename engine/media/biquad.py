"""A filter of the second order over a sound that comes piece by piece.

`scipy.signal` has it too, but costs a second and 50 MB to load, and everyone who brings a
recording would wait for that whenever a child is replaced.
"""

import numpy as np
from numpy.typing import NDArray

BLOCK = 128
"""Samples filtered in one step: a product of matrices within a step, a recursion between steps."""


class Biquad:
    """Filters a sound given piece by piece.

    Args:
        forward: weights of this sample, the last and the one before.
        back: weights of the last output and the one before, signs as in a transfer function.
        state: what the filter remembers before the first sample (transposed direct form).
    """

    def __init__(
        self,
        forward: tuple[float, float, float],
        back: tuple[float, float],
        state: tuple[float, float] = (0.0, 0.0),
    ) -> None:
        (b0, b1, b2), (a1, a2) = forward, back
        step = np.array([[-a1, 1.0], [-a2, 0.0]])
        powers = [np.eye(2)]
        for _ in range(BLOCK):
            powers.append(powers[-1] @ step)
        entry = np.array([b1 - a1 * b0, b2 - a2 * b0])
        answer = np.array([b0, *(power[0] @ entry for power in powers[: BLOCK - 1])])
        ages = np.arange(BLOCK)[:, None] - np.arange(BLOCK)
        self._powers = powers
        self._within = np.where(ages >= 0, answer[ages], 0.0)
        self._before = np.array([power[0] for power in powers[:BLOCK]])
        self._left = np.array([power @ entry for power in reversed(powers[:BLOCK])])
        self._state = np.array(state)

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
