"""The photograph's own teeth as a layer: nothing drawn looks as much like this person."""

import cv2
import numpy as np
from numpy.typing import NDArray

from engine.animators.lite.frame import FaceFrame
from engine.animators.lite.interior import Layer
from engine.animators.lite.palette import LUMA, MouthColours, redness
from engine.animators.lite.resample import look_up_sharp

MIN_GAP_MM = 2.6
MIN_TOOTH_SHARE, TOOTH_HEIGHT_MM = 0.3, 9.0
TOOTH_LUMA_SHARE = 0.55
"""Brighter than this share of the cheek, and paler: a tooth."""
PALE_SHARE, MIN_PALE = 0.62, 0.12
"""Teeth are less red than this share of the lips, or than the floor in pale or grey light."""
MIN_PART_SHARE = 0.15
"""Patches smaller than this share of the largest one are glints on a lip, not teeth."""
EDGE_MM, LOWER_EDGE_MM = 0.5, 1.0
LOWER_CENTROID, LOWER_GAP_MM = 0.72, 7.0


def find_own_teeth(
    photo: NDArray[np.uint8],
    frame: FaceFrame,
    colours: MouthColours,
    upper: NDArray[np.float32],
    lower: NDArray[np.float32],
) -> tuple[Layer, bool, NDArray[np.float32]] | None:
    """Cut the teeth out of a photograph that shows them.

    Args:
        photo: H x W x 3, uint8, RGB.
        frame: coordinates of the face.
        colours: of the portrait.
        upper: N x 2, mm, plane: upper inner lip edge in the photograph.
        lower: the same of the lower lip.

    Returns:
        The layer, whether they are lower teeth, and their colour (RGB); None when the
        photograph shows no teeth.
    """
    gap = float((lower[:, 1] - upper[:, 1]).max())
    if gap < MIN_GAP_MM:
        return None
    left, top, pixels, plane = _patch(photo.shape[:2], frame, upper, lower)
    if pixels.size == 0:
        return None
    x, y = plane[..., 0], plane[..., 1]
    upper_y = np.interp(x, upper[:, 0], upper[:, 1])
    lower_y = np.interp(x, lower[:, 0], lower[:, 1])
    inside = (y > upper_y) & (y < lower_y) & (x > upper[0, 0]) & (x < upper[-1, 0])
    if inside.sum() < 12:
        return None

    # Above the photographed opening the row just below it is repeated, for a rising lip.
    sampled = np.maximum(y, upper_y + EDGE_MM)
    sampled = np.minimum(sampled, np.maximum(lower_y - EDGE_MM, y))
    at = frame.to_picture(np.stack([x, sampled], axis=-1).reshape(-1, 2).astype(np.float32))
    at = at.reshape(*x.shape, 2)
    colour = look_up_sharp(photo, at)

    likeness = _tooth_likeness(colour.astype(np.float32), inside, colours, frame.px_per_mm)
    shown = inside & (y < upper_y + TOOTH_HEIGHT_MM)
    if float((likeness[shown] > 0.5).mean()) < MIN_TOOTH_SHARE:
        return None
    height = (y - upper_y) / np.maximum(lower_y - upper_y, 1e-3)
    centroid = float(np.average(height[inside], weights=likeness[inside] + 1e-6))
    are_lower = centroid > LOWER_CENTROID and gap > LOWER_GAP_MM
    bounds = np.clip((lower_y - y - 0.2) / LOWER_EDGE_MM, 0, 1)
    sides = np.clip(np.minimum(x - upper[0, 0], upper[-1, 0] - x) / 1.0 + 0.5, 0, 1)
    soft = cv2.GaussianBlur(_up_to_the_lip(likeness), (0, 0), max(0.3 * frame.px_per_mm, 0.4))
    alpha = soft * bounds * sides
    patch = np.dstack([colour, np.clip(np.rint(alpha * 255), 0, 255).astype(np.uint8)])
    bright = colour[inside & (likeness > 0.8)]
    tooth = np.median(bright.reshape(-1, 3), axis=0) if len(bright) else colours.tooth
    return Layer(patch, left, top), are_lower, tooth.astype(np.float32)


def _tooth_likeness(
    colour: NDArray[np.float32],
    inside: NDArray[np.bool_],
    colours: MouthColours,
    px_per_mm: float,
) -> NDArray[np.float32]:
    """0..1 per pixel: bright, pale and connected as teeth are, and all that lies above them."""
    luma = colour @ LUMA
    brightest = float(np.percentile(luma[inside], 88))
    if brightest < TOOTH_LUMA_SHARE * float(colours.skin @ LUMA):
        return np.zeros_like(luma)
    lit = np.clip((luma / brightest - 0.46) / 0.2, 0, 1)
    limit = max(PALE_SHARE * float(redness(colours.lip)), MIN_PALE)
    pale = np.clip((limit + 0.06 - redness(colour)) / 0.12, 0, 1)
    likeness = np.where(inside, lit * pale, 0).astype(np.float32)
    likeness = _cut_below_dark(_closed(likeness, px_per_mm), px_per_mm)

    parts = (likeness > 0.4).astype(np.uint8)
    count, labels, stats, _ = cv2.connectedComponentsWithStats(parts, connectivity=4)
    if count > 2:
        areas = stats[1:, cv2.CC_STAT_AREA]
        small = 1 + np.flatnonzero(areas < MIN_PART_SHARE * areas.max())
        likeness[np.isin(labels, small)] = 0
    return likeness


def _closed(likeness: NDArray[np.float32], px_per_mm: float) -> NDArray[np.float32]:
    """Without the thin dark gaps between teeth."""
    width = 2 * max(1, round(0.6 * px_per_mm)) + 1
    kernel = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (width, max(1, width // 2)))
    return np.asarray(cv2.morphologyEx(likeness, cv2.MORPH_CLOSE, kernel), np.float32)


def _cut_below_dark(likeness: NDArray[np.float32], px_per_mm: float) -> NDArray[np.float32]:
    """Forget what lies below the dark line under the teeth of a column: that is lip."""
    even = cv2.GaussianBlur(likeness, (0, 0), sigmaX=1.2 * px_per_mm, sigmaY=0.2 * px_per_mm)
    start = even.argmax(axis=0)
    rows = np.arange(len(likeness))[:, None]
    falling = np.minimum.accumulate(np.where(rows < start, 1.0, even * 1.6), axis=0)
    return np.minimum(likeness, falling).astype(np.float32)


def _up_to_the_lip(likeness: NDArray[np.float32]) -> NDArray[np.float32]:
    """Whatever lies above a tooth belongs to it: gum and the shadow of the lip."""
    return np.maximum.accumulate(likeness[::-1], axis=0)[::-1]


def _patch(
    size: tuple[int, int],
    frame: FaceFrame,
    upper: NDArray[np.float32],
    lower: NDArray[np.float32],
) -> tuple[int, int, NDArray[np.float32], NDArray[np.float32]]:
    """Left, top, pixel positions and plane positions (h x w x 2) around the opening."""
    points = np.concatenate([upper, lower])
    low, high = points.min(axis=0) - np.array([2, 7]), points.max(axis=0) + 2
    corners = np.array([[low[0], low[1]], [high[0], low[1]], [high[0], high[1]], [low[0], high[1]]])
    corners = frame.to_picture(corners.astype(np.float32))
    first = np.clip(np.floor(corners.min(axis=0)), 0, size[::-1]).astype(int)
    last = np.clip(np.ceil(corners.max(axis=0)), 0, size[::-1]).astype(int)
    grid = np.meshgrid(np.arange(first[0], last[0]), np.arange(first[1], last[1]))
    pixels = np.stack(grid, axis=-1).astype(np.float32)
    plane = frame.to_plane(pixels.reshape(-1, 2)).reshape(pixels.shape)
    return int(first[0]), int(first[1]), pixels, plane
