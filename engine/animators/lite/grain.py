"""The grain of a picture: brush strokes, film, noise. Drawn parts without it look pasted in."""

import cv2
import numpy as np
from numpy.typing import NDArray

from engine.animators.lite.frame import FaceFrame
from engine.animators.lite.interior import Layer
from engine.animators.lite.palette import LUMA

CHEEKS = (205, 425)
HALF_MM = 9.0
SMOOTH_MM = 1.3
STRENGTH = 0.75
LIMIT = 0.22
"""Grain changes brightness by at most this share."""


def measure_grain(photo: NDArray[np.uint8], frame: FaceFrame) -> NDArray[np.float32]:
    """Relative brightness of the calmer cheek around its own tone: h x w, about 1."""
    found = [_grain_around(photo, frame, vertex) for vertex in CHEEKS]
    usable = [grain for grain in found if grain is not None]
    if not usable:
        return np.ones((2, 2), np.float32)
    return min(usable, key=lambda grain: float(grain.std()))


def with_grain(layer: Layer, grain: NDArray[np.float32]) -> Layer:
    """The layer with the grain laid over its colours."""
    height, width = layer.patch.shape[:2]
    rows = _mirrored(height, grain.shape[0])
    columns = _mirrored(width, grain.shape[1])
    patch = layer.patch.copy()
    coloured = patch[..., :3] * grain[np.ix_(rows, columns)][..., None]
    patch[..., :3] = np.clip(np.rint(coloured), 0, 255).astype(np.uint8)
    return Layer(patch, layer.left, layer.top)


def _grain_around(
    photo: NDArray[np.uint8], frame: FaceFrame, vertex: int
) -> NDArray[np.float32] | None:
    x, y = (round(float(value)) for value in frame.to_picture(frame.plane[[vertex]])[0])
    half = max(4, round(HALF_MM * frame.px_per_mm))
    height, width = photo.shape[:2]
    if x < half or y < half or x + half > width or y + half > height:
        return None
    luma = photo[y - half : y + half, x - half : x + half].astype(np.float32) @ LUMA
    smooth = cv2.GaussianBlur(luma, (0, 0), max(SMOOTH_MM * frame.px_per_mm, 1.0))
    share = luma / np.maximum(smooth, 8.0) - 1
    return np.asarray(1 + np.clip(share * STRENGTH, -LIMIT, LIMIT), np.float32)


def _mirrored(count: int, period: int) -> NDArray[np.intp]:
    """Indices 0..period-1 there and back again, `count` of them."""
    phase = np.arange(count) % (2 * period)
    return np.minimum(phase, 2 * period - 1 - phase)
