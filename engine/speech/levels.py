"""How loud speech is and where it can be heard: pure measurements on samples."""

import numpy as np
from numpy.typing import NDArray

FRAME_S = 0.005
_HEARD_DB = -40.0  # against the loudest frame; a last f or n is 25-35 dB below it
_SPOKEN_DB = -26.0  # against the loudest frame: vowels and voiced sounds, no pauses
_KNEE, _CEILING = 0.7, 0.95  # -3 and -0.4 dB of full scale: room for the sound codec
_SILENT_RMS = 1e-4  # -80 dB: nothing to measure against


def frame_rms(samples: NDArray[np.float32], sample_rate_hz: int) -> NDArray[np.float32]:
    """Root mean square of frames of 5 ms.

    Args:
        samples: N, mono, -1..1.
        sample_rate_hz: of `samples`.

    Returns:
        One value a whole frame.
    """
    length = round(FRAME_S * sample_rate_hz)
    frames = samples[: len(samples) // length * length].reshape(-1, length)
    return np.sqrt(np.mean(np.square(frames), axis=1, dtype=np.float64)).astype(np.float32)


def heard_span_s(samples: NDArray[np.float32], sample_rate_hz: int) -> tuple[float, float] | None:
    """First and last moment that can be heard, in seconds; None when there is none."""
    levels = frame_rms(samples, sample_rate_hz)
    if not len(levels) or levels.max() < _SILENT_RMS:
        return None
    heard = np.flatnonzero(levels > levels.max() * 10 ** (_HEARD_DB / 20))
    return float(heard[0]) * FRAME_S, float(heard[-1] + 1) * FRAME_S


def speech_rms(samples: NDArray[np.float32], sample_rate_hz: int) -> float:
    """Root mean square of the frames in which somebody speaks, pauses left out; 0 when none."""
    levels = frame_rms(samples, sample_rate_hz)
    if not len(levels) or levels.max() < _SILENT_RMS:
        return 0.0
    spoken = levels[levels > levels.max() * 10 ** (_SPOKEN_DB / 20)]
    return float(np.sqrt(np.mean(np.square(spoken, dtype=np.float64))))


def limit_peaks(samples: NDArray[np.float32]) -> NDArray[np.float32]:
    """Bend what is louder than `_KNEE` so that nothing passes `_CEILING`; the rest is untouched."""
    size = np.abs(samples)
    room = _CEILING - _KNEE
    bent = np.sign(samples) * (_KNEE + room * np.tanh((size - _KNEE) / room))
    return np.where(size > _KNEE, bent, samples).astype(np.float32)
