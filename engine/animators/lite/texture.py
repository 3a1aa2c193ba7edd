"""The photo as it is resampled: with as much fine contrast added as resampling takes away."""

import cv2
import numpy as np
from numpy.typing import NDArray

from engine.animators.lite.frame import FaceFrame
from engine.animators.lite.palette import LUMA
from engine.face.topology import FACE_OVAL

FINE_PX = 0.8
MAX_STRENGTH = 0.6
"""More would draw halos along hard edges."""
KEPT = 1.04
"""Variance of the Laplacian to keep; encoding takes away the rest of it."""
SHIFTS_PX = ((0.5, 0.5), (0.5, 0.25), (0.25, 0.5), (0.25, 0.25), (0.5, 0.0), (0.0, 0.5))
"""Skin on the move lies at all fractions of a pixel; these stand for them."""


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
    if strength <= 0:
        return photo
    soft = cv2.GaussianBlur(photo, (0, 0), FINE_PX)
    added = cv2.subtract(photo, soft, dtype=cv2.CV_16S)
    result = photo + added * (share * np.float32(strength))[..., None]
    return np.clip(np.rint(result), 0, 255).astype(np.uint8)


def _strength(photo: NDArray[np.uint8], frame: FaceFrame) -> float:
    """How much of the fine contrast must be added so that the moved face keeps its own.

    The Laplacian of the moved texture is L + strength * M, so its variance is a quadratic.
    """
    points = frame.to_picture(frame.plane[list(FACE_OVAL)])
    low = np.clip(points.min(axis=0), 0, None).astype(int)
    high = points.max(axis=0).astype(int)
    grey = photo[low[1] : high[1], low[0] : high[0]].astype(np.float32) @ LUMA
    if min(grey.shape) < 16:
        return 0.0
    fine = grey - cv2.GaussianBlur(grey, (0, 0), FINE_PX)
    constant = linear = square = 0.0
    for shift in SHIFTS_PX:
        plain, added = (_laplacian(_shifted(part, shift)) for part in (grey, fine))
        constant += float((plain**2).mean()) / len(SHIFTS_PX)
        linear += 2 * float((plain * added).mean()) / len(SHIFTS_PX)
        square += float((added**2).mean()) / len(SHIFTS_PX)
    missing = KEPT * float((_laplacian(grey) ** 2).mean()) - constant
    if missing <= 0 or square <= 0:
        return 0.0
    found = (np.sqrt(linear**2 + 4 * square * missing) - linear) / (2 * square)
    return float(min(found, MAX_STRENGTH))


def _shifted(grey: NDArray[np.float32], shift: tuple[float, float]) -> NDArray[np.float32]:
    move = np.array([[1, 0, shift[0]], [0, 1, shift[1]]], np.float32)
    flags = cv2.INTER_CUBIC | cv2.WARP_INVERSE_MAP
    size = (grey.shape[1], grey.shape[0])
    moved = cv2.warpAffine(grey, move, size, flags=flags, borderMode=cv2.BORDER_REFLECT_101)
    return np.asarray(moved, np.float32)


def _laplacian(grey: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.asarray(cv2.Laplacian(grey, cv2.CV_32F)[2:-2, 2:-2], np.float32)
