"""The photo as it is resampled: with as much fine contrast added as resampling takes away."""

import cv2
import numpy as np
from numpy.typing import NDArray

from engine.animators.lite.frame import FaceFrame
from engine.animators.lite.palette import LUMA
from engine.animators.lite.resample import FINER, FineTexture
from engine.face.topology import FACE_OVAL

FINE_PX = 0.8
MAX_STRENGTH = 0.6
"""More would draw halos along hard edges."""
KEPT = 1.15
"""Variance of the Laplacian to keep: encoding takes away .05 to .15 of it."""
BAND_ROWS = 64
"""Rows sharpened at once: in floating point a whole picture takes 20 bytes a value."""
SHIFTS_PX = ((0.125, 0.125), (0.125, 0.375), (0.375, 0.125), (0.375, 0.375))
"""Skin on the move lies at all fractions of a pixel; these stand for a quarter each of them."""


def prepare_texture(
    photo: NDArray[np.uint8], frame: FaceFrame, share: NDArray[np.float32]
) -> NDArray[np.uint8]:
    """The photo, sharpened where it moves.

    Args:
        photo: H x W x 3, uint8, RGB.
        frame: coordinates of the face, whose skin is measured.
        share: H x W, 0..1: how much each pixel moves; where nothing moves nothing changes.
    """
    strength = _strength(photo, frame)
    return _sharpened(photo, share * np.float32(strength)) if strength > 0 else photo


def _sharpened(photo: NDArray[np.uint8], strength: NDArray[np.float32]) -> NDArray[np.uint8]:
    """The photo with this much (H x W) of its fine contrast added."""
    sharp = np.asarray(cv2.GaussianBlur(photo, (0, 0), FINE_PX), np.uint8)
    for top in range(0, len(photo), BAND_ROWS):
        rows = slice(top, top + BAND_ROWS)
        added = cv2.subtract(photo[rows], sharp[rows], dtype=cv2.CV_16S)
        sharp[rows] = np.clip(np.rint(photo[rows] + added * strength[rows, :, None]), 0, 255)
    return sharp


def _strength(photo: NDArray[np.uint8], frame: FaceFrame) -> float:
    """How much of the fine contrast must be added so that the moved face keeps its own.

    The Laplacian of a sharpened picture grows with the strength, so its variance is a quadratic:
    three strengths tell all others.
    """
    points = frame.to_picture(frame.plane[list(FACE_OVAL)])
    low = np.clip(points.min(axis=0), 0, None).astype(int)
    high = points.max(axis=0).astype(int)
    part = np.ascontiguousarray(photo[low[1] : high[1], low[0] : high[0]])
    if min(part.shape[:2]) < 16:
        return 0.0
    skin = _inside(points - low, part.shape[:2])
    tried = np.array([0.0, MAX_STRENGTH / 2, MAX_STRENGTH])
    flat = np.ones(part.shape[:2], np.float32)
    kept = [_kept(_sharpened(part, flat * np.float32(s)), skin) for s in tried]
    wanted = KEPT * _variance(part, skin)
    square, linear, constant = np.polyfit(tried, np.array(kept) - wanted, 2)
    if constant >= 0:
        return 0.0
    inside = max(linear**2 - 4 * square * constant, 0.0)
    return float(min((np.sqrt(inside) - linear) / max(2 * square, 1e-9), MAX_STRENGTH))


def _kept(part: NDArray[np.uint8], skin: NDArray[np.bool_]) -> float:
    """Variance of the Laplacian of a picture after it has moved."""
    height, width = part.shape[:2]
    at = np.dstack(np.meshgrid(np.arange(width), np.arange(height))).astype(np.float32)
    texture = FineTexture.of(part)
    moved = (texture.look_up((at + np.array(s, np.float32)) * FINER) for s in SHIFTS_PX)
    return float(np.mean([_variance(one, skin) for one in moved]))


def _variance(part: NDArray[np.uint8], skin: NDArray[np.bool_]) -> float:
    edges = cv2.Laplacian(part.astype(np.float32) @ LUMA, cv2.CV_32F)[skin]
    return float((edges**2).mean()) if edges.size else 0.0


def _inside(outline: NDArray[np.float32], size: tuple[int, ...]) -> NDArray[np.bool_]:
    """Where a face (N x 2, pixels) lies, without the border of the picture."""
    mask = np.zeros(size, np.uint8)
    cv2.fillPoly(mask, [np.rint(outline).astype(np.int32)], 1)
    mask[:2] = mask[-2:] = mask[:, :2] = mask[:, -2:] = 0
    return mask > 0
