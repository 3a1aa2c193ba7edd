"""The inner edges of the lips as curves that move with the skin."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.animators.lite.field import SkinFields
from engine.animators.lite.frame import FaceFrame
from engine.animators.lite.resample import look_up
from engine.animators.lite.shapes import Lips
from engine.face.topology import INNER_LOWER_LIP, INNER_UPPER_LIP

POINTS_PER_PART = 4
TABLE_STEP_MM = 0.25
TABLE_HALF_MM = 64.0
MAX_SLOPE = 6.0
SOFTNESS_GROWTH = 0.55
"""How fast the cut between the sheets melts away beyond a corner of the mouth, mm per mm."""
LIP_MARGIN_MM = 0.9
"""An open mouth's contour is moved onto the lip by up to this much, so no teeth stick to it."""


@dataclass(frozen=True)
class LipCurves:
    """Both inner edges of one frame over x of the plane.

    Attributes:
        table: K x 4, float32: upper edge y, lower edge y (mm), and for each edge what a
            distance in y is divided by to count in softened pixels.
        first_x_mm: x of the first row of the table; rows are `TABLE_STEP_MM` apart.
        left, right: x, y of the corners, mm.
        gap_mm: largest opening.
        top_mm, bottom_mm: y range of the opening.
    """

    table: NDArray[np.float32]
    first_x_mm: float
    left: tuple[float, float]
    right: tuple[float, float]
    gap_mm: float
    top_mm: float
    bottom_mm: float


@dataclass(frozen=True)
class LipContours:
    """Inner lip edges of the photograph and how every shape moves them.

    Attributes:
        upper, lower: N x 2, float32, mm, plane; same corners, left to right.
        upper_moves, lower_moves: S x N x 2, float32, mm.
        softness_mm: width over which one sheet gives way to the other: the finest
            detail of the picture.
    """

    upper: NDArray[np.float32]
    lower: NDArray[np.float32]
    upper_moves: NDArray[np.float32]
    lower_moves: NDArray[np.float32]
    softness_mm: float

    def moved(self, weights: NDArray[np.float32]) -> LipCurves:
        """The curves under shape weights (S)."""
        upper = self.upper + np.tensordot(weights, self.upper_moves, axes=1)
        lower = self.lower + np.tensordot(weights, self.lower_moves, axes=1)
        for end in (0, -1):
            upper[end] = lower[end] = (upper[end] + lower[end]) / 2
        return self._tabulate(upper, lower)

    def _tabulate(self, upper: NDArray[np.float32], lower: NDArray[np.float32]) -> LipCurves:
        left, right = upper[0], upper[-1]
        centre = float(left[0] + right[0]) / 2
        count = round(2 * TABLE_HALF_MM / TABLE_STEP_MM) + 1
        xs = centre - TABLE_HALF_MM + np.arange(count) * TABLE_STEP_MM
        upper_y = np.interp(xs, _rising(upper[:, 0]), upper[:, 1])
        lower_y = np.interp(xs, _rising(lower[:, 0]), lower[:, 1])
        crossed = np.minimum(lower_y - upper_y, 0) / 2  # lips that would overlap meet half-way
        upper_y += crossed
        lower_y -= crossed
        beyond = np.maximum(np.maximum(left[0] - xs, xs - right[0]), 0)
        softness = self.softness_mm + SOFTNESS_GROWTH * beyond
        table = np.stack(
            [
                upper_y,
                lower_y,
                _steepness(upper_y) / softness,
                _steepness(lower_y) / softness,
            ],
            axis=1,
        )
        gap = lower_y - upper_y
        return LipCurves(
            table=table.astype(np.float32),
            first_x_mm=float(xs[0]),
            left=(float(left[0]), float(left[1])),
            right=(float(right[0]), float(right[1])),
            gap_mm=float(gap.max()),
            top_mm=float(upper_y.min()),
            bottom_mm=float(lower_y.max()),
        )


def _steepness(ys: NDArray[np.float64]) -> NDArray[np.float64]:
    """Turns a distance in y into the distance from the curve: 1 / sqrt(1 + slope^2)."""
    slope = np.clip(np.gradient(ys, TABLE_STEP_MM), -MAX_SLOPE, MAX_SLOPE)
    return np.asarray(1.0 / np.sqrt(1.0 + slope**2))


def _rising(xs: NDArray[np.float32]) -> NDArray[np.float64]:
    """`xs` made strictly increasing, as an interpolation needs it."""
    return np.asarray(np.maximum.accumulate(xs.astype(np.float64)) + np.arange(len(xs)) * 1e-5)


def find_contours(frame: FaceFrame, lips: Lips) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Upper and lower inner lip edge of the photograph, N x 2 each, mm, plane."""
    upper = frame.plane[list(INNER_UPPER_LIP)].copy()
    lower = frame.plane[list(INNER_LOWER_LIP)].copy()
    margin = np.minimum(LIP_MARGIN_MM, 0.22 * lips.gap)
    upper[:, 1] -= margin
    lower[:, 1] += margin
    return densify(upper), densify(lower)


def attach_contours(
    fields: SkinFields,
    upper: NDArray[np.float32],
    lower: NDArray[np.float32],
    softness_mm: float,
) -> LipContours:
    """Tie the contours to the moving skin; for the rest see `LipContours`."""
    upper_moves = fields.sample(fields.upper, upper)
    lower_moves = fields.sample(fields.lower, lower)
    # What the smooth fields leave open of a closed mouth is taken from the margin on the lips.
    left_open = (lower + lower_moves[0] - upper - upper_moves[0])[:, 1] / 2
    upper_moves[0, :, 1] += left_open
    lower_moves[0, :, 1] -= left_open
    return LipContours(
        upper=upper,
        lower=lower,
        upper_moves=upper_moves,
        lower_moves=lower_moves,
        softness_mm=softness_mm,
    )


def densify(points: NDArray[np.float32]) -> NDArray[np.float32]:
    """A smooth (Catmull-Rom) curve through `points` (N x 2), `POINTS_PER_PART` per part."""
    padded = np.concatenate([2 * points[:1] - points[1:2], points, 2 * points[-1:] - points[-2:-1]])
    a, b, c, d = padded[:-3], padded[1:-2], padded[2:-1], padded[3:]
    parts = []
    for step in range(POINTS_PER_PART):
        u = step / POINTS_PER_PART
        parts.append(
            0.5
            * (
                2 * b
                + (c - a) * u
                + (2 * a - 5 * b + 4 * c - d) * u**2
                + (3 * b - a - 3 * c + d) * u**3
            )
        )
    dense = np.stack(parts, axis=1).reshape(-1, 2)
    return np.concatenate([dense, points[-1:]]).astype(np.float32)


def edges_at(plane: NDArray[np.float32], curves: LipCurves) -> NDArray[np.float32]:
    """Rows of the curves' table at the x of every pixel: h x w x 4."""
    at = (plane[..., 0] - np.float32(curves.first_x_mm)) * np.float32(1 / TABLE_STEP_MM)
    return look_up(curves.table[None], np.dstack([at, np.zeros_like(at)]))


def cut(
    plane: NDArray[np.float32], curves: LipCurves
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """How much of each pixel lies below the upper edge, and above the lower edge (h x w, 0..1)."""
    edges = edges_at(plane, curves)
    y = plane[..., 1]
    under_upper = np.clip((y - edges[..., 0]) * edges[..., 2] + 0.5, 0, 1)
    over_lower = np.clip((edges[..., 1] - y) * edges[..., 3] + 0.5, 0, 1)
    # One pixel is shared out exactly: nothing is left over where the lips touch.
    return under_upper, np.maximum(over_lower, 1 - under_upper)
