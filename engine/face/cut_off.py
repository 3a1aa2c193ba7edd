"""Tells a picture that shows only a part of a face from one without any.

The detector needs a whole face. A face that is cut by an edge of the picture becomes one when the
picture is mirrored at that edge: not the person's, but enough to know that half of it is there.
"""

import cv2
import numpy as np
from numpy.typing import NDArray

from engine.face.detector import FaceFinder
from engine.face.geometry import Face

SEARCH_SIDE_PX = 640
"""A face worth telling of fills a good part of the picture, so a small copy suffices."""

MARGIN_SHARE = 0.5
"""How much of the picture is mirrored at each edge, as a share of its side."""

MIN_FACE_SHARE = 0.12
"""Smaller faces, as a share of the picture's short side, are patterns of the mirror."""

MIN_SCORE = 0.72
"""Faces cut through their middle reach .75 to .93, coffee beans and mugs .67."""

MIN_SHARE_OUTSIDE = 0.15
"""Of the face box; what lies less far outside would have been found in the picture itself."""


def shows_part_of_face(pixels: NDArray[np.uint8], finder: FaceFinder) -> bool:
    """Whether an edge of the picture cuts through a face; only for pictures without a whole one.

    Args:
        pixels: H x W x 3, uint8, RGB, upright.
        finder: looks for faces.
    """
    height_px, width_px = pixels.shape[:2]
    factor = min(1.0, SEARCH_SIDE_PX / max(height_px, width_px))
    size = (max(1, round(width_px * factor)), max(1, round(height_px * factor)))
    small = np.asarray(cv2.resize(pixels, size, interpolation=cv2.INTER_AREA), np.uint8)
    across, down = round(MARGIN_SHARE * size[0]), round(MARGIN_SHARE * size[1])
    mirrored = cv2.copyMakeBorder(small, down, down, across, across, cv2.BORDER_REFLECT)
    found = finder.find(np.asarray(mirrored, np.uint8))
    return any(_is_cut(face, across, down, size) for face in found)


def _is_cut(face: Face, left: int, top: int, size: tuple[int, int]) -> bool:
    """Whether a face lies across an edge of the picture within the mirrored one."""
    x, y, width, height = face.box
    seen_width = min(x + width, left + size[0]) - max(x, left)
    seen_height = min(y + height, top + size[1]) - max(y, top)
    if face.score < MIN_SCORE or height < MIN_FACE_SHARE * min(size):
        return False
    if seen_width <= 0 or seen_height <= 0:
        return False
    share_outside = 1.0 - seen_width * seen_height / (width * height)
    return share_outside >= MIN_SHARE_OUTSIDE
