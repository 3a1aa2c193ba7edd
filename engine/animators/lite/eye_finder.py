"""Finds the eyes of a portrait that can blink, and measures lids, skin and lashes."""

from dataclasses import replace

import cv2
import numpy as np
from numpy.typing import NDArray

from engine.animators.lite.eyes import TABLE_STEP_MM, Eye
from engine.animators.lite.frame import FaceFrame
from engine.animators.lite.grain import measure_grain, with_grain
from engine.animators.lite.interior import Layer
from engine.animators.lite.palette import LUMA, polygon_mask
from engine.animators.lite.resample import apply_affine, look_up
from engine.face import topology as topo

MIN_OPENING_MM = 3.2
LASH_DARKNESS = 0.65
LEAST_OF_DARKEST = 0.9
"""Lashes against the darkest hundredth of the eye: in softly painted eyes nothing is black."""
MIN_CONTRAST = 0.16
"""An eye whose inside varies less than this share of the skin's brightness is covered."""


def find_eyes(photo: NDArray[np.uint8], frame: FaceFrame) -> tuple[Eye, ...]:
    """The eyes of a photograph that can blink: open, and not covered."""
    found = (
        _measure_eye(photo, frame, topo.LEFT_UPPER_LID, topo.LEFT_LOWER_LID, topo.LEFT_BROW_LOWER),
        _measure_eye(
            photo,
            frame,
            topo.RIGHT_UPPER_LID[::-1],
            topo.RIGHT_LOWER_LID[::-1],
            topo.RIGHT_BROW_LOWER[::-1],
        ),
    )
    grain = measure_grain(photo, frame)
    return tuple(replace(eye, skin=with_grain(eye.skin, grain)) for eye in found if eye is not None)


def _measure_eye(
    photo: NDArray[np.uint8],
    frame: FaceFrame,
    upper_lid: tuple[int, ...],
    lower_lid: tuple[int, ...],
    brow: tuple[int, ...],
) -> Eye | None:
    first, last = frame.plane[upper_lid[0]], frame.plane[upper_lid[-1]]
    width = float(np.linalg.norm(last - first))
    if width < 6.0:
        return None
    along = (last - first) / width
    turn = np.array([along, [-along[1], along[0]]], np.float32)
    upper = (frame.plane[list(upper_lid)] - first) @ turn.T
    lower = (frame.plane[list(lower_lid)] - first) @ turn.T
    under_brow = (frame.plane[list(brow)] - first) @ turn.T
    table = _tabulate(width, upper, lower, under_brow)
    opening = float((table[:, 1] - table[:, 0]).max())

    to_eye = (turn @ frame.turn / frame.px_per_mm).astype(np.float64)
    start = frame.to_picture(first[None])[0].astype(np.float64)
    forward = np.column_stack([to_eye, -to_eye @ start]).astype(np.float32)
    back = np.linalg.inv(to_eye)
    backward = np.column_stack([back, start]).astype(np.float32)
    if opening < MIN_OPENING_MM:
        return None
    between = polygon_mask(photo.shape[:2], frame, (*upper_lid, *lower_lid[-2:0:-1]))
    if not _is_visible(photo, frame, between):
        return None
    skin = _even_skin(photo, frame, forward, backward, table, width)
    if skin is None:
        return None
    lash = _lash_colour(photo, frame, upper_lid, between)
    return Eye(forward, backward, width, table, opening, skin, lash)


def _tabulate(
    width: float,
    upper: NDArray[np.float32],
    lower: NDArray[np.float32],
    brow: NDArray[np.float32],
) -> NDArray[np.float32]:
    """Lid curves over x of the eye; see `Eye.table`. The first row is x = 0."""
    xs = np.arange(0.0, width + TABLE_STEP_MM, TABLE_STEP_MM)
    upper_y = _smooth_curve(xs, upper)
    lower_y = np.maximum(_smooth_curve(xs, lower), upper_y)
    brow_y = np.interp(xs, brow[:, 0], brow[:, 1])
    room = np.clip(0.5 * (upper_y - brow_y), 2.0, 6.0)
    return np.stack([upper_y, lower_y, upper_y - room], axis=1).astype(np.float32)


def _smooth_curve(xs: NDArray[np.float64], points: NDArray[np.float32]) -> NDArray[np.float64]:
    """A soft curve through lid points, so that the lid has no corners."""
    order = np.argsort(points[:, 0])
    fitted = np.polynomial.Polynomial.fit(points[order, 0], points[order, 1], 4)
    exact = np.interp(xs, points[order, 0], points[order, 1])
    ends = np.clip(np.minimum(xs - xs[0], xs[-1] - xs) / 3.0, 0, 1)
    return np.asarray(exact + (fitted(xs) - exact) * ends)


def _is_visible(photo: NDArray[np.uint8], frame: FaceFrame, between: NDArray[np.uint8]) -> bool:
    """Whether an eyeball can be seen: white and iris differ. `between`: H x W, 255 = eye."""
    size = photo.shape[:2]
    inside = photo[between > 0].astype(np.float32) @ LUMA
    cheek = frame.to_picture(frame.plane[[50, 280]])
    x, y = np.clip(np.rint(cheek).astype(int), 0, np.array(size[::-1]) - 1).T
    skin = float(np.median(photo[y, x].astype(np.float32) @ LUMA))
    if len(inside) < 8:
        return False
    low, high = np.percentile(inside, [8, 92])
    return bool(high - low > MIN_CONTRAST * max(skin, 40.0))


def _even_skin(
    photo: NDArray[np.uint8],
    frame: FaceFrame,
    to_eye: NDArray[np.float32],
    to_picture: NDArray[np.float32],
    table: NDArray[np.float32],
    width: float,
) -> Layer | None:
    """Smooth skin tone over the eye, filled in from the skin around it."""
    margin = 9.0
    low_y, high_y = float(table[:, 2].min()) - 2, float(table[:, 1].max()) + margin
    corners = np.array(
        [[[-margin, low_y], [width + margin, low_y], [width + margin, high_y], [-margin, high_y]]]
    )
    points = apply_affine(corners.astype(np.float32), to_picture)[0]
    size = np.array(photo.shape[1::-1])
    first = np.clip(np.floor(points.min(axis=0)), 0, size).astype(int)
    last = np.clip(np.ceil(points.max(axis=0)), 0, size).astype(int)
    if (last - first).min() < 4:
        return None
    grid = np.meshgrid(np.arange(first[0], last[0]), np.arange(first[1], last[1]))
    at = apply_affine(np.dstack(grid).astype(np.float32), to_eye)
    x, y = at[..., 0], at[..., 1]
    rows = look_up(table[None], np.dstack([x / TABLE_STEP_MM, np.zeros_like(x)]))
    under = y > rows[..., 1] + 2.4
    beside = (x < -4.0) | (x > width + 4.0)
    over = (y < rows[..., 0] - 3.0) & (y > rows[..., 2] - 1.0)
    skin = (under | beside | over).astype(np.float32)
    weight = np.where(over & ~under & ~beside, 0.35, 1.0).astype(np.float32) * skin

    part = photo[first[1] : last[1], first[0] : last[0]].astype(np.float32)
    luma = part @ LUMA
    usual = float(np.median(luma[under])) if under.any() else float(np.median(luma))
    weight *= np.clip(1.6 - np.abs(luma - usual) / max(0.22 * usual, 8.0), 0.02, 1)
    sigma = 4.5 * frame.px_per_mm
    total = cv2.GaussianBlur(weight, (0, 0), sigma)[..., None] + 1e-4
    even = cv2.GaussianBlur(part * weight[..., None], (0, 0), sigma) / total
    alpha = np.full((*luma.shape, 1), 255.0)
    patch = np.clip(np.rint(np.concatenate([even, alpha], axis=-1)), 0, 255).astype(np.uint8)
    return Layer(patch, int(first[0]), int(first[1]))


def _lash_colour(
    photo: NDArray[np.uint8],
    frame: FaceFrame,
    upper_lid: tuple[int, ...],
    between: NDArray[np.uint8],
) -> NDArray[np.float32]:
    """The darker tone along the upper lid, but hardly darker than the eye anywhere is.

    `between`: H x W, 255 between the lids.
    """
    points = np.rint(frame.to_picture(frame.plane[list(upper_lid[1:-1])])).astype(int)
    points = np.clip(points, 0, np.array(photo.shape[1::-1]) - 1)
    colours = photo[points[:, 1], points[:, 0]].astype(np.float32)
    dark = colours[np.argsort(colours @ LUMA)[: max(1, len(colours) // 2)]]
    lash = dark.mean(axis=0) * LASH_DARKNESS
    mask = cv2.dilate(between, np.ones((3, 3)))
    darkest = float(np.percentile(photo[mask > 0].astype(np.float32) @ LUMA, 1))
    lighter = max(1.0, LEAST_OF_DARKEST * darkest / max(float(lash @ LUMA), 1.0))
    return np.asarray(lash * lighter, np.float32)
