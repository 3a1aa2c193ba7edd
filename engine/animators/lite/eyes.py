"""Blinks: the upper lid slides down over the eyeball, as skin that unfolds from under the brow.

The eye itself is not warped. Above the moving lash line the skin between brow and lid is
stretched and evened out towards the tone of the skin around the eye, because a stretched crease
would become a smear; below it the photograph stays as it is.
"""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from engine.animators.lite.head import Box
from engine.animators.lite.interior import Layer
from engine.animators.lite.resample import apply_affine, look_up, look_up_sharp

TABLE_STEP_MM = 0.25
TRAVEL = 0.96
"""The lash line ends this share of the way to the lower lid."""
LASH_MM = 1.1
LASH_STRENGTH = 0.88
"""Shut lashes lie over each other: a thinner or fainter line is taken for an open eye's edge."""
EVENING = 0.84
MAX_STRETCH = 0.85
BOX_MARGIN_MM = 3.0
LID_EASE_MM, CORNER_EASE_MM = 1.8, 4.0
"""The eyeball turns fully this far inside the lids and the corners."""


@dataclass(frozen=True)
class Eye:
    """One eye of the photograph.

    Attributes:
        to_eye: 2 x 3, float32: pixels of the picture to the eye's own mm: x from the corner on
            the left to the other, y down, seen in the picture's plane.
        to_picture: 2 x 3, float32: back.
        width_mm: corner to corner.
        table: K x 3, float32, every `TABLE_STEP_MM` of x: y of upper lid, lower lid, and of
            the line under the brow above which nothing moves.
        opening_mm: largest opening.
        skin: even skin tone under and around the lid.
        lash: 3, float32: colour of the lash line.
    """

    to_eye: NDArray[np.float32]
    to_picture: NDArray[np.float32]
    width_mm: float
    table: NDArray[np.float32]
    opening_mm: float
    skin: Layer
    lash: NDArray[np.float32]

    def box(self, size: tuple[int, int], head_shift: NDArray[np.float32]) -> Box:
        """Pixels a blink may change in a picture of this size (height, width)."""
        top = float(self.table[:, 2].min()) - BOX_MARGIN_MM
        bottom = float(self.table[:, 1].max()) + BOX_MARGIN_MM
        left, right = -BOX_MARGIN_MM, self.width_mm + BOX_MARGIN_MM
        corners = np.array([[[left, top], [right, top], [right, bottom], [left, bottom]]])
        corners = apply_affine(corners.astype(np.float32), self.to_picture)[0] + head_shift
        low = np.clip(np.floor(corners.min(axis=0)), 0, size[::-1]).astype(int)
        high = np.clip(np.ceil(corners.max(axis=0)), 0, size[::-1]).astype(int)
        return Box(int(low[0]), int(low[1]), int(high[0]), int(high[1]))

    def paint(
        self,
        photo: NDArray[np.uint8],
        under: NDArray[np.uint8],
        unmoved: NDArray[np.float32],
        blink: float,
    ) -> NDArray[np.uint8]:
        """Draw the lid over a region.

        Args:
            photo: H x W x 3, uint8, RGB: the canvas.
            under: h x w x 3, uint8: the region as drawn so far.
            unmoved: h x w x 2: each pixel's place in the picture, head motion undone.
            blink: 0 open .. 1 shut.
        """
        at = apply_affine(unmoved, self.to_eye)
        x, y = at[..., 0], at[..., 1]
        rows = look_up(self.table[None], np.dstack([x / TABLE_STEP_MM, np.zeros_like(x)]))
        upper, lower, top = rows[..., 0], rows[..., 1], rows[..., 2]
        travel = np.float32(TRAVEL * blink) * np.maximum(lower - upper, 0)
        lash_line = upper + travel

        source_y, depth = _unfold(y, upper, top, lash_line)
        lid_at = apply_affine(np.dstack([x, source_y]), self.to_picture)
        lid = look_up_sharp(photo, lid_at).astype(np.float32)
        even, known = self.skin.sample(unmoved, np.zeros(2, np.float32))
        moved = np.clip(travel / np.float32(0.45 * self.opening_mm), 0, 1)
        above_lash = np.clip((lash_line - y - 0.3) / LASH_MM, 0, 1)
        share = EVENING * moved * depth * (0.35 + 0.65 * above_lash)
        lid += (even - lid) * (share[..., None] * known)
        lid = self._shade(lid, y, lash_line, moved)

        pixel = float(np.linalg.norm(self.to_eye[0, :2]))
        covered = np.clip((lash_line - y) / pixel + 0.5, 0, 1) * (y > top) * (travel > 0.02)
        painted = under + (lid - under) * covered[..., None]
        painted = self._lashes(painted, x, y, lash_line, moved)
        return np.asarray(cv2.convertScaleAbs(painted), np.uint8)

    def look(
        self,
        photo: NDArray[np.uint8],
        under: NDArray[np.uint8],
        unmoved: NDArray[np.float32],
        gaze_mm: NDArray[np.float32],
    ) -> NDArray[np.uint8]:
        """Draw the eyeball turned a little between the open lids.

        Args:
            photo: H x W x 3, uint8, RGB: the canvas.
            under: h x w x 3, uint8: the region as drawn so far.
            unmoved: h x w x 2: each pixel's place in the picture, head motion undone.
            gaze_mm: 2: how far the iris lies to the right of and below where it was photographed.
        """
        at = apply_affine(unmoved, self.to_eye)
        x, y = at[..., 0], at[..., 1]
        rows = look_up(self.table[None], np.dstack([x / TABLE_STEP_MM, np.zeros_like(x)]))
        inside = np.minimum(y - rows[..., 0], rows[..., 1] - y) / LID_EASE_MM
        inside = np.minimum(inside, np.minimum(x, self.width_mm - x) / CORNER_EASE_MM)
        share = np.clip(inside, 0, 1)
        share *= share * (3 - 2 * share)
        moved = at - share[..., None] * gaze_mm
        drawn = look_up_sharp(photo, apply_affine(moved, self.to_picture))
        return np.where(share[..., None] > 0, drawn, under)

    def _shade(
        self,
        lid: NDArray[np.float32],
        y: NDArray[np.float32],
        lash_line: NDArray[np.float32],
        moved: NDArray[np.float32],
    ) -> NDArray[np.float32]:
        """Roundness: the lid is a little brighter on the ball and darker towards the lashes."""
        down = np.clip((lash_line - y) / max(self.opening_mm, 1.0), 0, 1.6)
        roundness = 0.035 * np.sin(np.pi * np.clip(down, 0, 1)) - 0.07 * np.exp(-down / 0.18)
        return np.asarray(lid * (1 + roundness * moved)[..., None], np.float32)

    def _lashes(
        self,
        painted: NDArray[np.float32],
        x: NDArray[np.float32],
        y: NDArray[np.float32],
        lash_line: NDArray[np.float32],
        moved: NDArray[np.float32],
    ) -> NDArray[np.float32]:
        """A thin dark line where the lids meet, thinner towards the corners."""
        along = np.clip(x / self.width_mm, 0, 1)
        thick = 0.4 + 0.7 * np.sqrt(np.maximum(np.sin(np.pi * along), 0))
        line = np.exp(-(((y - lash_line - 0.1) / thick) ** 2)) * moved * LASH_STRENGTH
        line *= (x > -0.5) & (x < self.width_mm + 0.5)
        return np.asarray(painted + (self.lash - painted) * line[..., None], np.float32)


def _unfold(
    y: NDArray[np.float32],
    upper: NDArray[np.float32],
    top: NDArray[np.float32],
    lash_line: NDArray[np.float32],
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Where lid skin at `y` came from, and how deep it lies between brow (0) and lashes (1).

    Next to the lash line the skin moves as one piece, so that lashes stay thin; above it the
    stretch starts gently at the brow and grows towards the lid.
    """
    source = np.maximum(upper - LASH_MM - top, 0.3)
    target = np.maximum(lash_line - LASH_MM - top, 0.3)
    part = np.clip((y - top) / target, 0, 1)
    bend = np.clip(target / source - 1, 0, MAX_STRETCH)
    stretched = top + source * (part + bend * part * (1 - part))
    rigid = y - (lash_line - upper)
    inside = y > lash_line - LASH_MM
    source_y = np.where(inside, rigid, np.where(y < top, y, stretched))
    depth = part * (2 - part)
    return source_y.astype(np.float32), depth.astype(np.float32)
