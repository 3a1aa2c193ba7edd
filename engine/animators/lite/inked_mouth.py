"""A drawing's open mouth with upright ends, drawn anew in every frame.

Bending the picture cannot shut such a mouth: the ink between its teeth and its corners is as tall
as the mouth. So the drawing is freed of its mouth, and one in the same ink, width of line and
colours is drawn where the lips have moved to.
"""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from engine.animators.lite.drawn import (
    LEFT_MM,
    LINE_DISTANCE,
    STEP_MM,
    TOP_MM,
    DrawnMouth,
    SeenMouth,
    commonest,
    eleven_points,
)
from engine.animators.lite.frame import FaceFrame
from engine.animators.lite.lips import TABLE_STEP_MM, LipCurves
from engine.animators.lite.resample import apply_affine, look_up_or_zero

END_AT, MIN_END_SHARE = 0.06, 0.6
"""This near to a corner (share of the width) a box is as tall as this share of its middle; an
ellipse reaches .47."""
MIN_GAP_MM = 2.4
"""A mouth drawn less open within its line counts as shut."""
FRINGE_PX = 2.0
"""Pixels around a drawn part that its smoothed edge may reach."""
MIN_TOOTH = 160
"""Teeth are at least this bright in every channel, 0..255."""
MIN_PART_SHARE = 0.08
"""A colour of the inside covers this share of it."""
ROUNDNESS = 5.0
"""Exponent of the outline: 2 is an ellipse, more are boxes with rounder and rounder corners."""
NUM_POINTS = 48
FINER = 2
"""Pixels of the masks for each of the picture."""
STROKE_EXTRA = 2.4
"""OpenCV's smoothed strokes are this many pixels wider than asked (measured, 2 to 21 pixels)."""
TEETH_SHARE = 0.25
"""Upper teeth are so much of the drawn mouth's height; shown teeth (`MouthPose.teeth`) fill it."""
OPENS_BY = 1.5
"""Such a mouth is drawn to be wide open: it opens this much further than lips of its width."""
PARTS_AT = 0.4
"""Its line is two lines, one above and one below, from this opening on, in thicknesses."""


@dataclass(frozen=True)
class InkedMouth:
    """A mouth to be drawn.

    Attributes:
        drawn: where it was in the drawing, shut.
        bare: H x W x 3, uint8, RGB: the drawing without it.
        frame: coordinates of the face.
        ink: 3, float32, RGB: colour of the line.
        line_px: thickness of the line, pixels.
        inside: 3, float32, RGB: what is between the lips.
        teeth: 3, float32, RGB; None where none are drawn.
        teeth_mm: height of the upper teeth, from the middle of the line.
        teeth_range: where the teeth begin and end, -1 left corner .. 1 right corner.
    """

    drawn: DrawnMouth
    bare: NDArray[np.uint8]
    frame: FaceFrame
    ink: NDArray[np.float32]
    line_px: float
    inside: NDArray[np.float32]
    teeth: NDArray[np.float32] | None
    teeth_mm: float
    teeth_range: tuple[float, float]

    def paint(
        self,
        skin: NDArray[np.uint8],
        unmoved: NDArray[np.float32],
        curves: LipCurves,
        shown_teeth: float,
    ) -> NDArray[np.uint8]:
        """Draw the mouth over a region of skin.

        Args:
            skin: h x w x 3, uint8, RGB: the region without a mouth.
            unmoved: h x w x 2, float32: for each pixel its place in the picture with head motion
                undone.
            curves: the lips of the frame.
            shown_teeth: teeth together and shown, 0..1.

        Returns:
            h x w x 3, uint8, RGB.
        """
        t, upper, lower = self._outline(curves)
        toothed = (t >= self.teeth_range[0]) & (t <= self.teeth_range[1])
        height = lower - upper
        least = np.minimum(height, np.float32(self.teeth_mm))
        edge = upper + least + (height - least) * np.float32(shown_teeth)
        mouth = self.frame.to_picture(np.concatenate([upper, lower[::-1]]))
        teeth = self.frame.to_picture(np.concatenate([upper[toothed], edge[toothed][::-1]]))
        masks, corner = self._masks(mouth, teeth)
        at = (unmoved - corner) * np.float32(FINER) + np.float32((FINER - 1) / 2)
        found = look_up_or_zero(masks, at).astype(np.float32) * np.float32(1 / 255)
        painted = skin.astype(np.float32)
        for index, colour in enumerate((self.inside, self.teeth, self.ink)):
            if colour is not None:
                painted += (colour - painted) * found[..., index : index + 1]
        return np.asarray(cv2.convertScaleAbs(painted), np.uint8)

    def _outline(
        self, curves: LipCurves
    ) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]:
        """Place along the mouth (N, -1..1), and the middle of its line above and below.

        A box of the lips' width along their seam, within its line as high as their opening; shut
        lips share one line. Both edges: N x 2, mm, plane.
        """
        t = np.sin(np.linspace(-np.pi / 2, np.pi / 2, NUM_POINTS))
        left, right = curves.left[0], curves.right[0]
        xs = (left + right) / 2 + t * (right - left) / 2
        table_x = curves.first_x_mm + np.arange(len(curves.table)) * TABLE_STEP_MM
        middle = np.interp(xs, table_x, (curves.table[:, 0] + curves.table[:, 1]) / 2)
        line_mm = self.drawn.line_mm
        opening = OPENS_BY * curves.gap_mm
        height = opening + min(opening / PARTS_AT, line_mm)
        half = height / 2 * (1 - np.abs(t) ** ROUNDNESS) ** (1 / ROUNDNESS)
        upper, lower = (np.stack([xs, ys], axis=1) for ys in (middle - half, middle + half))
        return t.astype(np.float32), upper.astype(np.float32), lower.astype(np.float32)

    def _masks(
        self, mouth: NDArray[np.float32], teeth: NDArray[np.float32]
    ) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
        """Covers of inside, teeth and line (h x w x 3, 0..255) and their corner in the picture.

        `mouth`, `teeth`: outlines, N x 2, pixels of the picture.
        """
        low = np.floor(mouth.min(axis=0) - self.line_px - 2)
        width, height = (int(v) for v in np.ceil(mouth.max(axis=0) + self.line_px + 2) - low)
        covers = np.zeros((3, height * FINER, width * FINER), np.uint8)

        def fixed(points: NDArray[np.float32]) -> NDArray[np.int32]:
            places = (points - low) * FINER + (FINER - 1) / 2
            return np.asarray(np.rint(places * 16), np.int32)

        cv2.fillPoly(covers[0], [fixed(mouth)], 255, cv2.LINE_AA, 4)
        cv2.fillPoly(covers[1], [fixed(teeth)], 255, cv2.LINE_AA, 4)
        thickness = max(1, round(self.line_px * FINER - STROKE_EXTRA))
        cv2.polylines(covers[2], [fixed(mouth)], True, 255, thickness, cv2.LINE_AA, 4)
        return np.ascontiguousarray(covers.transpose(1, 2, 0)), low.astype(np.float32)


def find_inked_mouth(
    photo: NDArray[np.uint8], frame: FaceFrame, seen: SeenMouth
) -> InkedMouth | None:
    """The mouth of a drawing where bending cannot shut it, else None."""
    patch, blob, columns, top, bottom = seen.patch, seen.blob, seen.columns, seen.top, seen.bottom
    ink = _ink(patch, blob)
    line = _line_width(patch, columns, top, ink, seen.skin)
    if not _is_box(bottom - top) or np.median(bottom - top) < MIN_GAP_MM / STEP_MM + 2 * line:
        return None

    depth = cv2.distanceTransform(blob.astype(np.uint8), cv2.DIST_L2, 5)
    within = depth > line + FRINGE_PX / (frame.px_per_mm * STEP_MM)
    if not within.any():
        return None
    bright = within & (patch.min(axis=-1) >= MIN_TOOTH)
    has_teeth = bright.sum() >= MIN_PART_SHARE * within.sum()
    rest = within & ~bright if has_teeth else within
    inside = commonest(patch[rest][None]) if rest.sum() >= MIN_PART_SHARE * within.sum() else ink
    return InkedMouth(
        drawn=_shut(columns, (top + bottom) / 2, line, ink.astype(np.float32)),
        bare=_without(photo, frame, seen),
        frame=frame,
        ink=ink.astype(np.float32),
        line_px=line * STEP_MM * frame.px_per_mm,
        inside=inside.astype(np.float32),
        teeth=commonest(patch[bright][None]).astype(np.float32) if has_teeth else None,
        teeth_mm=line * STEP_MM / 2 + TEETH_SHARE * float(np.median(bottom - top)) * STEP_MM,
        teeth_range=_teeth_range(bright, columns) if has_teeth else (0.0, 0.0),
    )


def _shut(
    columns: NDArray[np.intp], middle: NDArray[np.float64], line: float, ink: NDArray[np.float32]
) -> DrawnMouth:
    """The mouth shut: one even line from corner to corner.

    Skin without a mouth need not be bent to shut it, so nothing beside it is drawn together.
    """
    ends = columns[[0, -1]] + np.array([0.5, -0.5]) * line
    within = np.clip(np.rint(ends), columns[0], columns[-1]).astype(int)
    seam = np.asarray(np.polyval(np.polyfit(columns, middle, 2), columns), np.float64)
    upper, top, bottom = (
        eleven_points(columns, seam + shift * line, within) for shift in (0.0, -0.5, 0.5)
    )
    return DrawnMouth(
        upper=upper, lower=upper.copy(), top=top, bottom=bottom,
        line=ink, fill=None, line_mm=line * STEP_MM,
    )  # fmt: skip


def _is_box(heights: NDArray[np.intp]) -> bool:
    """Whether a part of these heights, column by column, stands upright at both ends."""
    at = max(1, round(END_AT * len(heights)))
    middle = float(np.median(heights))
    return bool(min(heights[at], heights[-1 - at]) >= MIN_END_SHARE * middle)


def _ink(patch: NDArray[np.uint8], blob: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Colour of the line: the commonest of the darker half just inside the edge of the blob."""
    inner = cv2.erode(blob.astype(np.uint8), np.ones((13, 13), np.uint8)) > 0
    rim = patch[blob & ~inner]
    sums = rim.sum(axis=1)
    return commonest(rim[sums <= np.median(sums)][None])


def _line_width(
    patch: NDArray[np.uint8],
    columns: NDArray[np.intp],
    top: NDArray[np.intp],
    ink: NDArray[np.int64],
    skin: NDArray[np.int64],
) -> float:
    """Thickness of the upper line in the middle half of the mouth, in steps of the patch.

    A smoothed edge ends where it is half ink, half skin.
    """
    contrast = max(float(np.abs(skin - ink).max()), LINE_DISTANCE)
    found = []
    for column, first in list(zip(columns, top, strict=True))[len(top) // 4 : -len(top) // 4]:
        inked = np.abs(patch[first:, column].astype(int) - ink).max(axis=-1) < contrast / 2
        start = int(inked.argmax())
        ends = np.flatnonzero(~inked[start:])
        found.append(int(ends[0]) if len(ends) else 0)
    return max(float(np.median(found)), 1.0)


def _teeth_range(bright: NDArray[np.bool_], columns: NDArray[np.intp]) -> tuple[float, float]:
    """First and last column with teeth, as shares of the way from the middle to a corner."""
    heights = bright.sum(axis=0)
    toothed = np.flatnonzero(heights >= heights.max() / 2)
    middle, half = (columns[0] + columns[-1]) / 2, (columns[-1] - columns[0]) / 2
    return float((toothed[0] - middle) / half), float((toothed[-1] - middle) / half)


def _without(photo: NDArray[np.uint8], frame: FaceFrame, seen: SeenMouth) -> NDArray[np.uint8]:
    """The drawing with skin where the mouth was; what stands beside it (a beard's dots) stays."""
    reach = 2 * round(FRINGE_PX / (frame.px_per_mm * STEP_MM)) + 1
    blob = seen.blob
    near = cv2.dilate(blob.astype(np.uint8), np.ones((reach, reach), np.uint8))
    beside = cv2.dilate(seen.parts * (~blob).astype(np.uint8), np.ones((3, 3), np.uint8))
    cover = near * np.uint8(255) * (blob | (beside == 0)).astype(np.uint8)
    where = np.argwhere(near)[:, ::-1] * STEP_MM + (LEFT_MM, TOP_MM)
    places = frame.to_picture(where.astype(np.float32))
    size = photo.shape[1::-1]
    low = np.clip(np.floor(places.min(axis=0)), 0, size).astype(int)
    high = np.clip(np.ceil(places.max(axis=0)) + 1, 0, size).astype(int)
    grid = np.meshgrid(np.arange(low[0], high[0]), np.arange(low[1], high[1]))
    plane = apply_affine(np.dstack(grid).astype(np.float32), frame.plane_from_picture)
    steps = (plane - np.array([LEFT_MM, TOP_MM], np.float32)) * np.float32(1 / STEP_MM)
    covered = look_up_or_zero(cover, steps) >= 128
    bare = photo.copy()
    bare[low[1] : high[1], low[0] : high[0]][covered] = seen.skin
    return bare
