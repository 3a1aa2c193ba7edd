"""How loud speech is and where it can be heard: pure measurements on samples."""

import numpy as np
from numpy.typing import NDArray

_FRAME_S = 0.005
_HEARD_DB = -40.0  # against the loudest frame; a last f or n is 25-35 dB below it
_SILENT_RMS = 1e-4  # -80 dB: nothing to measure against


def frame_rms(samples: NDArray[np.float32], sample_rate_hz: int) -> NDArray[np.float32]:
    """Root mean square of frames of 5 ms.

    Args:
        samples: N, mono, -1..1.
        sample_rate_hz: of `samples`.

    Returns:
        One value a whole frame.
    """
    length = round(_FRAME_S * sample_rate_hz)
    frames = samples[: len(samples) // length * length].reshape(-1, length)
    return np.sqrt(np.mean(np.square(frames), axis=1, dtype=np.float64)).astype(np.float32)


def heard_span_s(samples: NDArray[np.float32], sample_rate_hz: int) -> tuple[float, float] | None:
    """First and last moment that can be heard, in seconds; None when there is none."""
    levels = frame_rms(samples, sample_rate_hz)
    if not len(levels) or levels.max() < _SILENT_RMS:
        return None
    heard = np.flatnonzero(levels > levels.max() * 10 ** (_HEARD_DB / 20))
    return float(heard[0]) * _FRAME_S, float(heard[-1] + 1) * _FRAME_S
