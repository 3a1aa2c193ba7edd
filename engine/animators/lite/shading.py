"""Light on the cheeks: folds deepen with a smile, hollows with the jaw, and soften again.

Warping moves skin but not its light. A few soft bands of shade, fixed to the landmarks, add what
flesh does: the fold from nose to mouth corner, the cheek above it, the hollow beside the mouth.
All are gains on the finished skin, so they suit every complexion; strengths were set by eye.
"""

from dataclasses import dataclass
from itertools import pairwise

import cv2
import numpy as np
from numpy.typing import NDArray

from engine.animators.lite.frame import FaceFrame
from engine.animators.lite.head import Box
from engine.animators.lite.shapes import AT, NUM_SHAPES
from engine.face import topology as topo

STEP_MM = 2.0
LEFT_MM, TOP_MM, RIGHT_MM, BOTTOM_MM = -64.0, -52.0, 64.0, 44.0
FOLD_MM, CHEEK_MM, HOLLOW_MM, DIMPLE_MM = 2.6, 8.0, 8.0, 3.5
"""Widths (standard deviations) of the bands."""
FOLD_SHADE, CHEEK_LIGHT, HOLLOW_SHADE, DIMPLE_SHADE = -0.13, 0.05, -0.07, -0.08
"""Change of brightness at weight 1 of the shape that makes it."""
WIDE_SHARE = 0.7
LIMIT = 0.16
SIDES = (
    (topo.LEFT_MOUTH_CORNER, 129, -1.0),
    (topo.RIGHT_MOUTH_CORNER, 358, 1.0),
)
"""Mouth corner, wing of the nose, and which way is outwards, for each side."""


@dataclass(frozen=True)
class Shading:
    """Change of brightness for every shape on a grid over the lower face.

    Attributes:
        basis: S x (rows*columns), float32.
        rows, columns: size of the grid.
    """

    basis: NDArray[np.float32]
    rows: int
    columns: int

    def gains(self, weights: NDArray[np.float32]) -> NDArray[np.float32]:
        """Factor of brightness on the grid (rows x columns) for shape weights (S)."""
        change = np.clip(weights @ self.basis, -LIMIT, LIMIT)
        return np.asarray(1 + change, np.float32).reshape(self.rows, self.columns)

    def paint(
        self, region: NDArray[np.uint8], at_picture: NDArray[np.float32], gains: NDArray[np.float32]
    ) -> NDArray[np.uint8]:
        """Shade a region.

        Args:
            region: h x w x 3, uint8, RGB: finished skin.
            at_picture: 2 x 3: pixels of the region to steps of the grid.
            gains: of this frame.
        """
        size = (region.shape[1], region.shape[0])
        flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
        light = cv2.warpAffine(
            gains, at_picture, size, flags=flags, borderMode=cv2.BORDER_REPLICATE
        )
        shaded = cv2.multiply(region, cv2.merge([light] * 3), dtype=cv2.CV_8U)
        return np.asarray(shaded, np.uint8)


def shaded_box(frame: FaceFrame, shift_px: NDArray[np.float32], size: tuple[int, int]) -> Box:
    """The part of a picture (height, width) that shading may change when the face moved so far."""
    corners = [[LEFT_MM, TOP_MM], [RIGHT_MM, TOP_MM], [RIGHT_MM, BOTTOM_MM], [LEFT_MM, BOTTOM_MM]]
    points = frame.to_picture(np.array(corners, np.float32)) + shift_px
    low, high = np.floor(points.min(axis=0)), np.ceil(points.max(axis=0))
    box = Box(int(low[0]), int(low[1]), int(high[0]), int(high[1]))
    return box.within(size[1], size[0])


def steps_from_region(
    frame: FaceFrame, shift_px: NDArray[np.float32], box: Box
) -> NDArray[np.float32]:
    """2 x 3: pixels of the region `box`, moved by `shift_px`, to steps of the grid."""
    matrix = frame.plane_from_picture.astype(np.float64)
    start = matrix[:, :2] @ (np.array([box.left, box.top]) - shift_px) + matrix[:, 2]
    start -= (LEFT_MM, TOP_MM)
    return (np.column_stack([matrix[:, :2], start]) / STEP_MM).astype(np.float32)


def build_shading(frame: FaceFrame) -> Shading:
    """The bands of one face."""
    columns = round((RIGHT_MM - LEFT_MM) / STEP_MM) + 1
    rows = round((BOTTOM_MM - TOP_MM) / STEP_MM) + 1
    xs, ys = LEFT_MM + np.arange(columns) * STEP_MM, TOP_MM + np.arange(rows) * STEP_MM
    grid = np.stack(np.meshgrid(xs, ys), axis=-1)
    basis = np.zeros((NUM_SHAPES, rows, columns))
    for corner_at, wing_at, outwards in SIDES:
        corner, wing = (frame.plane[vertex].astype(np.float64) for vertex in (corner_at, wing_at))
        out = np.array([outwards, 0.0])
        line = np.stack([wing + 3 * out, corner + (9 * out + (0, -3)), corner + (8 * out + (0, 9))])
        distance, along = _distance_to(line, grid)
        fold = (
            np.exp(-((distance / FOLD_MM) ** 2) / 2) * np.sin(np.pi * np.clip(along, 0, 1)) ** 0.7
        )
        cheek = _spot(grid, (wing + corner) / 2 + 17 * out, CHEEK_MM)
        spread = FOLD_SHADE * fold + CHEEK_LIGHT * cheek
        basis[AT["smile"]] += spread
        basis[AT["wide"]] += WIDE_SHARE * spread
        basis[AT["jaw"]] += HOLLOW_SHADE * _spot(grid, corner + 13 * out + (0, 8), HOLLOW_MM)
        basis[AT["pucker"]] += DIMPLE_SHADE * _spot(grid, corner + 3 * out, DIMPLE_MM)
    edge = np.minimum.reduce([xs - xs[0], xs[-1] - xs])[None] / 8
    edge = np.minimum(edge, np.minimum(ys - ys[0], ys[-1] - ys)[:, None] / 8)
    basis *= np.clip(edge, 0, 1)
    return Shading(basis.reshape(NUM_SHAPES, -1).astype(np.float32), rows, columns)


def _spot(
    grid: NDArray[np.float64], centre: NDArray[np.float64], width_mm: float
) -> NDArray[np.float64]:
    squared = ((grid - centre) ** 2).sum(axis=-1)
    return np.asarray(np.exp(-squared / (2 * width_mm**2)))


def _distance_to(
    line: NDArray[np.float64], grid: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Distance of grid points to a line of points (N x 2), and how far along (0..1) they lie."""
    distances, places = [], []
    count = len(line) - 1
    for index, (start, end) in enumerate(pairwise(line)):
        way = end - start
        part = np.clip(((grid - start) @ way) / (way @ way), 0, 1)
        distances.append(np.linalg.norm(grid - start - part[..., None] * way, axis=-1))
        places.append((index + part) / count)
    nearest = np.argmin(distances, axis=0)[None]
    distance = np.take_along_axis(np.array(distances), nearest, axis=0)[0]
    return distance, np.take_along_axis(np.array(places), nearest, axis=0)[0]
