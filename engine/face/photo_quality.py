"""Measures how well a photo shows one face: sharpness, light, whether the mouth is free.

Only measures; what is good enough is decided in `portrait_check`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from engine.face.candidates import square_around
from engine.face.geometry import Face
from engine.face.regions import cut_out
from engine.face.topology import CHIN_ROW, FACE_OVAL, NOSE_BASE, OUTER_LIPS

# Light and mouth are looked at with the face outline about 150 px high, sharpness at 64 px:
# softness that survives that much shrinking will be seen in any video.
DETAIL_SIDE_PX = 224
SHARPNESS_SIDE_PX = 96
BURNT_OUT = 250
# From under the nose to the chin.
LOWER_FACE = (NOSE_BASE, 57, 202, *CHIN_ROW, 422, 287)


@dataclass(frozen=True)
class PhotoQuality:
    """How a face is shown. Lightness is CIE L*, 0 black .. 100 white.

    Attributes:
        sharpness: mean edge strength over contrast, on the face at 64 px; sharp photographs .5
            and more, soft paintings .26, blurred by 2.5 % of the face height .12.
        brightest: 95th percentile of the face's lightness.
        darkest: 5th percentile of the face's lightness.
        burnt_out_share: share of the face that is white in all channels.
        grain: 25th percentile of the deviation of lightness within 5 x 5 pixels; photographs and
            paintings .5 to 4, drawings in flat colours 0, half-covered faces .2.
        mouth_structure: contrast of the lips over the contrast of the face.
        lips_distance: colour distance (CIE Lab) between lips and the skin around them. Painted
            masks came to .2 and 3 at most for these two, uncovered mouths to .3 or 11 at least.
    """

    sharpness: float
    brightest: float
    darkest: float
    burnt_out_share: float
    grain: float
    mouth_structure: float
    lips_distance: float


def measure_quality(pixels: NDArray[np.uint8], face: Face) -> PhotoQuality:
    """Measure how `face` is shown in `pixels` (H x W x 3, uint8, RGB)."""
    rgb, lab, landmarks = _levelled(pixels, face, DETAIL_SIDE_PX)
    lightness = lab[:, :, 0]
    outline = _mask(landmarks, FACE_OVAL, DETAIL_SIDE_PX)
    lips = _mask(landmarks, OUTER_LIPS, DETAIL_SIDE_PX)
    lower = _mask(landmarks, LOWER_FACE, DETAIL_SIDE_PX)
    around_lips = lower & ~cv2.dilate(lips.astype(np.uint8), np.ones((7, 7))).astype(bool)
    contrast = max(float(lightness[outline].std()), 1e-3)
    darkest, brightest = np.percentile(lightness[outline], (5, 95))
    skin, mouth = _median_colour(lab, around_lips), _median_colour(lab, lips)
    return PhotoQuality(
        sharpness=_sharpness(pixels, face),
        brightest=float(brightest),
        darkest=float(darkest),
        burnt_out_share=float((rgb[outline].min(axis=1) >= BURNT_OUT).mean()),
        grain=_grain(lightness, outline),
        mouth_structure=float(lightness[lips].std()) / contrast,
        lips_distance=float(np.linalg.norm(mouth - skin)),
    )


def _grain(lightness: NDArray[np.float32], outline: NDArray[np.bool_]) -> float:
    mean = cv2.blur(lightness, (5, 5))
    variance = cv2.blur(lightness * lightness, (5, 5)) - mean * mean
    return float(np.percentile(np.sqrt(np.maximum(variance, 0))[outline], 25))


def _sharpness(pixels: NDArray[np.uint8], face: Face) -> float:
    _, lab, landmarks = _levelled(pixels, face, SHARPNESS_SIDE_PX)
    outline = _mask(landmarks, FACE_OVAL, SHARPNESS_SIDE_PX)
    edges = cv2.Laplacian(lab[:, :, 0], cv2.CV_32F, ksize=1)
    return float(edges[outline].std()) / max(float(lab[:, :, 0][outline].std()), 1e-3)


def _levelled(
    pixels: NDArray[np.uint8], face: Face, side_px: int
) -> tuple[NDArray[np.uint8], NDArray[np.float32], NDArray[np.float32]]:
    """The face cut out with level eyes: as RGB, as CIE Lab, and its landmarks there (N x 2)."""
    square = square_around(face.landmarks)
    rgb = cut_out(pixels, square, side_px, repeat_border=True)
    lab = cv2.cvtColor(rgb.astype(np.float32) / np.float32(255), cv2.COLOR_RGB2LAB)
    matrix = square.matrix(side_px)
    back = np.linalg.inv(matrix[:, :2])
    landmarks = (face.landmarks[:, :2] - matrix[:, 2]) @ back.T
    return rgb, np.asarray(lab, dtype=np.float32), landmarks.astype(np.float32)


def _mask(
    landmarks: NDArray[np.float32], corners: Sequence[int], side_px: int
) -> NDArray[np.bool_]:
    """Where the convex hull of some landmarks lies; never empty."""
    mask = np.zeros((side_px, side_px), np.uint8)
    points = np.clip(np.round(landmarks[list(corners)]), 0, side_px - 1).astype(np.int32)
    cv2.fillConvexPoly(mask, cv2.convexHull(points), 1)
    return mask.astype(bool)


def _median_colour(lab: NDArray[np.float32], mask: NDArray[np.bool_]) -> NDArray[np.float32]:
    return np.asarray(np.median(lab[mask], axis=0), dtype=np.float32)
