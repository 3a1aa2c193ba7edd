"""Where long speech is cut into pieces that are denoised one after the other. Pure rules.

A piece and what is heard around it fit into the 30 s that the speech network hears at once.
Every piece but the first goes on from the last keyframes of the one before.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from engine.animators.sonic.frame_times import place_frame
from engine.animators.sonic.options import KEYFRAME_FPS

HEARD_AT_ONCE = 375
"""Keyframes in the 30 s that the speech network hears at once."""

CONTEXT = 12
"""Keyframes (0.96 s) heard on both sides of a piece, and shared with the piece before. A motion
bucket listens half a second to either side; half a window is enough to go on smoothly."""

PAUSE_KEYFRAMES = 3
"""A cut looks for quiet of this length: 0.24 s, a pause between phrases."""

EARLIEST_SHARE = 0.5
"""A piece is cut in the quietest place of its second half."""


@dataclass(frozen=True)
class Piece:
    """Keyframes `start` to `end` (not included) of a clip.

    Attributes:
        start: first keyframe that is new.
        end: one after the last.
        lead: finished keyframes before `start` that it goes on from.
        tail: keyframes after `end` that are heard with it.
    """

    start: int
    end: int
    lead: int = 0
    tail: int = 0

    @property
    def num_keyframes(self) -> int:
        """Keyframes that are denoised together, those of the lead included."""
        return self.lead + self.end - self.start


def plan_pieces(loudness: NDArray[np.float32], longest: int, shortest: int) -> tuple[Piece, ...]:
    """Cut a clip in its pauses.

    Args:
        loudness: one value for each keyframe, low where nobody speaks.
        longest: keyframes of a piece at most; a clip up to that length stays whole.
        shortest: keyframes of a piece at least; `longest` is twice that or more.

    Returns:
        The pieces in order; together they are the clip.
    """
    total = len(loudness)
    if total <= longest:
        return (Piece(0, total),)
    longest = min(longest, HEARD_AT_ONCE - 2 * CONTEXT)
    cuts = [0]
    while total - cuts[-1] > longest:
        earliest = cuts[-1] + max(int(longest * EARLIEST_SHARE), shortest)
        latest = min(cuts[-1] + longest, total - shortest)
        cuts.append(_quietest(loudness, earliest, latest))
    return tuple(
        Piece(start, end, min(CONTEXT, start), min(CONTEXT, total - end))
        for start, end in zip(cuts, [*cuts[1:], total], strict=True)
    )


def _quietest(loudness: NDArray[np.float32], earliest: int, latest: int) -> int:
    """The keyframe in the middle of the quietest stretch; of several the last one."""
    reach = PAUSE_KEYFRAMES // 2
    padded = np.pad(loudness, reach, mode="edge")
    around = np.lib.stride_tricks.sliding_window_view(padded, PAUSE_KEYFRAMES).max(axis=1)
    backwards = around[earliest : latest + 1][::-1]
    return latest - int(np.argmin(backwards))


def at_keyframes(
    values: NDArray[np.float32], fps: Fraction, num_keyframes: int
) -> NDArray[np.float32]:
    """Values given for each video frame, as the largest one near each keyframe; 0 after the end."""
    loudest = np.zeros(num_keyframes, np.float32)
    for index, value in enumerate(values):
        keyframe = place_frame(index, fps)[0]
        if keyframe < num_keyframes:
            loudest[keyframe] = max(loudest[keyframe], value)
    return loudest


def keyframes_in(seconds: float) -> int:
    """Keyframes that `seconds` of speech take."""
    return math.ceil(Fraction(seconds) * KEYFRAME_FPS)
