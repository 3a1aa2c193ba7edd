"""Reading arrays at fractional positions: the one place that talks to OpenCV's remapping."""

from typing import TypeVar

import cv2
import numpy as np
from numpy.typing import NDArray

Value = TypeVar("Value", np.uint8, np.float32)

NO_MAP = np.empty(0, np.float32)


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
