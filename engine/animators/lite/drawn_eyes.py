"""Blinks of drawn faces: a lid in the flat colour of the skin, with a line of the eye's own colour.

Landmarks miss drawn eyes as they miss drawn mouths, so the eyes are found by their flat colours;
a drawing whose two eyes do not match each other does not blink.
"""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from engine.animators.lite.drawn import (
    LINE_DISTANCE,
    SKIN_DISTANCE,
    commonest,
    fill_outline,
    flat_skin,
)
from engine.animators.lite.frame import FaceFrame
from engine.animators.lite.head import Box
from engine.animators.lite.interior import Layer
from engine.animators.lite.palette import LUMA
from engine.animators.lite.resample import apply_affine, look_up
from engine.face import topology as topo

STEP_MM = 0.25
HALF_MM = 38.0
"""An eye is looked for this far around its landmarks."""
REACH_MM = 12.0
MIN_WIDTH_MM, MAX_WIDTH_MM = 3.0, 52.0
MIN_HEIGHT_MM, MAX_HEIGHT_MM = 2.5, 52.0
MIN_HEIGHT_SHARE = 0.38
"""Flatter than this it is a brow, or an eye that is shut already."""
MAX_UNLIKE = 0.3
"""Two eyes differ in size, and lie higher than each other, by no more than this share of it."""
SHUT_AT = 0.82
"""The lid ends this share of the way down the eye, which nothing of it shows from then on."""
LINE_MM, MAX_LINE_MM = 1.4, 3.0
"""The line of the lashes is as thick as the eye's own, but within these limits."""
MARGIN_MM = 1.5
LASH_SHARE = 0.16
"""Strokes thinner than this share of an eye are lashes, not part of its ball."""
OUTLINE_MM = 0.8
"""What is drawn around an eye is covered with it."""


@dataclass(frozen=True)
class DrawnEye:
    """One eye of a drawing; has the methods of `eyes.Eye`.

    Attributes:
        to_plane: 2 x 3, float32: pixels of the picture to mm of the plane.
        to_picture: 2 x 3, float32: back; its last column is a corner of the eye.
        lid: the eye's shape in the colour of the skin.
        table: K x 2, float32, every `STEP_MM` from `left_mm`: edge of the lid when it is open and
            when it is shut, mm.
        left_mm: x of the first row.
        line: 3, float32: colour of the line of the lashes.
        line_mm: its thickness.
        extent: left, top, right, bottom, mm of the plane.
    """

    to_plane: NDArray[np.float32]
    to_picture: NDArray[np.float32]
    lid: Layer
    table: NDArray[np.float32]
    left_mm: float
    line: NDArray[np.float32]
    line_mm: float
    extent: tuple[float, float, float, float]

    def box(self, size: tuple[int, int], head_shift: NDArray[np.float32]) -> Box:
        """Pixels a blink may change in a picture of this size (height, width)."""
        left, top, right, bottom = self.extent
        corners = np.array([[[left, top], [right, top], [right, bottom], [left, bottom]]])
        linear = self.to_picture[:, :2]
        origin = self.to_picture[:, 2] - linear @ np.array([left, top], np.float32)
        points = corners[0].astype(np.float32) @ linear.T + origin + head_shift
        low = np.floor(points.min(axis=0) - 2).astype(int)
        high = np.ceil(points.max(axis=0) + 2).astype(int)
        return Box(int(low[0]), int(low[1]), int(high[0]), int(high[1])).within(size[1], size[0])

    def look(
        self,
        photo: NDArray[np.uint8],
        under: NDArray[np.uint8],
        unmoved: NDArray[np.float32],
        gaze_mm: NDArray[np.float32],
    ) -> NDArray[np.uint8]:
        """Drawn eyes look where they were drawn to look: nothing changes."""
        return under

    def paint(
        self,
        photo: NDArray[np.uint8],
        under: NDArray[np.uint8],
        unmoved: NDArray[np.float32],
        blink: float,
    ) -> NDArray[np.uint8]:
        """Draw the lid over a region; arguments as in `eyes.Eye.paint`."""
        at = apply_affine(unmoved, self.to_plane)
        x, y = at[..., 0], at[..., 1]
        rows = look_up(
            self.table[None], np.dstack([(x - self.left_mm) / STEP_MM, np.zeros_like(x)])
        )
        edge = rows[..., 0] + np.float32(blink) * (rows[..., 1] - rows[..., 0])
        pixel = float(np.linalg.norm(self.to_plane[0, :2]))
        colour, inside = self.lid.sample(unmoved, np.zeros(2, np.float32))
        above = np.clip((edge - y) / pixel + 0.5, 0, 1)[..., None]
        shut = np.float32(blink > SHUT_AT)  # a shut eye hides what is drawn under its lid too
        painted = under + (colour - under) * inside * np.maximum(above, shut)
        last = self.left_mm + (len(self.table) - 1) * STEP_MM
        within = (x > self.left_mm) & (x < last)
        line = np.clip((self.line_mm / 2 - np.abs(y - edge)) / pixel + 0.5, 0, 1) * within
        painted = painted + (self.line - painted) * line[..., None]
        return np.asarray(cv2.convertScaleAbs(painted), np.uint8)


def find_drawn_eyes(photo: NDArray[np.uint8], frame: FaceFrame) -> tuple[DrawnEye, ...]:
    """Both eyes of a drawing, or none."""
    corners = (
        (topo.LEFT_EYE_OUTER, topo.LEFT_EYE_INNER),
        (topo.RIGHT_EYE_OUTER, topo.RIGHT_EYE_INNER),
    )
    centres = [frame.plane[list(pair)].mean(axis=0) for pair in corners]
    seen = [float(np.ptp(frame.plane[list(pair), 0])) for pair in corners]
    skin = flat_skin(photo, frame)
    for has_lashes in (False, True):
        found = [_find(photo, frame, skin, at, has_lashes=has_lashes) for at in centres]
        eyes = tuple(eye for eye in found if eye is not None)
        if len(eyes) == len(found) and _are_alike(eyes, seen):
            return eyes
    return ()


def _are_alike(eyes: tuple[DrawnEye, ...], seen_mm: list[float]) -> bool:
    """Whether two eyes are a pair, on a head whose turn makes them look `seen_mm` wide."""
    a, b = (np.array(eye.extent) for eye in eyes)
    sizes = np.stack([a[2:] - a[:2], b[2:] - b[:2]])
    sizes[:, 0] *= np.mean(seen_mm) / np.maximum(seen_mm, 1e-3)
    unlike = np.abs(sizes[0] - sizes[1]) / sizes.max(axis=0)
    is_apart = a[2] < b[0] + MARGIN_MM
    uneven = abs(a[1] + a[3] - b[1] - b[3]) / 2 / sizes[:, 1].max()
    return bool(is_apart and max(unlike.max(), uneven) < MAX_UNLIKE)


def _find(
    photo: NDArray[np.uint8],
    frame: FaceFrame,
    skin: NDArray[np.int64],
    centre: NDArray[np.float32],
    *,
    has_lashes: bool,
) -> DrawnEye | None:
    """The part of the drawing most like an eye near `centre` (mm, plane)."""
    axis = np.arange(-HALF_MM, HALF_MM, STEP_MM)
    points = np.stack(np.meshgrid(centre[0] + axis, centre[1] + axis), axis=-1)
    at = frame.to_picture(points.reshape(-1, 2).astype(np.float32)).reshape(points.shape)
    patch = look_up(photo, at)
    drawn = (np.abs(patch.astype(int) - skin).max(axis=-1) > SKIN_DISTANCE).astype(np.uint8)
    shape = _choose(drawn, has_lashes=has_lashes)
    if shape is None:
        return None
    own = patch[shape]
    line = commonest(own[own @ LUMA <= np.percentile(own @ LUMA, 30)][None])
    line_mm = _thickness(patch, shape, line) + 1 / frame.px_per_mm  # half a pixel fades out a side
    shape = _rounded(shape)
    grow = 2 * round(OUTLINE_MM / STEP_MM) + 1
    covered = cv2.dilate(shape.astype(np.uint8), np.ones((grow, grow), np.uint8)) > 0
    columns = np.flatnonzero(shape.any(axis=0))
    top = shape[:, columns].argmax(axis=0)
    bottom = len(shape) - shape[::-1, columns].argmax(axis=0)
    start = centre - np.float32(HALF_MM)
    table = np.stack([top, _arc(top + SHUT_AT * (bottom - top))], axis=1) * STEP_MM + start[1]
    left, right = (float(start[0] + columns[end] * STEP_MM) for end in (0, -1))
    extent = (
        left - MARGIN_MM,
        float(table[:, 0].min()) - MARGIN_MM,
        right + MARGIN_MM,
        float(start[1] + bottom.max() * STEP_MM) + MARGIN_MM,
    )
    linear = frame.turn.T * np.float32(frame.px_per_mm)
    corner = frame.to_picture(np.array([extent[:2]], np.float32))[0]
    return DrawnEye(
        to_plane=frame.plane_from_picture,
        to_picture=np.column_stack([linear, corner]).astype(np.float32),
        lid=_lid(photo.shape[:2], frame, covered, start, skin),
        table=table.astype(np.float32),
        left_mm=left,
        line=line.astype(np.float32),
        line_mm=float(np.clip(line_mm, LINE_MM, MAX_LINE_MM)),
        extent=extent,
    )


def _choose(drawn: NDArray[np.uint8], *, has_lashes: bool) -> NDArray[np.bool_] | None:
    """The filled outline of the part most like an open eye, near the middle, not cut off."""
    count, labels, stats, _ = cv2.connectedComponentsWithStats(drawn, connectivity=8)
    best, best_score = None, 0.0
    side = len(drawn)
    for index in range(1, count):
        if stats[index, 2:4].min() * STEP_MM < MIN_HEIGHT_MM:
            continue
        shape = fill_outline(labels == index)
        if has_lashes:
            shape = _without_lashes(shape)
        left, top, width, height = cv2.boundingRect(shape.astype(np.uint8))
        cut_off = left == 0 or top == 0 or left + width == side or top + height == side
        width_mm, height_mm = width * STEP_MM, height * STEP_MM
        is_eye = (
            MIN_WIDTH_MM <= width_mm <= MAX_WIDTH_MM
            and max(MIN_HEIGHT_MM, MIN_HEIGHT_SHARE * width_mm) <= height_mm <= MAX_HEIGHT_MM
        )
        away_mm = np.hypot(left + width / 2 - side / 2, top + height / 2 - side / 2) * STEP_MM
        score = float(shape.sum()) * np.exp(-((away_mm / REACH_MM) ** 2))
        if is_eye and not cut_off and score > best_score:
            best, best_score = shape, score
    return best


def _without_lashes(shape: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The largest piece of a filled shape, without the thin strokes that leave it."""
    filled = shape.astype(np.uint8)
    thin = LASH_SHARE * min(cv2.boundingRect(filled)[2:])
    reach = 2 * int(thin / 2) + 1
    kernel = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (reach, reach))
    opened = cv2.morphologyEx(filled, cv2.MORPH_OPEN, kernel)
    _, labels, stats, _ = cv2.connectedComponentsWithStats(opened, connectivity=8)
    return np.asarray(labels == 1 + int(stats[1:, cv2.CC_STAT_AREA].argmax()), np.bool_)


def _rounded(shape: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The shape without dents: an outline that is drawn in part surrounds the whole eye too."""
    outlines, _ = cv2.findContours(shape.astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    filled = np.zeros(shape.shape, np.uint8)
    cv2.fillConvexPoly(filled, cv2.convexHull(np.concatenate(outlines)), 1)
    return filled > 0


def _arc(values: NDArray[np.floating]) -> NDArray[np.float64]:
    """The parabola nearest to a curve: lids that are shut have neither dents nor curled ends."""
    at = np.linspace(-1, 1, len(values))
    return np.asarray(np.polynomial.Polynomial.fit(at, values, 2)(at), np.float64)


def _thickness(
    patch: NDArray[np.uint8], shape: NDArray[np.bool_], line: NDArray[np.int64]
) -> float:
    """How thick the line over an eye is drawn, mm: where there is no iris under it."""
    is_line = shape & (np.abs(patch.astype(int) - line).max(axis=-1) <= LINE_DISTANCE)
    starts = is_line.argmax(axis=0)
    runs = [(~is_line[starts[column] :, column]).argmax() for column in _middle(shape)]
    return float(np.percentile(runs, 25)) * STEP_MM


def _middle(shape: NDArray[np.bool_]) -> NDArray[np.intp]:
    """The columns of a shape without the fifth at either end, where its edge is steep."""
    columns = np.flatnonzero(shape.any(axis=0))
    return columns[len(columns) // 5 : len(columns) - len(columns) // 5]


def _lid(
    size: tuple[int, int],
    frame: FaceFrame,
    covered: NDArray[np.bool_],
    start: NDArray[np.float32],
    skin: NDArray[np.int64],
) -> Layer:
    """The eye's shape (every `STEP_MM` from `start`, plane) in one colour, in the picture."""
    side_mm = len(covered) * STEP_MM
    corners = start + np.array([[0, 0], [1, 0], [1, 1], [0, 1]], np.float32) * np.float32(side_mm)
    points = frame.to_picture(corners)
    limit = np.array(size[::-1])
    low = np.clip(np.floor(points.min(axis=0)), 0, limit - 2).astype(int)
    high = np.clip(np.ceil(points.max(axis=0)), low + 2, limit).astype(int)
    grid = np.dstack(np.meshgrid(np.arange(low[0], high[0]), np.arange(low[1], high[1])))
    steps = (apply_affine(grid.astype(np.float32), frame.plane_from_picture) - start) / STEP_MM
    alpha = look_up(
        np.where(covered[..., None], np.uint8(255), np.uint8(0)), steps.astype(np.float32)
    )
    patch = np.empty((*grid.shape[:2], 4), np.uint8)
    patch[..., :3] = skin
    patch[..., 3] = alpha.reshape(grid.shape[:2])
    return Layer(patch, int(low[0]), int(low[1]))
