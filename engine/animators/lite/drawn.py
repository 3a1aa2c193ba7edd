"""Finds the mouth of a drawn face by its flat colours; landmarks miss it by a centimetre there."""

from dataclasses import dataclass, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from engine.animators.lite.frame import FaceFrame
from engine.animators.lite.interior import Interior, Layer
from engine.animators.lite.palette import MouthColours, is_grey
from engine.animators.lite.resample import look_up
from engine.animators.lite.teeth import bake_flat_tongue
from engine.face import topology as topo

STEP_MM = 0.25
LEFT_MM, TOP_MM, RIGHT_MM, BOTTOM_MM = -48.0, -22.0, 48.0, 34.0
"""Where a mouth is looked for, in the plane."""
SKIN_DISTANCE = 30
"""Colours further than this from the skin (largest channel) belong to something drawn on it."""
LINE_DISTANCE = 45
EDGE_PX = 1.5
"""Pixels of the picture over which a drawn edge is smoothed."""
MIN_WIDTH_MM = 7.0
MAX_HEIGHT_SHARE = 0.85
MIN_INNER_SHARE = 0.16
MIN_OPEN_MM = 2.4
SEAM_SHARE = 0.55
NUM_POINTS = 11
CHIN_FOLLOWS = ((18, 1.0), (200, 0.7), (199, 0.5), (175, 0.25))


@dataclass(frozen=True)
class DrawnMouth:
    """A mouth as drawn.

    Attributes:
        upper, lower: 11 x 2, float32, mm, plane: edges of its opening (equal for shut lips).
        top, bottom: 11 x 2: outer edges of what is drawn.
        line: 3, float32, RGB: colour of its line.
        fill: 3, float32, RGB: colour inside, or None when the drawing shows none.
        line_mm: thickness of its line.
    """

    upper: NDArray[np.float32]
    lower: NDArray[np.float32]
    top: NDArray[np.float32]
    bottom: NDArray[np.float32]
    line: NDArray[np.float32]
    fill: NDArray[np.float32] | None
    line_mm: float


@dataclass(frozen=True)
class SeenMouth:
    """What is drawn around the landmarks of a mouth, upright, `STEP_MM` a pixel.

    Attributes:
        patch: V x U x 3, uint8, RGB: the surroundings of the mouth.
        skin: 3: the commonest colour of the patch.
        parts: V x U, uint8: 1 where something is drawn on the skin.
        blob: V x U: the part most like a mouth, filled.
        columns: K: those of the patch that the blob reaches.
        top, bottom: K: its first and last row in each of them.
    """

    patch: NDArray[np.uint8]
    skin: NDArray[np.int64]
    parts: NDArray[np.uint8]
    blob: NDArray[np.bool_]
    columns: NDArray[np.intp]
    top: NDArray[np.intp]
    bottom: NDArray[np.intp]


def see_mouth(photo: NDArray[np.uint8], frame: FaceFrame) -> SeenMouth | None:
    """Look for the mouth of a drawing; None when nothing like one is there."""
    patch = _flatten(photo, frame)
    skin = commonest(patch)
    parts = (np.abs(patch.astype(int) - skin).max(axis=-1) > SKIN_DISTANCE).astype(np.uint8)
    blob = _choose(parts)
    if blob is None:
        return None
    columns = np.flatnonzero(blob.any(axis=0))
    top = blob[:, columns].argmax(axis=0)
    bottom = len(blob) - 1 - blob[::-1, columns].argmax(axis=0)
    return SeenMouth(patch, skin, parts, blob, columns, top, bottom)


def measure_drawn_mouth(seen: SeenMouth, frame: FaceFrame) -> DrawnMouth:
    """The lines of a mouth drawn on a face of flat colours."""
    patch, blob, columns, top, bottom = seen.patch, seen.blob, seen.columns, seen.top, seen.bottom
    line = _line_colour(patch, blob)
    edge = 2 * round(EDGE_PX / (frame.px_per_mm * STEP_MM)) + 1
    deep = cv2.erode(blob.astype(np.uint8), np.ones((edge, edge), np.uint8)) > 0
    inner = deep & (np.abs(patch.astype(float) - line).max(axis=-1) > LINE_DISTANCE)
    share = float(inner.sum()) / float(blob.sum())
    upper, lower = _opening(inner[:, columns], top, bottom, share)
    is_open = float((lower - upper).max()) * STEP_MM >= MIN_OPEN_MM
    thickness = np.where(is_open, upper - top, bottom - top)
    fill = commonest(patch[inner][None]).astype(np.float32) if is_open else None

    within = columns[inner[:, columns].any(axis=0)] if is_open else columns
    return DrawnMouth(
        upper=eleven_points(columns, upper, within),
        lower=eleven_points(columns, lower, within),
        top=eleven_points(columns, top.astype(float), columns),
        bottom=eleven_points(columns, bottom.astype(float), columns),
        line=line.astype(np.float32),
        fill=fill,
        line_mm=float(np.clip(np.median(thickness) * STEP_MM, 0.4, 3.0)),
    )


def flat_skin(photo: NDArray[np.uint8], frame: FaceFrame) -> NDArray[np.int64]:
    """Colour of the skin of a drawn face: what surrounds its mouth."""
    return commonest(_flatten(photo, frame))


def settle_drawn_lips(frame: FaceFrame, mouth: DrawnMouth) -> FaceFrame:
    """The frame whose lip landmarks lie on the drawn mouth."""
    plane, local = frame.plane.copy(), frame.local.copy()
    rows = (
        (topo.OUTER_UPPER_LIP, mouth.top),
        (topo.OUTER_LOWER_LIP, mouth.bottom),
        (topo.INNER_UPPER_LIP, mouth.upper),
        (topo.INNER_LOWER_LIP, mouth.lower),
    )
    seen = frame.project(np.eye(3, dtype=np.float32)[:2])
    scale = np.array([max(float(seen[0, 0]), 0.5), max(float(seen[1, 1]), 0.5)], np.float32)
    before = plane[list(topo.OUTER_LIPS)].mean(axis=0)
    depth = float(local[list(topo.OUTER_LIPS), 2].mean())
    for vertices, points in rows:
        chosen = list(vertices)
        local[chosen, :2] += (points - plane[chosen]) / scale
        local[chosen, 2] = depth
        plane[chosen] = points
    for vertices, above, below in (
        (topo.OUTER_UPPER_LIP, mouth.top, mouth.bottom),
        (topo.INNER_UPPER_LIP, mouth.upper, mouth.lower),
    ):
        ends = [vertices[0], vertices[-1]]
        plane[ends] = (above[[0, -1]] + below[[0, -1]]) / 2
    shift = plane[list(topo.OUTER_LIPS)].mean(axis=0) - before
    for vertex, share in CHIN_FOLLOWS:
        plane[vertex] += shift * np.float32(share)
        local[vertex, :2] += shift * np.float32(share) / scale
    return replace(frame, plane=plane, local=local)


def _flatten(photo: NDArray[np.uint8], frame: FaceFrame) -> NDArray[np.uint8]:
    """The surroundings of the mouth, upright, `STEP_MM` a pixel: V x U x 3."""
    xs = np.arange(LEFT_MM, RIGHT_MM, STEP_MM)
    ys = np.arange(TOP_MM, BOTTOM_MM, STEP_MM)
    points = np.stack(np.meshgrid(xs, ys), axis=-1)
    at = frame.to_picture(points.reshape(-1, 2).astype(np.float32)).reshape(points.shape)
    return look_up(photo, at)


def commonest(patch: NDArray[np.uint8]) -> NDArray[np.int64]:
    """The colour most pixels have."""
    coarse = (patch // 8).reshape(-1, 3).astype(np.int64)
    codes = coarse @ np.array([1024, 32, 1])
    winner = np.bincount(codes).argmax()
    middle: NDArray[np.float64] = np.median(patch.reshape(-1, 3)[codes == winner], axis=0)
    return middle.astype(np.int64)


def _choose(drawn: NDArray[np.uint8]) -> NDArray[np.bool_] | None:
    """The filled outline of the part most like a mouth: wide, near the landmarks, not cut off."""
    count, labels, stats, centres = cv2.connectedComponentsWithStats(drawn, connectivity=8)
    best, best_score = None, 0.0
    rows, columns = drawn.shape
    origin = np.array([-LEFT_MM, -TOP_MM]) / STEP_MM
    for index in range(1, count):
        x, y, width, height = (int(value) for value in stats[index, :4])
        cut_off = x == 0 or y == 0 or x + width == columns or y + height == rows
        if cut_off or width * STEP_MM < MIN_WIDTH_MM or height > MAX_HEIGHT_SHARE * width:
            continue
        away = float(np.linalg.norm((centres[index] - origin) * STEP_MM))
        score = width * np.exp(-((away / 16.0) ** 2))
        if score > best_score:
            best, best_score = labels == index, score
    return None if best is None else fill_outline(best)


def fill_outline(blob: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """A part of a drawing together with what its outline surrounds."""
    outlines, _ = cv2.findContours(blob.astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    filled = np.zeros(blob.shape, np.uint8)
    cv2.drawContours(filled, outlines, -1, 1, -1)
    return filled > 0


def _line_colour(patch: NDArray[np.uint8], blob: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Colour just inside the edge of the blob."""
    kernel = np.ones((3, 3), np.uint8)
    once = cv2.erode(blob.astype(np.uint8), kernel, iterations=2)
    twice = cv2.erode(once, kernel, iterations=2)
    ring = (once > 0) & (twice == 0)
    chosen = patch[ring] if ring.any() else patch[blob]
    return np.asarray(np.median(chosen, axis=0), np.float64)


def _opening(
    inner: NDArray[np.bool_], top: NDArray[np.intp], bottom: NDArray[np.intp], share: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Upper and lower edge of the opening per column; equal where the mouth is shut.

    Lips drawn with a line between them are shut: the line is the seam. A mouth that is but a
    line is shut along its middle.
    """
    middle = (top + bottom) / 2.0
    has_inner = inner.any(axis=0)
    if share < MIN_INNER_SHARE:
        return middle, middle.copy()
    first = inner.argmax(axis=0)
    last = len(inner) - 1 - inner[::-1].argmax(axis=0)
    rows = np.arange(len(inner))[:, None]
    gap = ~inner & (rows > first) & (rows < last) & has_inner
    central = slice(len(top) // 5, -len(top) // 5)
    if float(gap.any(axis=0)[central].mean()) > SEAM_SHARE:
        total = np.maximum(gap.sum(axis=0), 1)
        seam = np.where(gap.any(axis=0), (gap * rows).sum(axis=0) / total, np.nan)
        known = np.flatnonzero(~np.isnan(seam))
        seam = np.interp(np.arange(len(seam)), known, seam[known])
        return seam, seam.copy()
    upper = np.where(has_inner, first, middle)
    lower = np.where(has_inner, last + 1, middle)
    return upper.astype(float), lower.astype(float)


def eleven_points(
    columns: NDArray[np.intp], values: NDArray[np.float64], within: NDArray[np.intp]
) -> NDArray[np.float32]:
    """A curve over pixel columns as `NUM_POINTS` points of the plane, evenly spaced `within`."""
    soft = cv2.GaussianBlur(values[None], (0, 0), max(1.0, len(columns) / 40))[0]
    at = np.linspace(within[0], within[-1], NUM_POINTS)
    ys = np.interp(at, columns, soft)
    return np.stack([LEFT_MM + at * STEP_MM, TOP_MM + ys * STEP_MM], axis=1).astype(np.float32)


def flat_interior(
    photo: NDArray[np.uint8], frame: FaceFrame, mouth: DrawnMouth | None, colours: MouthColours
) -> Interior:
    """The inside of a drawn mouth: its own filling, or one dark tone with a flat tongue."""
    down_px = frame.down_px
    if mouth is None:
        return Interior(colours.cavity, None, None, None, down_px, flat=True)
    if mouth.fill is not None:
        own = _own_filling(photo, frame, mouth)
        return Interior(mouth.fill, None, None, own, down_px, flat=True)
    grey = is_grey(photo)
    dark = mouth.line * 0.55 + (0.0 if grey else np.array([36.0, 6.0, 10.0]))
    return Interior(
        cavity=np.clip(dark, 0, 120).astype(np.float32),
        tongue=None if grey else bake_flat_tongue(frame, colours.tongue, mouth.lower),
        lower_teeth=None,
        upper_teeth=None,
        down_px=down_px,
        flat=True,
        line=mouth.line,
        line_mm=mouth.line_mm,
    )


def _own_filling(photo: NDArray[np.uint8], frame: FaceFrame, mouth: DrawnMouth) -> Layer:
    """What is drawn between the lips, cut out three pixels inside them: clear of their line."""
    ring = frame.to_picture(np.concatenate([mouth.upper, mouth.lower[::-1]]))
    size = np.array(photo.shape[1::-1])
    low = np.clip(np.floor(ring.min(axis=0)) - 1, 0, size - 2).astype(int)
    high = np.clip(np.ceil(ring.max(axis=0)) + 2, low + 2, size).astype(int)
    mask = np.zeros((high[1] - low[1], high[0] - low[0]), np.uint8)
    fixed = np.rint((ring - low) * 16).astype(np.int32)
    cv2.fillPoly(mask, [fixed], 255, cv2.LINE_AA, 4)
    mask = np.asarray(cv2.erode(mask, np.ones((7, 7), np.uint8)), np.uint8)
    part = photo[low[1] : high[1], low[0] : high[0]]
    return Layer(np.dstack([part, mask]), int(low[0]), int(low[1]))
