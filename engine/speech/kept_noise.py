"""Noise that begins anew with every text, so that the same one sounds alike; drawn only once."""

import numpy as np
from numpy.typing import NDArray

MAX_KEPT = 1_500_000
"""Numbers kept, 6 MB: fifteen seconds of speech. What comes behind them is drawn again."""


class KeptNoise:
    """The beginning of what a seeded generator of numpy gives."""

    def __init__(self, seed: int, max_kept: int = MAX_KEPT) -> None:
        """Begin with nothing drawn."""
        self._seed = seed
        self._max_kept = max_kept
        self._generator = np.random.default_rng(seed)
        self._kept = np.zeros(0, np.float32)

    def first(self, count: int) -> NDArray[np.float32] | None:
        """The first `count` numbers; None when they are more than are kept."""
        if count > self._max_kept:
            return None
        missing = count - len(self._kept)
        if missing > 0:
            drawn = self._generator.standard_normal(missing, dtype=np.float32)
            self._kept = np.concatenate([self._kept, drawn])
        return self._kept[:count]

    def generator_behind(self, count: int) -> np.random.Generator:
        """A generator that has given the first `count` numbers."""
        generator = np.random.default_rng(self._seed)
        generator.standard_normal(count, dtype=np.float32)
        return generator


class NoiseOfText:
    """The noise of one text: numpy's generator as far as the networks of voices use it."""

    def __init__(self, kept: KeptNoise) -> None:
        """Begin at the first number."""
        self._kept = kept
        self._given = 0
        self._generator: np.random.Generator | None = None

    def standard_normal(self, size: tuple[int, ...], dtype: type) -> NDArray[np.float32]:
        """Fresh numbers that the caller may change; of float32 only."""
        if dtype is not np.float32:
            raise TypeError("only float32 is kept")
        count = int(np.prod(size))
        known = None if self._generator else self._kept.first(self._given + count)
        if known is not None:
            given, self._given = self._given, self._given + count
            return known[given:].reshape(size).copy()
        self._generator = self._generator or self._kept.generator_behind(self._given)
        drawn: NDArray[np.float32] = self._generator.standard_normal(size, dtype=np.float32)
        return drawn
