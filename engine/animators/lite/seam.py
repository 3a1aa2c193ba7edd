"""Finds where closed lips really meet, because landmarks are off by up to three millimetres there.

A wrong line shows at once: the mouth opens inside a lip. Lips that touch leave a dark valley
along the mouth; the darkest smooth path near the landmarks is taken for it.
"""

from dataclasses import replace

import cv2
import numpy as np
from numpy.typing import NDArray

from engine.animators.lite.frame import FaceFrame
from engine.animators.lite.palette import LUMA, redness
from engine.animators.lite.resample import look_up
from engine.face import topology as topo

STEP_MM = 0.25
REACH_MM = 4.0
"""How far from the landmarks the seam is looked for."""
SURELY_SHUT_MM = 1.0
MAYBE_SHUT_MM = 5.0
"""Landmark gaps below the first are shut mouths, above the second open ones."""
CLEAR_VALLEY = 0.07
"""A valley this deep, as a share of the skin's brightness, is a seam."""
FAINT_VALLEY = 0.02
MAX_PALER = 1.12
"""Between shut lips nothing is brighter than the lips by more than this: no teeth."""
MIN_LIP_RED = 0.3
BEND_COST = 0.35
DISTANCE_COST = 0.03


def settle_lips(photo: NDArray[np.uint8], frame: FaceFrame) -> FaceFrame:
    """Move the inner lip landmarks of a shut mouth onto its seam.

    Args:
        photo: H x W x 3, uint8, RGB.
        frame: coordinates of the face as the landmarks give them.

    Returns:
        The frame with corrected inner lips; unchanged for an open mouth or when no seam
        can be seen.
    """
    upper = frame.plane[list(topo.INNER_UPPER_LIP)]
    lower = frame.plane[list(topo.INNER_LOWER_LIP)]
    gap = float(np.median(np.sort(lower[:, 1] - upper[:, 1])[-5:]))
    if gap > MAYBE_SHUT_MM:
        return frame
    colours, xs, middle = _cut_strip(photo, frame, upper, lower)
    strip = colours @ LUMA
    valley = _valley(strip)
    path = _darkest_path(valley)
    depth = float(np.median(valley[path, np.arange(len(xs))])) / max(float(strip.mean()), 20.0)
    shut = gap < SURELY_SHUT_MM or (depth > CLEAR_VALLEY and not _is_pale_between(frame, colours))
    if not shut or depth < FAINT_VALLEY:
        return frame
    offset = (path - len(strip) // 2) * STEP_MM
    seam = cv2.GaussianBlur((middle + offset)[None].astype(np.float32), (0, 0), 1.0 / STEP_MM)[0]
    return _with_seam(frame, xs, seam)


def _with_seam(frame: FaceFrame, xs: NDArray[np.float64], seam: NDArray[np.float32]) -> FaceFrame:
    """The frame whose inner lips lie on the seam (y at xs, plane mm)."""
    plane, local = frame.plane.copy(), frame.local.copy()
    down = frame.project(np.array([[0.0, 1.0, 0.0]], np.float32))[0, 1]
    for row in (topo.INNER_UPPER_LIP, topo.INNER_LOWER_LIP):
        inner = list(row[1:-1])
        target = np.interp(plane[inner, 0], xs, seam)
        ends = np.array([0.6, *[1.0] * (len(inner) - 2), 0.6])
        move = (target - plane[inner, 1]) * ends
        plane[inner, 1] += move
        local[inner, 1] += move / max(float(down), 0.5)
    return shut_lips(replace(frame, plane=plane, local=local))


def shut_lips(frame: FaceFrame) -> FaceFrame:
    """The frame with both inner lip edges on the line half-way between them."""
    plane, local = frame.plane.copy(), frame.local.copy()
    upper, lower = list(topo.INNER_UPPER_LIP), list(topo.INNER_LOWER_LIP)
    plane[upper] = plane[lower] = (plane[upper] + plane[lower]) / 2
    local[upper] = local[lower] = (local[upper] + local[lower]) / 2
    return replace(frame, plane=plane, local=local)


def _cut_strip(
    photo: NDArray[np.uint8],
    frame: FaceFrame,
    upper: NDArray[np.float32],
    lower: NDArray[np.float32],
) -> tuple[NDArray[np.float32], NDArray[np.float64], NDArray[np.float64]]:
    """The mouth straightened out.

    Returns:
        Colours (V x K x 3, rows `STEP_MM` apart, centred on the landmarks' middle line), x of
        the columns and y of the middle line (K each, mm, plane).
    """
    middle_line = (upper + lower) / 2
    first, last = float(middle_line[0, 0]), float(middle_line[-1, 0])
    xs = np.arange(first, max(last, first + 4 * STEP_MM), STEP_MM)
    middle = np.interp(xs, middle_line[:, 0], middle_line[:, 1])
    half = round((REACH_MM + 4.0) / STEP_MM)
    ys = np.arange(-half, half + 1) * STEP_MM
    points = np.stack(np.broadcast_arrays(xs, middle + ys[:, None]), axis=-1)
    at = frame.to_picture(points.reshape(-1, 2).astype(np.float32)).reshape(points.shape)
    found = look_up(photo, at).astype(np.float32)
    blurred = cv2.GaussianBlur(found, (0, 0), sigmaX=0.9 / STEP_MM, sigmaY=0.4 / STEP_MM)
    return np.asarray(blurred, np.float32), xs, middle


def _valley(strip: NDArray[np.float32]) -> NDArray[np.float32]:
    """How much darker each point is than what lies 1.2 to 3 mm above and below it."""
    near, far = round(1.2 / STEP_MM), round(3.0 / STEP_MM)
    padded = np.pad(strip, ((far, far), (0, 0)), mode="edge")
    rows = len(strip)
    above = np.mean([padded[far - d : far - d + rows] for d in range(near, far + 1)], axis=0)
    below = np.mean([padded[far + d : far + d + rows] for d in range(near, far + 1)], axis=0)
    return np.asarray(np.minimum(above, below) - strip, np.float32)


def _darkest_path(valley: NDArray[np.float32]) -> NDArray[np.intp]:
    """Row of the smoothest dark path, left to right, near the middle row: K."""
    rows, columns = valley.shape
    centre = rows // 2
    away = np.abs(np.arange(rows) - centre) * STEP_MM
    reward = valley / max(float(np.percentile(valley, 98)), 1.0)
    reward = np.where(away[:, None] <= REACH_MM, reward, -9.0) - DISTANCE_COST * away[:, None] ** 2
    steps = np.array([-1, 0, 1])
    total = reward[:, 0].copy()
    came = np.zeros((columns, rows), np.intp)
    for column in range(1, columns):
        options = np.stack([np.roll(total, step) - BEND_COST * abs(step) for step in steps])
        options[0, -1] = options[2, 0] = -np.inf
        best = options.argmax(axis=0)
        came[column] = np.arange(rows) - steps[best]
        total = options.max(axis=0) + reward[:, column]
    path = np.zeros(columns, np.intp)
    path[-1] = int(total.argmax())
    for column in range(columns - 1, 0, -1):
        path[column - 1] = came[column, path[column]]
    return path


def _is_pale_between(frame: FaceFrame, colours: NDArray[np.float32]) -> bool:
    """Whether something brighter or less red than the lips shows between them: teeth."""
    columns = colours.shape[1]
    middle = slice(columns // 4, -columns // 4)
    centre = len(colours) // 2
    between = colours[centre - 1 : centre + 2, middle].reshape(-1, 3)
    lower = float(frame.plane[topo.LOWER_LIP_OUTER_MIDDLE, 1] - frame.plane[14, 1])
    lip_row = centre + round(float(np.clip(lower, 2.0, 6.0)) * 0.75 / STEP_MM)
    lip = colours[lip_row - 2 : lip_row + 3, middle].reshape(-1, 3)
    brighter = np.percentile(between @ LUMA, 80) > MAX_PALER * np.percentile(lip @ LUMA, 60)
    lip_red = float(np.median(redness(lip)))
    paler = lip_red > MIN_LIP_RED and np.percentile(redness(between), 20) < 0.6 * lip_red
    return bool(brighter or paler)
