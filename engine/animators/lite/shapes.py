"""What each mouth and face shape does to the landmarks, in millimetres of the local frame.

Every shape is a set of displacements at handle landmarks; `field` spreads them over the skin.
The numbers are those of an average adult and were set by eye and by landmark measurement.
"""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from engine.animators.lite.frame import FaceFrame
from engine.face import topology as topo

SHAPES = (
    "closed", "jaw", "pucker", "wide", "upper_up", "lower_down", "press", "ff", "smile", "brow",
)  # fmt: skip
"""Order of the shape weights of a frame. `closed` always has weight 1: it shuts the mouth."""

NUM_SHAPES = len(SHAPES)
AT = {name: index for index, name in enumerate(SHAPES)}
USUAL_HALF_WIDTH_MM, LEAST_SIZE = 25.0, 0.85
"""Smaller mouths open as if they had this share of the usual width, or nobody would see it."""

UPPER_LIP_HANDLES = topo.OUTER_UPPER_LIP[1:-1] + topo.INNER_UPPER_LIP[1:-1]
LOWER_LIP_HANDLES = topo.OUTER_LOWER_LIP[1:-1] + topo.INNER_LOWER_LIP[1:-1]
CORNER_HANDLES = (61, 291, 78, 308)
UPPER, LOWER, CORNERS = list(UPPER_LIP_HANDLES), list(LOWER_LIP_HANDLES), list(CORNER_HANDLES)
LIP = UPPER + LOWER + CORNERS
OUTER_UPPER, OUTER_LOWER = list(topo.OUTER_UPPER_LIP[1:-1]), list(topo.OUTER_LOWER_LIP[1:-1])
INNER_UPPER, INNER_LOWER = list(topo.INNER_UPPER_LIP[1:-1]), list(topo.INNER_LOWER_LIP[1:-1])
BROWS = (
    *topo.LEFT_BROW_UPPER, *topo.LEFT_BROW_LOWER, *topo.RIGHT_BROW_UPPER, *topo.RIGHT_BROW_LOWER,
)  # fmt: skip
CREASES = (*topo.LEFT_UPPER_CREASE[1:-1], *topo.RIGHT_UPPER_CREASE[1:-1])
STILL = (
    # eyes and what lies under them
    *topo.LEFT_UPPER_LID, *topo.LEFT_LOWER_LID[1:-1], *topo.RIGHT_UPPER_LID,
    *topo.RIGHT_LOWER_LID[1:-1], 23, 24, 110, 22, 26, 253, 254, 339, 252, 256, 229, 230, 231,
    449, 450, 451,
    # nose: ridge, tip, wings, base
    168, 6, 197, 195, 5, 4, 1, 2, 98, 327, 94, 48, 278, 64, 294, 129, 358, 240, 460,
    # cheekbones, temples
    50, 280, 117, 346, 123, 352, 116, 345, 36, 266, 34, 264, 143, 372,
)  # fmt: skip
CHEEKS = (205, 425)

# How far the edge of the jaw follows it, from beside the chin tip up to the ear.
JAW_EDGE_LEFT = (148, 176, 149, 150, 136, 172, 58, 132, 93, 234)
JAW_EDGE_RIGHT = (377, 400, 378, 379, 365, 397, 288, 361, 323, 454)
JAW_EDGE_SHARE = (0.985, 0.94, 0.87, 0.76, 0.62, 0.46, 0.30, 0.16, 0.06, 0.0)
UPPER_OVAL = (127, 162, 21, 54, 103, 67, 109, 10, 338, 297, 332, 284, 251, 389, 356)
CHIN = (*topo.BELOW_LOWER_LIP, topo.CHIN_TIP)

RING_DISTANCES_MM = (10.0, 24.0, 42.0, 64.0)
RING_SHARE = (0.72, 0.38, 0.12, 0.0)
"""How chin and neck outside the face follow the edge of the jaw."""

UPPER_CLOSING_SHARE = 0.38
UPPER_CLOSING_LIMIT_MM = 3.0
"""The upper lip takes this share of closing an open mouth, but no more than the limit."""


@dataclass(frozen=True)
class Handles:
    """Points of the plane whose displacement is known.

    Attributes:
        points: N x 2, float32, mm, plane.
        moves: N x S x 2, float32, mm, plane, in the order of `SHAPES`.
        of_upper, of_lower: N, bool: which sheet of skin the handle belongs to (both: the rest).
    """

    points: NDArray[np.float32]
    moves: NDArray[np.float32]
    of_upper: NDArray[np.bool_]
    of_lower: NDArray[np.bool_]


@dataclass(frozen=True)
class Lips:
    """Lip measures of one portrait in the local frame, mm.

    Attributes:
        centre_x: middle between the corners.
        half_width: corner to middle.
        jaw_half_width: where lips hang from the cheeks alone. Corners of drawn mouths, which may be
            far narrower than a jaw, lie within and go down with it; or the chin would be drawn out
            under the middle of the lips.
        gap: 11: opening of the photograph along the inner contour.
        seam_shift_upper, seam_shift_lower: 11 x 3: what brings either inner edge to the seam.
    """

    centre_x: float
    half_width: float
    jaw_half_width: float
    gap: NDArray[np.float32]
    seam_shift_upper: NDArray[np.float32]
    seam_shift_lower: NDArray[np.float32]


PUCKER_SHARE = 0.33
LIP_CLEARANCE_MM = 1.5
SMILE_GAP_MM = 4.0


def measure_lips(local: NDArray[np.float32], *, drawn: bool = False) -> Lips:
    """Measure the lips.

    Args:
        local: 478 x 3, mm: landmarks in the local frame.
        drawn: whether the mouth is drawn; its lips then close half-way each.
    """
    upper = local[list(topo.INNER_UPPER_LIP)]
    lower = local[list(topo.INNER_LOWER_LIP)]
    gap = np.maximum(lower[:, 1] - upper[:, 1], 0.0)
    share = UPPER_CLOSING_SHARE * gap
    share = UPPER_CLOSING_LIMIT_MM * np.tanh(share / UPPER_CLOSING_LIMIT_MM)
    if drawn:
        share = 0.5 * gap
    between = lower - upper
    part = (share / np.maximum(gap, 1e-3))[:, None]
    corners = local[[topo.LEFT_MOUTH_CORNER, topo.RIGHT_MOUTH_CORNER], 0]
    half_width = max(float(abs(corners[1] - corners[0])) / 2, 5.0)
    return Lips(
        centre_x=float(corners.mean()),
        half_width=half_width,
        jaw_half_width=max(half_width, USUAL_HALF_WIDTH_MM) if drawn else half_width,
        gap=gap.astype(np.float32),
        seam_shift_upper=(between * part).astype(np.float32),
        seam_shift_lower=(-between * (1 - part)).astype(np.float32),
    )


def build_handles(frame: FaceFrame, lips: Lips, *, split: bool = True) -> Handles:
    """Displacements of every shape at every handle of one portrait.

    Args:
        frame: coordinates of the face.
        lips: measures of the mouth.
        split: whether the lips can part; False for a covered mouth.
    """
    moves = np.zeros((topo.NUM_MESH_VERTICES, NUM_SHAPES, 3), dtype=np.float32)
    local = frame.local[: topo.NUM_MESH_VERTICES]
    _set_closed(moves, local, lips)
    _set_lip_shapes(moves, local + moves[:, 0], lips)
    _set_face_shapes(moves, lips)

    used = [
        *UPPER_LIP_HANDLES, *LOWER_LIP_HANDLES, *CORNER_HANDLES, *CHIN, *JAW_EDGE_LEFT,
        *JAW_EDGE_RIGHT, *CHEEKS, *BROWS, *CREASES, *UPPER_OVAL, *STILL,
    ]  # fmt: skip
    used = _clear_of_lips(frame, list(dict.fromkeys(used)))
    points = frame.plane[used]
    seen = frame.project(moves[used].reshape(-1, 3)).reshape(len(used), NUM_SHAPES, 2)
    ring_points, ring_moves = _ring_handles(frame, moves)
    free = np.ones(len(ring_points), dtype=bool)
    upper = np.isin(used, UPPER_LIP_HANDLES) & split
    lower = np.isin(used, LOWER_LIP_HANDLES) & split
    return Handles(
        points=np.concatenate([points, ring_points]),
        moves=np.concatenate([seen, ring_moves]),
        of_upper=np.concatenate([~lower, free]),
        of_lower=np.concatenate([~upper, free]),
    )


def _clear_of_lips(frame: FaceFrame, vertices: list[int]) -> list[int]:
    """The vertices without those that lie on or right beside the lips but are none."""
    ring = frame.plane[list(topo.OUTER_LIPS)].astype(np.float32)
    lips = {*UPPER_LIP_HANDLES, *LOWER_LIP_HANDLES, *CORNER_HANDLES}

    def is_clear(vertex: int) -> bool:
        x, y = (float(value) for value in frame.plane[vertex])
        return vertex in lips or cv2.pointPolygonTest(ring, (x, y), True) < -LIP_CLEARANCE_MM

    return [vertex for vertex in vertices if is_clear(vertex)]


def _set_closed(moves: NDArray[np.float32], local: NDArray[np.float32], lips: Lips) -> None:
    """Shape 0: bring the lips of the photograph together."""
    upper, lower = lips.seam_shift_upper, lips.seam_shift_lower
    moves[INNER_UPPER, 0] = upper[1:-1]
    moves[OUTER_UPPER, 0] = upper[1:-1] * 0.9
    moves[INNER_LOWER, 0] = lower[1:-1]
    moves[OUTER_LOWER, 0] = lower[1:-1] * 0.95

    # A smile parts the lips a few millimetres; what is beyond, the jaw did, and undoes.
    gap = max(float(lips.gap[5]), 1e-3)
    by_jaw_mm = max(gap - SMILE_GAP_MM, 0.0)
    x = local[:, 0] - lips.centre_x
    t = np.clip(np.abs(x) / lips.half_width, 0.0, 1.0)
    undone = min(by_jaw_mm / 10.0, 2.0)
    moves[LIP, 0, 0] += undone * 1.2 * np.sign(x[LIP]) * t[LIP] ** 2
    moves[LIP, 0, 1] -= undone * 2.8 * t[LIP] ** 4

    middle = lower[5]
    jaw_share = 0.15 + 0.7 * by_jaw_mm / gap
    moves[18, 0] = middle * max(0.85, jaw_share)
    for index, vertex in enumerate((200, 199, 175, 152)):
        moves[vertex, 0] = middle * jaw_share * (1.15 - 0.05 * index)
    for left, right, share in zip(JAW_EDGE_LEFT, JAW_EDGE_RIGHT, JAW_EDGE_SHARE, strict=True):
        moves[[left, right], 0] = middle * jaw_share * share


def _set_lip_shapes(moves: NDArray[np.float32], closed: NDArray[np.float32], lips: Lips) -> None:
    """Displacements of the lips themselves, measured from the closed mouth (468 x 3, mm)."""
    x = closed[:, 0] - lips.centre_x
    t = np.clip(np.abs(x) / lips.half_width, 0.0, 1.0)
    _set_openings(moves, x, lips)
    _set_stretches(moves, x, t, lips.half_width / USUAL_HALF_WIDTH_MM)
    _set_touches(moves, closed, t)


def _set_openings(moves: NDArray[np.float32], x: NDArray[np.float32], lips: Lips) -> None:
    """`jaw`, `upper_up`, `lower_down`; x: mm from the middle of the lips."""
    opening = _opening_scale(lips)
    t = np.clip(np.abs(x) / lips.half_width, 0.0, 1.0)
    bow = 1 - t**2
    at_corner = lips.half_width / lips.jaw_half_width
    drop, corner = (2.8 + 7.2 * (1 - share**1.9) for share in (t * at_corner, at_corner))
    moves[LOWER, AT["jaw"], 1] = opening * drop[LOWER]
    moves[UPPER, AT["jaw"], 1] = opening * (corner * t**4 - 0.7 * bow)[UPPER]
    moves[CORNERS, AT["jaw"], 1] = opening * corner
    moves[LIP, AT["jaw"], 0] = -1.2 * np.sign(x[LIP]) * t[LIP] ** 2
    moves[UPPER, AT["upper_up"], 1] = -3.0 * opening * bow[UPPER]
    moves[LOWER, AT["lower_down"], 1] = 3.0 * opening * bow[LOWER]


def _set_stretches(
    moves: NDArray[np.float32], x: NDArray[np.float32], t: NDArray[np.float32], size: float
) -> None:
    """`pucker`, `wide`, `smile`: what goes along the lips; `size` is 1 for an average mouth."""
    bow = 1 - t**2
    outwards = np.sign(x)
    moves[LIP, AT["pucker"], 0] = -PUCKER_SHARE * x[LIP] * min(1.0, 1.0 / size)
    moves[LIP, AT["pucker"], 2] = 4.0 + bow[LIP]
    moves[OUTER_UPPER, AT["pucker"], 1] = -0.9 * bow[OUTER_UPPER]
    moves[OUTER_LOWER, AT["pucker"], 1] = 1.2 * bow[OUTER_LOWER]

    moves[LIP, AT["wide"], 0] = 4.5 * size * outwards[LIP] * t[LIP]
    moves[LIP, AT["wide"], 1] = -1.2 * t[LIP] ** 2
    moves[OUTER_UPPER, AT["wide"], 1] += 0.5 * bow[OUTER_UPPER]
    moves[OUTER_LOWER, AT["wide"], 1] -= 0.5 * bow[OUTER_LOWER]

    moves[LIP, AT["smile"], 0] = 3.0 * size * outwards[LIP] * t[LIP] ** 1.5
    moves[LIP, AT["smile"], 1] = -3.0 * t[LIP] ** 2


def _set_touches(
    moves: NDArray[np.float32], closed: NDArray[np.float32], t: NDArray[np.float32]
) -> None:
    """`press` and `ff`: lips against each other, and the lower lip against the teeth."""
    seam = closed[list(topo.INNER_UPPER_LIP[1:-1]), 1]
    moves[OUTER_UPPER, AT["press"], 1] = 0.24 * (seam - closed[OUTER_UPPER, 1])
    moves[OUTER_LOWER, AT["press"], 1] = -0.24 * (closed[OUTER_LOWER, 1] - seam)
    moves[18, AT["press"], 1] = -0.6

    moves[UPPER, AT["ff"], 1] = -1.6 * (1 - t[UPPER] ** 2)
    moves[OUTER_LOWER, AT["ff"], 1] = -0.28 * (closed[OUTER_LOWER, 1] - seam)
    moves[INNER_LOWER, AT["ff"], 2] = -1.5
    moves[18, AT["ff"], 1] = -1.0
    moves[[200, 199, 175, 152, 148, 377, 176, 400], AT["ff"], 1] = -0.8


def _opening_scale(lips: Lips) -> float:
    """Small mouths open less: 1 for an average one."""
    return float(np.sqrt(np.clip(lips.half_width / USUAL_HALF_WIDTH_MM, LEAST_SIZE, 1.15)))


def _set_face_shapes(moves: NDArray[np.float32], lips: Lips) -> None:
    """Displacements of chin, cheeks and brows."""
    opening = _opening_scale(lips)
    for vertex, drop in zip(CHIN, (9.6, 9.0, 8.6, 8.3, 8.2), strict=True):
        moves[vertex, AT["jaw"], 1] = drop * opening
    for left, right, share in zip(JAW_EDGE_LEFT, JAW_EDGE_RIGHT, JAW_EDGE_SHARE, strict=True):
        moves[[left, right], AT["jaw"], 1] = 8.2 * share * opening
    moves[list(CHEEKS), AT["jaw"], 1] = 0.8
    moves[18, AT["lower_down"], 1] = 1.6
    for vertex, side in zip(CHEEKS, (-1.0, 1.0), strict=True):
        moves[vertex, AT["smile"]] = (0.5 * side, -1.2, 0.5)
    moves[[50, 280], AT["smile"], 1] = -0.5
    moves[list(BROWS), AT["brow"], 1] = -3.2
    moves[list(CREASES), AT["brow"], 1] = -0.7
    moves[[10, 338, 109, 297, 67], AT["brow"], 1] = -0.3


def _ring_handles(
    frame: FaceFrame, moves: NDArray[np.float32]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Rings around the face that let chin and neck follow softly.

    Returns:
        Points (N x 2) and their moves (N x S x 2), mm, plane.
    """
    oval = list(topo.FACE_OVAL)
    edge = frame.plane[oval]
    centre = frame.plane[list(topo.RIGID_POINTS)].mean(axis=0) * 0.5
    outward = edge - centre
    outward /= np.maximum(np.linalg.norm(outward, axis=1, keepdims=True), 1e-6)
    seen = frame.project(moves[oval].reshape(-1, 3)).reshape(len(oval), NUM_SHAPES, 2)
    points, ring_moves = [], []
    for distance, share in zip(RING_DISTANCES_MM, RING_SHARE, strict=True):
        points.append(edge + outward * np.float32(distance))
        ring_moves.append(seen * np.float32(share))
    return np.concatenate(points), np.concatenate(ring_moves).astype(np.float32)
