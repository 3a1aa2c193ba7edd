"""Pictures as the encoder takes them (BT.709, halved colour), and a presenter blended into them.

Only the presenter's rectangle is touched for a frame; everything else of a slide is converted
once.
"""

from dataclasses import dataclass

import cv2
import numpy as np
from av.video.reformatter import VideoReformatter
from numpy.typing import NDArray

from engine.lecture.layout import Rect
from engine.media.video import to_yuv

_WHOLE = 256
"""Weights are in 256ths, so that a shift divides by them."""

SUPERSAMPLE = 4
SQUARE_RADIUS = 0.06
"""Of the corners of a square presenter, as a share of the shorter side."""


class PlaneConverter:
    """Turns RGB into planes; keeps the tables of the last size."""

    def __init__(self) -> None:
        self._reformatter = VideoReformatter()

    def planes(self, pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """H x W x 3, uint8, RGB as (H * 3 / 2) x W: luma, then both halved colour planes."""
        return np.asarray(to_yuv(self._reformatter, pixels).to_ndarray(), np.uint8)


def split(planes: NDArray[np.uint8]) -> tuple[NDArray[np.uint8], ...]:
    """The three planes of one array, as views: H x W and twice H/2 x W/2."""
    width = planes.shape[1]
    height = planes.shape[0] * 2 // 3
    flat = planes.reshape(-1)
    luma, quarter = height * width, height * width // 4
    half = (height // 2, width // 2)
    return (
        flat[:luma].reshape(height, width),
        flat[luma : luma + quarter].reshape(half),
        flat[luma + quarter :].reshape(half),
    )


@dataclass(frozen=True)
class _Plane:
    """One plane of what is under and over each other; weights in 256ths."""

    rows: slice
    columns: slice
    weight: NDArray[np.uint16]
    under: NDArray[np.uint16]


class Overlay:
    """A presenter on a picture that stands still.

    Args:
        canvas: planes of the picture; the presenter is drawn into them.
        rect: where.
        mask: H x W, float32, 0 .. 1: how much of the presenter is seen.
    """

    def __init__(self, canvas: NDArray[np.uint8], rect: Rect, mask: NDArray[np.float32]) -> None:
        self._canvas = canvas
        self._planes = []
        half_mask = cv2.resize(
            mask, (rect.width // 2, rect.height // 2), interpolation=cv2.INTER_AREA
        )
        for plane, step in zip(split(canvas), (1, 2, 2), strict=True):
            rows = slice(rect.y // step, rect.bottom // step)
            columns = slice(rect.x // step, rect.right // step)
            share = mask if step == 1 else np.asarray(half_mask, np.float32)
            weight = np.rint(share * _WHOLE).astype(np.uint16)
            under = plane[rows, columns] * (_WHOLE - weight) + np.uint16(_WHOLE // 2)
            self._planes.append(_Plane(rows, columns, weight, under.astype(np.uint16)))

    def put(self, presenter: NDArray[np.uint8]) -> None:
        """Blend the planes of the presenter, of the rectangle's size, into the canvas."""
        for plane, place, own in zip(
            split(self._canvas), self._planes, split(presenter), strict=True
        ):
            mixed = np.multiply(own, place.weight, dtype=np.uint16)
            mixed += place.under
            mixed >>= 8
            plane[place.rows, place.columns] = mixed


def presenter_mask(width_px: int, height_px: int, *, is_round: bool) -> NDArray[np.float32]:
    """A soft-edged disc, or a rectangle with slightly rounded corners: H x W, 0 .. 1."""
    height, width = height_px * SUPERSAMPLE, width_px * SUPERSAMPLE
    short = min(width, height)
    radius = short / 2 if is_round else short * SQUARE_RADIUS
    across = np.abs(np.arange(width, dtype=np.float32) - (width - 1) / 2) - (width / 2 - radius)
    down = np.abs(np.arange(height, dtype=np.float32) - (height - 1) / 2) - (height / 2 - radius)
    away = np.hypot(np.maximum(across, 0)[None, :], np.maximum(down, 0)[:, None])
    inside = (away <= radius).astype(np.float32)
    return np.asarray(
        cv2.resize(inside, (width_px, height_px), interpolation=cv2.INTER_AREA), np.float32
    )
