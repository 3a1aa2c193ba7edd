"""Where the frames of a video fall between keyframes. Pure rules."""

import math
from fractions import Fraction

from engine.animators.sonic.options import KEYFRAME_FPS

# 25 and 50 frames a second fall exactly on halves and quarters of a keyframe's 80 ms; other
# rates take the nearest eighth, which is at most 5 ms off.
MAX_DEPTH = 3


def halvings(fps: Fraction) -> int:
    """How often the time between keyframes is halved for a video of `fps` frames a second."""
    for depth in range(MAX_DEPTH):
        if (KEYFRAME_FPS * 2**depth / fps).denominator == 1:
            return depth
    return MAX_DEPTH


def place_frame(frame_index: int, fps: Fraction) -> tuple[int, Fraction]:
    """Where a frame lies: number of the keyframe before it, and the way to the next, 0 to <1."""
    depth = halvings(fps)
    steps = round(Fraction(frame_index) * KEYFRAME_FPS / fps * 2**depth)
    return steps >> depth, Fraction(steps % 2**depth, 2**depth)


def keyframes_needed(num_frames: int, fps: Fraction, shortest: int) -> int:
    """Keyframes that reach the last frame of a video.

    Args:
        num_frames: of the video.
        fps: of the video.
        shortest: a clip below one window's length would hold frames twice, so it is made
            this long, with silence at the end.
    """
    last, way = place_frame(num_frames - 1, fps)
    return max(last + math.ceil(way) + 1, shortest)
