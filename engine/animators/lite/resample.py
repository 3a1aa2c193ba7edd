"""Reading arrays at fractional positions: the one place that talks to OpenCV's remapping."""

from dataclasses import dataclass
from typing import TypeVar

import cv2
import numpy as np
from numpy.typing import NDArray

Value = TypeVar("Value", np.uint8, np.float32)

NO_MAP = np.empty(0, np.float32)

FINER = np.float32(2)
"""Pixels of a `FineTexture` for each pixel of its picture."""

HALF_WAY = np.array([-0.0343, 0.0884, -0.1902, 0.6361, 0.6361, -0.1902, 0.0884, -0.0343])
"""Weights of the eight pixels around a place half-way between two: a sinc that fades out. Read
linearly in between, skin keeps as much fine contrast as with cubic interpolation, and lies nearer
to an exact interpolation (57.0 against 56.5 dB on a portrait of 1.5 megapixels)."""


@dataclass(frozen=True)
class FineTexture:
    """A picture at twice its size, to be read again and again.

    Linear reading of it takes a third of the time of cubic reading of the picture.

    Attributes:
        doubled: 2H x 2W x 3, uint8: each second pixel of each second row is the picture's own.
    """

    doubled: NDArray[np.uint8]

    @classmethod
    def of(cls, picture: NDArray[np.uint8]) -> "FineTexture":
        """Prepare a picture (H x W x 3, uint8)."""
        height, width = picture.shape[:2]
        doubled = np.empty((2 * height, 2 * width, 3), np.uint8)
        one = np.ones(1)
        doubled[::2, ::2] = picture
        doubled[::2, 1::2] = _filtered(picture, HALF_WAY, one)
        doubled[1::2, ::2] = _filtered(picture, one, HALF_WAY)
        doubled[1::2, 1::2] = _filtered(picture, HALF_WAY, HALF_WAY)
        return cls(doubled)

    def look_up(self, at: NDArray[np.float32]) -> NDArray[np.uint8]:
        """Sharp interpolation, exact at whole pixels, that repeats the border.

        Args:
            at: h x w x 2: x, y of each wanted value, in pixels of the doubled picture.

        Returns:
            h x w x 3.
        """
        return look_up(self.doubled, at)


def _filtered(
    picture: NDArray[np.uint8], across: NDArray[np.float64], down: NDArray[np.float64]
) -> NDArray[np.uint8]:
    anchor = ((len(across) - 1) // 2, (len(down) - 1) // 2)
    found = cv2.sepFilter2D(
        picture, cv2.CV_8U, across, down, anchor=anchor, borderType=cv2.BORDER_REFLECT_101
    )
    return np.asarray(found, np.uint8)


def look_up(values: NDArray[Value], at: NDArray[np.float32]) -> NDArray[Value]:
    """Linear interpolation that repeats the border.

    Args:
        values: H x W x C.
        at: h x w x 2: x, y of each wanted value in `values`.

    Returns:
        h x w x C.
    """
    return _remap(values, at, cv2.INTER_LINEAR, cv2.BORDER_REPLICATE)


def look_up_or_zero(values: NDArray[Value], at: NDArray[np.float32]) -> NDArray[Value]:
    """Linear interpolation of values that are zero outside; shapes as in `look_up`."""
    return _remap(values, at, cv2.INTER_LINEAR, cv2.BORDER_CONSTANT)


def look_up_sharp(values: NDArray[Value], at: NDArray[np.float32]) -> NDArray[Value]:
    """Cubic interpolation, exact at whole pixels, that mirrors the border."""
    return _remap(values, at, cv2.INTER_CUBIC, cv2.BORDER_REFLECT_101)


def apply_affine(points: NDArray[np.float32], matrix: NDArray[np.float32]) -> NDArray[np.float32]:
    """Apply a 2 x 2 or 2 x 3 matrix to an array of points (h x w x 2)."""
    moved: NDArray[np.float32] = np.asarray(cv2.transform(points, matrix), np.float32)
    return moved


def _remap(
    values: NDArray[Value], at: NDArray[np.float32], interpolation: int, border: int
) -> NDArray[Value]:
    found = cv2.remap(values, at, NO_MAP, interpolation, borderMode=border)
    return np.asarray(found, values.dtype)
