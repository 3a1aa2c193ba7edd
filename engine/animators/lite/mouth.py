"""Draws the mouth region of a frame: two sheets of skin, and what shows between them."""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from engine.animators.lite.field import LEFT_MM, STEP_MM, TOP_MM
from engine.animators.lite.frame import FaceFrame
from engine.animators.lite.head import Box
from engine.animators.lite.interior import Interior, MouthPose
from engine.animators.lite.lips import LipCurves, cut, edges_at
from engine.animators.lite.resample import FINER, FineTexture, apply_affine, look_up

BOX_SIDE_MM, BOX_ABOVE_MM, BOX_BELOW_MM = 15.0, 9.0, 9.0
"""How far the mouth region reaches beyond corners and opening."""
MIN_GAP_MM = 0.12
"""Below this opening nothing shows between the lips."""


@dataclass(frozen=True)
class MouthPainter:
    """Draws mouths of one portrait.

    Attributes:
        frame: coordinates of the face.
        photo: H x W x 3, uint8, RGB: the canvas.
        interior: what lies behind the lips.
        seam: strength of the drawn line between lips that were open in the photograph, 0..1.
        softness_mm: width of the picture's finest edges.
    """

    frame: FaceFrame
    photo: NDArray[np.uint8]
    interior: Interior
    seam: float
    softness_mm: float

    def box(self, curves: LipCurves, head_shift: NDArray[np.float32]) -> Box:
        """The region to draw, in pixels of the picture, clipped to it.

        Args:
            curves: the lips of the frame.
            head_shift: 2, pixels: how far the head moved at the mouth.
        """
        left = curves.left[0] - BOX_SIDE_MM
        right = curves.right[0] + BOX_SIDE_MM
        top = min(curves.top_mm, curves.left[1], curves.right[1]) - BOX_ABOVE_MM
        bottom = max(curves.bottom_mm, curves.left[1], curves.right[1]) + BOX_BELOW_MM
        corners = np.array([[left, top], [right, top], [right, bottom], [left, bottom]])
        corners = self.frame.to_picture(corners.astype(np.float32)) + head_shift
        height, width = self.photo.shape[:2]
        low = np.clip(np.floor(corners.min(axis=0)), 0, [width, height]).astype(int)
        high = np.clip(np.ceil(corners.max(axis=0)), 0, [width, height]).astype(int)
        return Box(int(low[0]), int(low[1]), int(high[0]), int(high[1]))

    def paint(
        self,
        texture: FineTexture,
        unmoved: NDArray[np.float32],
        sheets: tuple[NDArray[np.float32], NDArray[np.float32]],
        curves: LipCurves,
        pose: MouthPose,
    ) -> NDArray[np.uint8]:
        """Draw the region.

        Args:
            texture: the skin.
            unmoved: h x w x 2, float32: for each pixel its place in the picture with head
                motion undone.
            sheets: inverse displacement of upper and lower skin on the grid of the plane,
                rows x columns x 2, in pixels of the picture.
            curves: inner edges of the lips.
            pose: what jaw, teeth and tongue do.

        Returns:
            h x w x 3, uint8, RGB.
        """
        plane = apply_affine(unmoved, self.frame.plane_from_picture)
        above, below = cut(plane, curves)
        steps = (plane - np.array([LEFT_MM, TOP_MM], np.float32)) * np.float32(1 / STEP_MM)
        upper = _skin(texture, unmoved, steps, sheets[0])
        lower = _skin(texture, unmoved, steps, sheets[1])

        under_upper = above[..., None]
        over_lower = below[..., None]
        opened = np.maximum(under_upper + over_lower - 1, 0)
        painted = upper * (1 - under_upper) + lower * (1 - over_lower)
        if curves.gap_mm > MIN_GAP_MM and opened.any():
            painted += self._between(unmoved, plane, opened, curves, pose)
        if self.seam > 0:
            painted *= self._seam_line(plane, curves)[..., None]
        return np.asarray(cv2.convertScaleAbs(painted), np.uint8)

    def _between(
        self,
        unmoved: NDArray[np.float32],
        plane: NDArray[np.float32],
        opened: NDArray[np.float32],
        curves: LipCurves,
        pose: MouthPose,
    ) -> NDArray[np.float32]:
        """The interior, weighted by how much of each pixel the lips leave open."""
        columns = np.flatnonzero(opened[..., 0].max(axis=0) > 0)
        rows = np.flatnonzero(opened[..., 0].max(axis=1) > 0)
        part = (slice(rows[0], rows[-1] + 1), slice(columns[0], columns[-1] + 1))
        result = np.zeros_like(opened, shape=(*opened.shape[:2], 3))
        drawn = self.interior.paint(unmoved[part], plane[part], curves, pose)
        result[part] = drawn * opened[part]
        return result

    def _seam_line(self, plane: NDArray[np.float32], curves: LipCurves) -> NDArray[np.float32]:
        """Shade (h x w, 0..1) of the line where lips meet that the photograph shows apart."""
        edges = edges_at(plane, curves)
        gap = edges[..., 1] - edges[..., 0]
        middle = (edges[..., 0] + edges[..., 1]) / 2
        half = 0.55 + gap / 2 + self.softness_mm / 2
        distance = (plane[..., 1] - middle) / half
        nearly_shut = np.clip(1.6 - gap, 0, 1)
        ends = np.minimum(plane[..., 0] - curves.left[0], curves.right[0] - plane[..., 0])
        inside = np.clip(ends / 3 + 0.5, 0, 1)
        line: NDArray[np.float32] = np.exp(-(distance**2)) * nearly_shut * inside
        return (1 - np.float32(self.seam) * line).astype(np.float32)


def _skin(
    texture: FineTexture,
    unmoved: NDArray[np.float32],
    steps: NDArray[np.float32],
    sheet: NDArray[np.float32],
) -> NDArray[np.float32]:
    """One sheet of skin where it has moved to: h x w x 3, 0..255."""
    moved = (unmoved + look_up(sheet, steps)) * FINER
    return texture.look_up(moved).astype(np.float32)
