"""Takes out what lies below any voice: constant offset, slow drift, rumble."""

import math

from engine.media.biquad import Biquad


class RumbleFilter(Biquad):
    """A Butterworth filter of the second order over a sound given piece by piece.

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
        super().__init__((gain, -2.0 * gain, gain), (a1, a2), (-gain * offset, gain * offset))
