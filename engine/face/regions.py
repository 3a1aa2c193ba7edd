"""Square regions of a picture: how they are cut out and how points get back.

Pure geometry and resampling; knows nothing about faces.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Square:
    """A square in a picture that may be turned and may reach outside.

    Attributes:
        x, y: centre in pixels.
        side: length of a side in pixels.
        angle_rad: how far it is turned clockwise.
    """

    x: float
    y: float
    side: float
    angle_rad: float = 0.0

    def scaled(self, factor: float) -> "Square":
        """The same square after the picture was scaled."""
        return Square(self.x * factor, self.y * factor, self.side * factor, self.angle_rad)

    def shifted(self, x: float, y: float) -> "Square":
        """The same square after the picture was moved by x and y pixels."""
        return Square(self.x + x, self.y + y, self.side, self.angle_rad)

    def matrix(self, side_px: int) -> NDArray[np.float64]:
        """2 x 3: from pixels of a cut-out of `side_px` to pixels of the picture."""
        scale = self.side / side_px
        cos, sin = np.cos(self.angle_rad) * scale, np.sin(self.angle_rad) * scale
        linear = np.array([[cos, -sin], [sin, cos]])
        shift = np.array([self.x, self.y]) - linear @ np.full(2, side_px / 2)
        return np.column_stack([linear, shift])

    def to_picture(self, points: NDArray[np.float32], side_px: int) -> NDArray[np.float32]:
        """Map ... x 2 points from pixels of a cut-out to pixels of the picture."""
        matrix = self.matrix(side_px)
        mapped: NDArray[np.float32] = (points @ matrix[:, :2].T + matrix[:, 2]).astype(np.float32)
        return mapped


def cut_out(
    pixels: NDArray[np.uint8], square: Square, side_px: int, *, repeat_border: bool
) -> NDArray[np.uint8]:
    """Resample a square to `side_px` x `side_px` x 3.

    Args:
        pixels: H x W x 3, uint8.
        square: what to cut out.
        side_px: size of the result.
        repeat_border: outside the picture its edge is repeated instead of black.
    """
    source, offset, factor = _shrunk_part(pixels, square, side_px)
    matrix = square.matrix(side_px)
    # Pixel centres lie at +0.5, so shrinking by `factor` maps p to (p + 0.5) / factor - 0.5.
    matrix[:, 2] = (matrix[:, 2] + matrix[:, :2] @ np.full(2, 0.5) - offset) / factor - 0.5
    matrix[:, :2] /= factor
    return np.asarray(
        cv2.warpAffine(
            source,
            matrix,
            (side_px, side_px),
            flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP,
            borderMode=cv2.BORDER_REPLICATE if repeat_border else cv2.BORDER_CONSTANT,
        ),
        dtype=np.uint8,
    )


def _shrunk_part(
    pixels: NDArray[np.uint8], square: Square, side_px: int
) -> tuple[NDArray[np.uint8], NDArray[np.float64], int]:
    """The part of the picture under a square, its corner, and by how much it was shrunk.

    It is area-averaged by a whole factor, so that bilinear sampling skips no pixel.
    """
    factor = max(int(square.side / side_px), 1)
    height, width = pixels.shape[:2]
    reach = square.side * (abs(np.cos(square.angle_rad)) + abs(np.sin(square.angle_rad))) / 2
    margin = 2 * factor
    left = int(np.clip(square.x - reach - margin, 0, width - 1))
    top = int(np.clip(square.y - reach - margin, 0, height - 1))
    right = int(np.clip(np.ceil(square.x + reach + margin), left + 1, width))
    bottom = int(np.clip(np.ceil(square.y + reach + margin), top + 1, height))
    part = pixels[top:bottom, left:right]
    if factor > 1:
        shape = (max((right - left) // factor, 1), max((bottom - top) // factor, 1))
        # Whole blocks only, so that the scale is exact; the rest is under the margin.
        part = part[: shape[1] * factor, : shape[0] * factor]
        part = np.asarray(cv2.resize(part, shape, interpolation=cv2.INTER_AREA), dtype=np.uint8)
    return np.ascontiguousarray(part), np.array([left, top], dtype=np.float64), factor


def whole_square(width_px: int, height_px: int) -> Square:
    """The smallest square with the whole picture in its middle."""
    return Square(width_px / 2, height_px / 2, float(max(width_px, height_px)))


def tile_squares(width_px: int, height_px: int, share: float) -> Iterator[Square]:
    """Squares of `share` of the picture's long side that cover it, overlapping by a third."""
    side = share * max(width_px, height_px)
    for y in _tile_centres(height_px, side):
        for x in _tile_centres(width_px, side):
            yield Square(x, y, side)


def _tile_centres(length: int, side: float) -> list[float]:
    if length <= side:
        return [length / 2]
    count = int(np.ceil((length - side) / (side * 2 / 3))) + 1
    return [float(x) for x in np.linspace(side / 2, length - side / 2, count)]
