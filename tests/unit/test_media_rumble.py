"""The filter below any voice is the one of `scipy.signal`, however a sound is cut into pieces."""

import numpy as np
import pytest
from scipy import signal

from engine.media.rumble import BLOCK, RumbleFilter


@pytest.mark.parametrize("rate_hz", [8000, 44100, 48000, 192000])
@pytest.mark.parametrize("pieces", [(1, 7, BLOCK, BLOCK + 1, 30000), (40000,), (0, 3, 0, 25000)])
def test_pieces_come_out_as_from_scipy(rate_hz: int, pieces: tuple[int, ...]) -> None:
    sound = 0.3 + 0.2 * np.random.default_rng(rate_hz).standard_normal(sum(pieces))
    ours = RumbleFilter(rate_hz, 20.0, 0.3)
    cuts = np.split(sound.astype(np.float32), np.cumsum(pieces)[:-1])

    filtered = np.concatenate([ours.filter(cut) for cut in cuts])

    sos = signal.butter(2, 20.0, "highpass", fs=rate_hz, output="sos")
    start = signal.sosfilt_zi(sos) * 0.3
    expected, _ = signal.sosfilt(sos, sound.astype(np.float32).astype(float), zi=start)
    assert np.abs(filtered - expected).max() < 1e-9
