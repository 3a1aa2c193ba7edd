"""Small head motion as one smooth 2.5-D field over the picture around the head.

The whole picture near the head bends, not a re-projected face: depth comes from the landmarks,
the pivot lies under the chin at the depth of the ears, and the field fades out towards the
border, so neither hair nor neck shows a seam and the background hardly moves.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from engine.animators.lite.frame import FaceFrame
from engine.animators.lite.resample import look_up
from engine.face import topology as topo

HEAD_MOVES = ("yaw", "pitch", "roll", "shift_x", "shift_y", "breath")
"""Order of the head parameters of a frame: degrees, degrees, degrees, mm, mm, mm."""

CAMERA_MM = 700.0
EDGE_DEPTH_MM = -35.0
"""Depth of hair and ears against the middle of the face."""
PIVOT_BELOW_MM = 70.0
PIVOT_BEHIND_MM = 62.0
FULL_WIDTH, FULL_HEIGHT, FADE_OUT = 1.22, 1.28, 1.95
"""The head moves fully inside an ellipse this many half-faces wide and high; beyond fades."""
BORDER_SHARE = 0.12
"""Within this share of the shorter side next to the picture's border the field fades to zero."""
NODE_SPACING_MM = 3.2
MIN_SPACING_PX = 2
INVERSE_STEPS = 3


@dataclass(frozen=True)
class Box:
    """A rectangle of the picture in pixels, right and bottom excluded."""

    left: int
    top: int
    right: int
    bottom: int

    @property
    def width(self) -> int:
        """Columns."""
        return self.right - self.left

    @property
    def height(self) -> int:
        """Rows."""
        return self.bottom - self.top

    def within(self, width_px: int, height_px: int) -> "Box":
        """The part inside a picture of this size."""
        return Box(
            max(self.left, 0),
            max(self.top, 0),
            min(self.right, width_px),
            min(self.bottom, height_px),
        )

    def bands(self, rows: int) -> Iterator["Box"]:
        """Cut into pieces that are as wide and at most this many rows high, top first."""
        for top in range(self.top, self.bottom, rows):
            yield Box(self.left, top, self.right, min(top + rows, self.bottom))

    @property
    def slices(self) -> tuple[slice, slice]:
        """Index of the rectangle in a picture."""
        return slice(self.top, self.bottom), slice(self.left, self.right)


@dataclass(frozen=True)
class CoarseGrid:
    """Nodes every `spacing` pixels over a box of the picture, one node beyond each side.

    A cell is `spacing` pixels square and its node lies in its middle, so that enlarging an
    array of node values by `spacing` gives the values of the pixels.
    """

    box: Box
    spacing: int

    @property
    def columns(self) -> int:
        """Nodes across."""
        return self.box.width // self.spacing + 2

    @property
    def rows(self) -> int:
        """Nodes down."""
        return self.box.height // self.spacing + 2

    def nodes_px(self) -> NDArray[np.float32]:
        """Position of each node in the picture: rows x columns x 2."""
        half = (self.spacing - 1) / 2
        xs = self.box.left + (np.arange(self.columns) - 1) * self.spacing + half
        ys = self.box.top + (np.arange(self.rows) - 1) * self.spacing + half
        return np.stack(np.meshgrid(xs, ys), axis=-1).astype(np.float32)

    def enlarge(self, values: NDArray[np.float32], box: Box | None = None) -> NDArray[np.float32]:
        """Node values (rows x columns x C) at every pixel of a box inside the grid's box."""
        box = box or self.box
        step = self.spacing
        first_column = (box.left - self.box.left) // step
        first_row = (box.top - self.box.top) // step
        last_column = -(-(box.right - self.box.left) // step) + 2
        last_row = -(-(box.bottom - self.box.top) // step) + 2
        part = values[first_row:last_row, first_column:last_column]
        size = (part.shape[1] * step, part.shape[0] * step)
        big = cv2.resize(part, size, interpolation=cv2.INTER_LINEAR)
        x = box.left - self.box.left - (first_column - 1) * step
        y = box.top - self.box.top - (first_row - 1) * step
        return np.asarray(big[y : y + box.height, x : x + box.width], np.float32)


@dataclass(frozen=True)
class HeadField:
    """How each head parameter moves the nodes of a coarse grid.

    Attributes:
        grid: where the nodes lie.
        basis: 6 x (rows*columns*2), float32, pixels per unit of `HEAD_MOVES`.
        nodes: rows x columns x 2, float32, pixels of the picture.
        indices: rows x columns x 2, float32: index of each node (x, y).
    """

    grid: CoarseGrid
    basis: NDArray[np.float32]
    nodes: NDArray[np.float32]
    indices: NDArray[np.float32]

    def sources(self, moves: NDArray[np.float32]) -> NDArray[np.float32]:
        """Where in the unmoved picture each node comes from (rows x columns x 2, pixels).

        Args:
            moves: 6, float32, in the order of `HEAD_MOVES`.
        """
        forward = (moves @ self.basis).reshape(self.nodes.shape)
        per_node = np.float32(1.0 / self.grid.spacing)
        back = -forward
        for _ in range(INVERSE_STEPS):
            at = self.indices + back * per_node
            back = -look_up(forward, at)
        return self.nodes + back

    def share(self, width_px: int, height_px: int) -> NDArray[np.float32]:
        """How much each pixel of the picture takes part in head motion: H x W, 0..1."""
        moved = self.basis[HEAD_MOVES.index("shift_x")].reshape(self.nodes.shape)
        node_share = np.linalg.norm(moved, axis=-1)
        node_share /= max(float(node_share.max()), 1e-6)
        whole = np.zeros((height_px, width_px), np.float32)
        box = self.grid.box.within(width_px, height_px)
        whole[box.slices] = self.grid.enlarge(node_share.astype(np.float32), box)
        return whole

    def shift_at(
        self, sources: NDArray[np.float32], point: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        """How far (2, pixels) the picture moved about at a point of it."""
        grid = self.grid
        cell = (point - (grid.box.left, grid.box.top)) / grid.spacing + 1
        row = int(np.clip(cell[1], 0, grid.rows - 1))
        column = int(np.clip(cell[0], 0, grid.columns - 1))
        return np.asarray(self.nodes[row, column] - sources[row, column], np.float32)


def build_head_field(frame: FaceFrame, width_px: int, height_px: int) -> HeadField:
    """The head field of a face in a picture of this size."""
    grid = _place_grid(frame, width_px, height_px)
    nodes = grid.nodes_px()
    plane = frame.to_plane(nodes.reshape(-1, 2))
    weight, below = _weights(frame, plane)
    border = _border_weight(nodes.reshape(-1, 2), width_px, height_px)
    depth = _depth(frame, plane)

    x, y = plane[:, 0], plane[:, 1] - PIVOT_BELOW_MM
    z = depth + PIVOT_BEHIND_MM
    one, none = np.ones_like(x), np.zeros_like(x)
    degree = np.float32(np.pi / 180)
    nearer = plane / np.float32(CAMERA_MM)
    yaw = np.stack([z, none], axis=1) - nearer * x[:, None]
    pitch = np.stack([none, z], axis=1) - nearer * y[:, None]
    roll = np.stack([-y, x], axis=1)
    fields = [
        yaw * degree * weight[:, None],
        pitch * degree * weight[:, None],
        roll * degree * weight[:, None],
        np.stack([one, none], axis=1) * weight[:, None],
        np.stack([none, one], axis=1) * weight[:, None],
        np.stack([none, -one], axis=1) * below[:, None],
    ]
    scaled = [field @ frame.turn * frame.px_per_mm * border[:, None] for field in fields]
    basis = np.stack([field.reshape(-1) for field in scaled]).astype(np.float32)
    indices = np.stack(np.meshgrid(np.arange(grid.columns), np.arange(grid.rows)), axis=-1)
    return HeadField(grid, basis, nodes, indices.astype(np.float32))


def _place_grid(frame: FaceFrame, width_px: int, height_px: int) -> CoarseGrid:
    """The part of the picture that may move, in whole cells, inside the picture."""
    centre, half = frame.ellipse
    corners = centre + half * FADE_OUT * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    corners = frame.to_picture(corners.astype(np.float32))
    low = np.clip(np.floor(corners.min(axis=0)), 0, [width_px, height_px])
    high = np.clip(np.ceil(corners.max(axis=0)), 0, [width_px, height_px])
    spacing = max(MIN_SPACING_PX, round(NODE_SPACING_MM * frame.px_per_mm))
    left, top = int(low[0]), int(low[1])
    # Whole cells: the last, partly outside, is cut off where the picture is drawn.
    columns = max(1, -(-(int(high[0]) - left) // spacing))
    rows = max(1, -(-(int(high[1]) - top) // spacing))
    return CoarseGrid(Box(left, top, left + columns * spacing, top + rows * spacing), spacing)


def _weights(
    frame: FaceFrame, plane: NDArray[np.float32]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Share of head motion and of breathing at points of the plane (N x 2): N, N."""
    centre, half = frame.ellipse
    away = (plane - centre) / half
    radius = np.linalg.norm(away / np.array([FULL_WIDTH, FULL_HEIGHT]), axis=1)
    end = FADE_OUT / FULL_WIDTH
    weight = _smooth((end - radius) / (end - 1.0))
    chin = centre[1] + half[1]
    below = _smooth((plane[:, 1] - chin - 5) / 60) * _smooth((end - radius) / 0.35)
    return weight, below


def _border_weight(
    nodes: NDArray[np.float32], width_px: int, height_px: int
) -> NDArray[np.float32]:
    """0 on the picture's border, 1 well inside: N."""
    fade = max(4.0, BORDER_SHARE * min(width_px, height_px))
    distance = np.minimum(
        np.minimum(nodes[:, 0], width_px - 1 - nodes[:, 0]),
        np.minimum(nodes[:, 1], height_px - 1 - nodes[:, 1]),
    )
    return _smooth(distance / fade)


def _depth(frame: FaceFrame, plane: NDArray[np.float32]) -> NDArray[np.float32]:
    """Depth in mm (towards the camera) at points of the plane: the face's, then that of hair."""
    used = [*topo.RIGID_POINTS, *topo.FACE_OVAL, *topo.OUTER_LIPS, 50, 280, 205, 425, 98, 327]
    used = list(dict.fromkeys(used))
    at = frame.plane[used]
    local = frame.local[used]
    depth = -(local @ frame.axes[:, 2])
    ears = depth[[used.index(topo.LEFT_EAR), used.index(topo.RIGHT_EAR)]].mean()
    depth = np.maximum(depth - ears + EDGE_DEPTH_MM, EDGE_DEPTH_MM)
    # Inverse-distance blend: smooth, and constant far away.
    squared = ((plane[:, None, :] - at[None]) ** 2).sum(axis=-1)
    near = 1.0 / (squared + 60.0) ** 1.5
    inner = (near * depth).sum(axis=1) / near.sum(axis=1)
    centre, half = frame.ellipse
    radius = np.linalg.norm((plane - centre) / half, axis=1)
    share = _smooth((1.35 - radius) / 0.5)
    return np.asarray(EDGE_DEPTH_MM + (inner - EDGE_DEPTH_MM) * share, np.float32)


def _smooth(values: NDArray[np.floating[Any]]) -> NDArray[np.float32]:
    """Smooth step from 0 to 1."""
    clipped = np.clip(values, 0.0, 1.0)
    return np.asarray(clipped * clipped * (3 - 2 * clipped), np.float32)
