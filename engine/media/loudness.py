"""How loud a sound is to people: integrated loudness after ITU-R BS.1770, by FFmpeg's meter."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from engine.media.sound_filter import through_filter

_TOLD = "lavfi.r128.I"

_SILENT_LUFS = -70.0
"""The absolute gate of the standard: what the meter says when nothing was above it."""


def integrated_lufs(pieces: Iterable[NDArray[np.float32]], rate_hz: int) -> float | None:
    """Loudness of a whole sound; None for silence and for less than 0.4 s.

    Nothing of the sound is kept; FFmpeg's meter holds a histogram of its blocks.

    Args:
        pieces: N samples each, mono, full scale 1.
        rate_hz: of the sound.
    """
    told = None
    for frame in through_filter(pieces, rate_hz, "ebur128", "metadata=1:framelog=quiet"):
        told = frame.metadata.get(_TOLD, told)
    lufs = None if told is None else float(told)
    return None if lufs is None or lufs <= _SILENT_LUFS else lufs
