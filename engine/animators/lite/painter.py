"""Draws one frame of a planned clip."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.animators.lite.field import LEFT_MM, STEP_MM, TOP_MM
from engine.animators.lite.interior import MouthPose
from engine.animators.lite.lips import LipCurves, cut
from engine.animators.lite.motion import MotionPlan
from engine.animators.lite.resample import FINER, FineTexture, apply_affine, look_up_or_zero
from engine.animators.lite.rig import Rig
from engine.animators.lite.shading import shaded_box, steps_from_region

CHIN_DROP_MM = 8.2
MIN_BLINK = 0.02
BAND_ROWS = 64
"""Rows of skin read at once: the places to read from take 8 bytes a pixel, which are 15 MB for each
thread at 1024 x 1816 pixels, and a tenth more time because no cache holds them."""


@dataclass(frozen=True)
class FramePainter:
    """Draws any frame of a clip; holds nothing that changes, so threads may share it.

    Attributes:
        rig: the portrait.
        plan: what it does.
        skin: the rig's texture, to be read fast.
    """

    rig: Rig
    plan: MotionPlan
    skin: FineTexture

    def paint(self, frame_index: int) -> NDArray[np.uint8]:
        """H x W x 3, uint8, RGB: frame number `frame_index`."""
        rig, plan = self.rig, self.plan
        weights = plan.shapes[frame_index]
        head = rig.head.sources(plan.head[frame_index])
        curves = rig.contours.moved(weights)
        forward = rig.fields.forward(weights)
        upper, lower = (rig.fields.inverse(sheet) for sheet in forward)
        to_px = (rig.frame.turn.T * np.float32(STEP_MM * rig.frame.px_per_mm)).astype(np.float32)
        sheets = (apply_affine(upper, to_px), apply_affine(lower, to_px))

        picture = rig.photo.copy()
        self._paint_skin(picture, head, sheets, curves)
        self._paint_mouth(picture, head, sheets, curves, frame_index)
        self._paint_light(picture, head, weights)
        self._paint_eyes(picture, head, frame_index)
        return picture

    def _paint_skin(
        self,
        picture: NDArray[np.uint8],
        head: NDArray[np.float32],
        sheets: tuple[NDArray[np.float32], NDArray[np.float32]],
        curves: LipCurves,
    ) -> None:
        """Everything that moves, with the sheets joined along the mouth."""
        rig = self.rig
        mixed = _join(rig, sheets, curves)
        plane = apply_affine(head, rig.frame.plane_from_picture)
        steps = (plane - np.array([LEFT_MM, TOP_MM], np.float32)) * np.float32(1 / STEP_MM)
        moves = look_up_or_zero(mixed, steps)
        box = rig.head.grid.box.within(picture.shape[1], picture.shape[0])
        sources = (head + moves) * FINER
        for band in box.bands(BAND_ROWS):
            picture[band.slices] = self.skin.look_up(rig.head.grid.enlarge(sources, band))

    def _paint_mouth(
        self,
        picture: NDArray[np.uint8],
        head: NDArray[np.float32],
        sheets: tuple[NDArray[np.float32], NDArray[np.float32]],
        curves: LipCurves,
        frame_index: int,
    ) -> None:
        rig, plan = self.rig, self.plan
        grid = rig.head.grid
        box = rig.mouth.box(curves, rig.head.shift_at(head, rig.frame.origin_px))
        if box.width < 2 or box.height < 2:
            return
        pose = MouthPose(
            jaw_mm=CHIN_DROP_MM * float(plan.jaw_drop[frame_index]),
            teeth=float(plan.teeth[frame_index]),
            tongue=float(plan.tongue[frame_index]),
        )
        unmoved = grid.enlarge(head, box)
        if rig.inked is not None:
            picture[box.slices] = rig.inked.paint(picture[box.slices], unmoved, curves, pose.teeth)
            return
        picture[box.slices] = rig.mouth.paint(self.skin, unmoved, sheets, curves, pose)

    def _paint_light(
        self,
        picture: NDArray[np.uint8],
        head: NDArray[np.float32],
        weights: NDArray[np.float32],
    ) -> None:
        rig = self.rig
        if rig.shading is None:
            return
        shift = rig.head.shift_at(head, rig.frame.origin_px)
        box = shaded_box(rig.frame, shift, (picture.shape[0], picture.shape[1]))
        if box.width > 1 and box.height > 1:
            steps = steps_from_region(rig.frame, shift, box)
            gains = rig.shading.gains(weights)
            picture[box.slices] = rig.shading.paint(picture[box.slices], steps, gains)

    def _paint_eyes(
        self, picture: NDArray[np.uint8], head: NDArray[np.float32], frame_index: int
    ) -> None:
        rig, gaze = self.rig, self.plan.gaze[frame_index]
        blink = float(self.plan.blink[frame_index])
        for eye in rig.eyes:
            shift = rig.head.shift_at(head, eye.to_picture[:, 2])
            box = eye.box((picture.shape[0], picture.shape[1]), shift)
            if box.width <= 1 or box.height <= 1:
                continue
            unmoved = rig.head.grid.enlarge(head, box)
            drawn = eye.look(rig.texture, picture[box.slices], unmoved, gaze)
            if blink >= MIN_BLINK:
                drawn = eye.paint(rig.texture, drawn, unmoved, blink)
            picture[box.slices] = drawn


def _join(
    rig: Rig, sheets: tuple[NDArray[np.float32], NDArray[np.float32]], curves: LipCurves
) -> NDArray[np.float32]:
    """One field: the upper sheet above the mouth, the lower below it."""
    plane = rig.fields.nodes * np.float32(STEP_MM) + np.array([LEFT_MM, TOP_MM], np.float32)
    under_upper, over_lower = cut(plane, curves)
    upper_share = (1 - (under_upper + 1 - over_lower) / 2)[..., None]
    return np.asarray(sheets[1] + (sheets[0] - sheets[1]) * upper_share, np.float32)
