"""Noise of voiceless sounds, kept from text to text."""

import numpy as np
import pytest

from engine.speech.kept_noise import KeptNoise, NoiseOfText


@pytest.mark.parametrize("max_kept", [10_000, 700, 0])
def test_every_text_gets_the_numbers_of_a_fresh_generator(max_kept):
    kept = KeptNoise(0, max_kept)

    for sizes in ([(3, 100)], [(3, 101), (5, 80)], [(2, 7), (3, 333), (4, 5)], [(3, 100)]):
        fresh, noise = np.random.default_rng(0), NoiseOfText(kept)
        for size in sizes:
            given = noise.standard_normal(size, dtype=np.float32)
            assert np.array_equal(given, fresh.standard_normal(size, dtype=np.float32))
            given *= 2  # the networks work in place


def test_other_numbers_than_those_kept_are_refused():
    with pytest.raises(TypeError):
        NoiseOfText(KeptNoise(0)).standard_normal((2, 2), dtype=np.float64)
