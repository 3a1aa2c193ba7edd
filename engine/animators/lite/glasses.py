"""Tells whether glasses sit on the nose, because their frame must not bend with the brows."""

import cv2
import numpy as np
from numpy.typing import NDArray

from engine.animators.lite.frame import FaceFrame
from engine.animators.lite.palette import LUMA
from engine.animators.lite.resample import look_up
from engine.face import topology as topo

STEP_MM = 0.5
ABOVE_MM, BELOW_MM = 10.0, 14.0
SIDE_MM = 3.0
"""Kept free of the inner eye corners on either side."""
LINE_STEPS = 5
BRIDGE_CONTRAST = 0.08
"""A line across the nose that differs this much (share of the brightness) is a bridge.

Measured on 25 portraits: glasses .09-.26, bare faces .00-.07; two deeply furrowed brows reach
.16-.17 and merely lose the motion of their brows.
"""


def wears_glasses(photo: NDArray[np.uint8], frame: FaceFrame) -> bool:
    """Whether a line crosses the bridge of the nose between the eyes."""
    left, right = frame.plane[topo.LEFT_EYE_INNER], frame.plane[topo.RIGHT_EYE_INNER]
    if right[0] - left[0] < 3 * SIDE_MM:
        return False
    middle = float(left[1] + right[1]) / 2
    xs = np.linspace(left[0] + SIDE_MM, right[0] - SIDE_MM, 20)
    ys = np.arange(middle - ABOVE_MM, middle + BELOW_MM, STEP_MM)
    points = np.stack(np.meshgrid(xs, ys), axis=-1)
    at = frame.to_picture(points.reshape(-1, 2).astype(np.float32)).reshape(points.shape)
    bridge = look_up(photo, at).astype(np.float32) @ LUMA
    soft = cv2.GaussianBlur(bridge, (0, 0), sigmaX=3.0, sigmaY=1.2)
    rows = np.median(soft, axis=1)
    around = (rows[2 * LINE_STEPS :] + rows[: -2 * LINE_STEPS]) / 2
    line = np.abs(rows[LINE_STEPS:-LINE_STEPS] - around) / max(float(rows.mean()), 30.0)
    return bool(line.max() > BRIDGE_CONTRAST)
