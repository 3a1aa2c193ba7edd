"""Smooth fields of skin motion on a small grid, one sheet above and one below the lips.

The skin above the mouth opening and the skin below it are two sheets that meet at the corners.
Each sheet's field is smooth everywhere, so a grid of 2 mm holds it and its inverse; the cut
between them is made per pixel where the picture is drawn.
"""

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from engine.animators.lite.frame import FaceFrame
from engine.animators.lite.resample import look_up
from engine.animators.lite.shapes import NUM_SHAPES, Handles

Real = TypeVar("Real", np.float32, np.float64)

STEP_MM = 2.0
LEFT_MM, TOP_MM, RIGHT_MM, BOTTOM_MM = -118.0, -150.0, 118.0, 126.0
"""Extent of the grid: everything speech can move lies inside, and its border is still."""
BORDER_MM = 14.0
FADE_FROM, FADE_TO = 1.6, 1.9
"""In half axes of the face: beyond the first the fields fade, beyond the second nothing moves."""
SMOOTHING = 0.6
"""Stiffness of the spline in mm: keeps handles that nearly coincide from tearing the skin."""
INVERSE_STEPS = 5
POINTS_AT_ONCE = 1024
"""Of the grid; each takes 16 bytes a handle, all together 50 MB."""


@dataclass(frozen=True)
class SkinFields:
    """Displacement of both sheets for every shape, on grid nodes.

    Attributes:
        upper, lower: S x (rows*columns*2), float32, in steps of the grid.
        rows, columns: size of the grid.
        nodes: rows x columns x 2, float32: position of each node in steps (x, y).
    """

    upper: NDArray[np.float32]
    lower: NDArray[np.float32]
    rows: int
    columns: int
    nodes: NDArray[np.float32]

    def forward(self, weights: NDArray[np.float32]) -> tuple[NDArray[np.float32], ...]:
        """Displacement fields (rows x columns x 2, steps) of the upper and lower sheet."""
        shape = (self.rows, self.columns, 2)
        return (weights @ self.upper).reshape(shape), (weights @ self.lower).reshape(shape)

    def inverse(self, forward: NDArray[np.float32]) -> NDArray[np.float32]:
        """For each node of the moved skin: the way back to where it lay (steps)."""
        back = -forward
        for _ in range(INVERSE_STEPS):
            back = -look_up(forward, self.nodes + back)
        return back

    def sample(
        self, sheet: NDArray[np.float32], points_mm: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        """A sheet's basis at points of the plane (N x 2, mm): S x N x 2, in mm."""
        at = to_steps(points_mm)[None]
        planes = sheet.reshape(NUM_SHAPES, self.rows, self.columns, 2)
        found = [look_up(plane, at)[0] for plane in planes]
        return np.stack(found) * np.float32(STEP_MM)


def to_steps(points_mm: NDArray[np.float32]) -> NDArray[np.float32]:
    """Plane millimetres (... x 2) in steps of the grid."""
    steps = (points_mm - np.array([LEFT_MM, TOP_MM])) / STEP_MM
    return np.asarray(steps, np.float32)


def build_fields(handles: Handles, frame: FaceFrame) -> SkinFields:
    """Spread the handles' displacements over the grid with thin-plate splines."""
    columns = round((RIGHT_MM - LEFT_MM) / STEP_MM) + 1
    rows = round((BOTTOM_MM - TOP_MM) / STEP_MM) + 1
    xs = LEFT_MM + np.arange(columns) * STEP_MM
    ys = TOP_MM + np.arange(rows) * STEP_MM
    grid = np.stack(np.meshgrid(xs, ys), axis=-1)
    inside = np.minimum.reduce(
        [
            grid[..., 0] - LEFT_MM,
            RIGHT_MM - grid[..., 0],
            grid[..., 1] - TOP_MM,
            BOTTOM_MM - grid[..., 1],
        ]
    )
    centre, half = frame.ellipse
    away = np.linalg.norm((grid - centre) / half, axis=-1)
    window = np.clip(inside / BORDER_MM, 0, 1)
    window *= np.clip((FADE_TO - away) / (FADE_TO - FADE_FROM), 0, 1)
    window = window**2 * (3 - 2 * window) / STEP_MM

    moving = window > 0
    sheets = []
    for chosen in (handles.of_upper, handles.of_lower):
        values = handles.moves[chosen].reshape(-1, NUM_SHAPES * 2)
        spread = np.zeros((rows, columns, NUM_SHAPES * 2), np.float32)
        spread[moving] = _thin_plate(handles.points[chosen], values, grid[moving])
        spread *= window[..., None]
        by_shape = spread.reshape(rows, columns, NUM_SHAPES, 2).transpose(2, 0, 1, 3)
        sheets.append(by_shape.reshape(NUM_SHAPES, -1))
    nodes = np.stack(np.meshgrid(np.arange(columns), np.arange(rows)), axis=-1)
    return SkinFields(sheets[0], sheets[1], rows, columns, nodes.astype(np.float32))


def _thin_plate(
    centres: NDArray[np.float32], values: NDArray[np.float32], points: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Thin-plate spline through `values` (N x K) at `centres` (N x 2), read at `points` (M x 2)."""
    at = centres.astype(np.float64)
    count = len(at)
    affine = np.column_stack([np.ones(count), at])
    system = np.zeros((count + 3, count + 3))
    system[:count, :count] = _kernel(at, at) + SMOOTHING * np.eye(count)
    system[:count, count:] = affine
    system[count:, :count] = affine.T
    right = np.zeros((count + 3, values.shape[1]))
    right[:count] = values
    solved = np.linalg.solve(system, right)
    read = np.empty((len(points), values.shape[1]))
    for first in range(0, len(points), POINTS_AT_ONCE):
        some = points[first : first + POINTS_AT_ONCE]
        # Weights of far handles cancel out, so the sum needs double precision; the kernel does not.
        bent = _kernel(some.astype(np.float32), centres).astype(np.float64) @ solved[:count]
        flat = np.column_stack([np.ones(len(some)), some]) @ solved[count:]
        read[first : first + POINTS_AT_ONCE] = bent + flat
    return read


def _kernel(a: NDArray[Real], b: NDArray[Real]) -> NDArray[Real]:
    """Radial basis r^2 log r between two sets of points: len(a) x len(b)."""
    squared = (a**2).sum(axis=1)[:, None] + (b**2).sum(axis=1) - 2 * a @ b.T
    squared = np.maximum(squared, a.dtype.type(1e-9))
    return np.asarray(squared * np.log(squared) * a.dtype.type(0.5), a.dtype)
