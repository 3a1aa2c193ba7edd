"""Where the frames of a video fall between keyframes. Pure rules."""

import math
from dataclasses import dataclass
from fractions import Fraction

from engine.animators.sonic.options import KEYFRAME_FPS
from engine.animators.sonic.schedule import WindowPlan

# 25 and 50 frames a second fall exactly on halves and quarters of a keyframe's 80 ms; other
# rates take the nearest eighth, which is at most 5 ms off.
MAX_DEPTH = 3


def halvings(fps: Fraction) -> int:
    """How often the time between keyframes is halved for a video of `fps` frames a second."""
    for depth in range(MAX_DEPTH):
        if (KEYFRAME_FPS * 2**depth / fps).denominator == 1:
            return depth
    return MAX_DEPTH


def place_frame(index: int, fps: Fraction, shift_s: float = 0.0) -> tuple[int, Fraction]:
    """Where a frame lies: number of the keyframe before it, and the way to the next, 0 to <1.

    Args:
        index: of the frame.
        fps: of the video.
        shift_s: how much later than its own time the frame looks; before the first keyframe
            there is nothing, so that one is held.
    """
    depth = MAX_DEPTH if shift_s else halvings(fps)
    time_s = Fraction(index) / fps + Fraction(shift_s)
    steps = max(round(time_s * KEYFRAME_FPS * 2**depth), 0)
    return steps >> depth, Fraction(steps % 2**depth, 2**depth)


@dataclass(frozen=True)
class FrameTimes:
    """When the frames of a video are.

    Attributes:
        num_frames: of the video.
        fps: of the video.
        shift_s: frame k shows the state of k / fps plus this.
    """

    num_frames: int
    fps: Fraction
    shift_s: float = 0.0

    def places(self) -> list[tuple[int, Fraction]]:
        """Of every frame, see `place_frame`."""
        return [place_frame(index, self.fps, self.shift_s) for index in range(self.num_frames)]


def keyframes_needed(num_frames: int, fps: Fraction, windows: WindowPlan) -> int:
    """Keyframes that are denoised for a video.

    They reach the last frame, with one exception: frames after the last keyframe, less than 80 ms,
    hold it where one more keyframe would take a window of its own. Four seconds are 50 keyframes
    in two windows, as published, and not 51 in three.

    Args:
        num_frames: of the video.
        fps: of the video.
        windows: a clip shorter than one would hold frames twice, so it is made as long as that,
            with silence at the end.
    """
    last, way = place_frame(num_frames - 1, fps)
    reached = last + math.ceil(way) + 1
    if way and windows.count(reached) > windows.count(reached - 1):
        reached -= 1
    return max(reached, windows.length)
