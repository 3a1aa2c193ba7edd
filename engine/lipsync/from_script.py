"""Mouth curves of a recording whose words are known: times from the text, life from the sound.

Where the text is heard well, the aligned sounds move the mouth; elsewhere (words left out or
added, noise, pauses) the listening net does, as it would without a text.
"""

from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import uniform_filter1d

from engine.lipsync.align import Alignment
from engine.lipsync.curves import CURVE_RATE_HZ, MouthCurves
from engine.lipsync.from_timings import curves_from_timings
from engine.lipsync.shaping import smooth_gaussian

# Mean score of five neighbouring sounds: wrong texts reach .2 to .45, right ones .5 and more.
_WEAK, _STRONG = 0.25, 0.45
_NEIGHBOURS = 5
_FADE_S = 0.03  # standard deviation of the change from one to the other


def curves_from_script(alignment: Alignment, heard: MouthCurves) -> MouthCurves:
    """Make motion of an aligned text.

    Args:
        alignment: the text on the clock of the recording.
        heard: what the listening net made of the same recording, 50 Hz.

    Returns:
        Curves as long as `heard`, shut where nobody speaks.
    """
    duration_s = (len(heard) - 1) / CURVE_RATE_HZ
    timed = curves_from_timings(alignment.phonemes, duration_s, heard.loudness)
    trust = _trust(alignment, len(heard))
    mixed: dict[str, Any] = {
        field.name: _mix(getattr(timed, field.name), getattr(heard, field.name), trust)
        for field in fields(MouthCurves)
        if field.name != "rate_hz"
    }
    # Whether somebody speaks, and how loud, is heard: no text can tell it better.
    mixed["loudness"], mixed["speaking"] = heard.loudness, heard.speaking
    for name in ("jaw", "wide", "pucker"):
        mixed[name] = mixed[name] * _open(heard.speaking, trust)
    return MouthCurves(**mixed)


def _mix(
    timed: NDArray[np.float32], heard: NDArray[np.float32], trust: NDArray[np.float32]
) -> NDArray[np.float32]:
    share = trust if timed.ndim == 1 else trust[:, None]
    return np.asarray(share * timed + (1.0 - share) * heard, np.float32)


def _open(speaking: NDArray[np.float32], trust: NDArray[np.float32]) -> NDArray[np.float32]:
    """What the net's silence leaves of the aligned motion; its own motion is shut already."""
    return np.asarray(1.0 - trust * (1.0 - speaking), np.float32)


def _trust(alignment: Alignment, count: int) -> NDArray[np.float32]:
    """T, 0 = the net alone .. 1 = the text alone."""
    scores = uniform_filter1d(np.array(alignment.scores, np.float32), _NEIGHBOURS, mode="nearest")
    shares = np.clip((scores - _WEAK) / (_STRONG - _WEAK), 0.0, 1.0)
    trust = np.zeros(count, np.float32)
    for phoneme, share in zip(alignment.phonemes, shares, strict=True):
        first, last = round(phoneme.start_s * CURVE_RATE_HZ), round(phoneme.end_s * CURVE_RATE_HZ)
        trust[first : last + 1] = np.maximum(trust[first : last + 1], share)
    return smooth_gaussian(trust, _FADE_S * CURVE_RATE_HZ)
