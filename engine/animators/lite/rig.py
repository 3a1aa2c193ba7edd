"""Builds everything that depends on one portrait alone, once per job."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from engine.animators.lite.drawn import (
    flat_interior,
    measure_drawn_mouth,
    see_mouth,
    settle_drawn_lips,
)
from engine.animators.lite.drawn_eyes import DrawnEye, find_drawn_eyes
from engine.animators.lite.eye_finder import find_eyes
from engine.animators.lite.eyes import Eye
from engine.animators.lite.field import SkinFields, build_fields
from engine.animators.lite.frame import FaceFrame, fit_face_frame
from engine.animators.lite.glasses import wears_glasses
from engine.animators.lite.grain import measure_grain, with_grain
from engine.animators.lite.head import HeadField, build_head_field
from engine.animators.lite.inked_mouth import InkedMouth, find_inked_mouth
from engine.animators.lite.interior import Interior, Layer
from engine.animators.lite.lips import LipContours, attach_contours, find_contours
from engine.animators.lite.mouth import MouthPainter
from engine.animators.lite.own_teeth import find_own_teeth
from engine.animators.lite.palette import detail_px, is_drawing, is_mouth_covered, measure_colours
from engine.animators.lite.seam import settle_lips, shut_lips
from engine.animators.lite.shading import Shading, build_shading
from engine.animators.lite.shapes import Lips, build_handles, measure_lips
from engine.animators.lite.teeth import bake_teeth, bake_tongue
from engine.animators.lite.texture import prepare_texture
from engine.face.geometry import Face

SEAM_STRENGTH = 0.5
GLASSES_BROW_SHARE = 0.15
CHEEK_SHARE = 0.62
"""Inside of the cheeks against the lips, before less light falls in at the corners."""
SOFTEST_EDGE_MM = 2.0
SHARPEST_EDGE_PX, EDGE_PER_DETAIL, BLUR_PER_DETAIL = 1.15, 0.8, 0.42
"""Cut edges and drawn parts are as soft as the picture's own detail."""


@dataclass(frozen=True)
class Rig:
    """One portrait, ready to move.

    Attributes:
        photo: H x W x 3, uint8, RGB: the canvas.
        texture: the same, sharpened where it moves by what resampling will take away.
        frame: coordinates of the face.
        fields: skin motion of every shape.
        contours: inner lip edges.
        head: motion of the head.
        mouth: draws the mouth region.
        inked: draws the mouth of a drawing instead, where bending cannot shut it.
        eyes: those that can blink.
        shading: light of cheeks and folds; None for drawings and covered mouths.
        photo_smile: how much the photographed mouth smiles, 0..1.
        brow_share: how much the brows may move, 0..1: hardly behind glasses.
    """

    photo: NDArray[np.uint8]
    texture: NDArray[np.uint8]
    frame: FaceFrame
    fields: SkinFields
    contours: LipContours
    head: HeadField
    mouth: MouthPainter
    inked: InkedMouth | None
    eyes: tuple[Eye, ...] | tuple[DrawnEye, ...]
    shading: Shading | None
    photo_smile: float
    brow_share: float


def build_rig(photo: NDArray[np.uint8], face: Face) -> Rig:
    """Measure a portrait and prepare its motion."""
    frame = fit_face_frame(face)
    drawing = is_drawing(photo, frame)
    seen = see_mouth(photo, frame) if drawing else None
    inked = find_inked_mouth(photo, frame, seen) if seen is not None else None
    drawn = None
    if inked is not None:
        photo, drawn = inked.bare, inked.drawn
    elif seen is not None:
        drawn = measure_drawn_mouth(seen, frame)
    covered = not drawing and is_mouth_covered(photo, frame)
    if drawn is not None:
        frame = settle_drawn_lips(frame, drawn)
    elif covered:
        frame = shut_lips(frame)
    elif not drawing:
        frame = settle_lips(photo, frame)
    lips = measure_lips(frame.local, drawn=drawn is not None)
    fields = build_fields(build_handles(frame, lips, split=not covered), frame)
    upper, lower = find_contours(frame, lips)
    detail = 1.0 if drawing else detail_px(photo, frame)
    softness = max(SHARPEST_EDGE_PX, EDGE_PER_DETAIL * detail) / frame.px_per_mm
    softness = min(softness, max(SOFTEST_EDGE_MM, SHARPEST_EDGE_PX / frame.px_per_mm))
    contours = attach_contours(fields, upper, lower, softness)
    if drawing:
        interior = flat_interior(photo, frame, drawn, measure_colours(photo, frame))
    else:
        interior = _build_interior(photo, frame, contours, BLUR_PER_DETAIL * detail)
    height, width = photo.shape[:2]
    head = build_head_field(frame, width, height)
    texture = photo if drawing else prepare_texture(photo, frame, head.share(width, height))
    return Rig(
        photo=photo,
        texture=texture,
        frame=frame,
        fields=fields,
        contours=contours,
        head=head,
        mouth=MouthPainter(
            frame=frame,
            photo=texture,
            interior=interior,
            seam=0.0 if drawing else SEAM_STRENGTH * _openness(lips),
            softness_mm=softness,
        ),
        inked=inked,
        eyes=find_drawn_eyes(photo, frame) if drawing else find_eyes(photo, frame),
        shading=None if drawing or covered else build_shading(frame),
        photo_smile=_smile(frame, lips),
        brow_share=GLASSES_BROW_SHARE if wears_glasses(photo, frame) else 1.0,
    )


def _build_interior(
    photo: NDArray[np.uint8], frame: FaceFrame, contours: LipContours, blur_px: float
) -> Interior:
    colours = measure_colours(photo, frame)
    closed = contours.upper + contours.upper_moves[0]
    seam_y = float(np.interp(0.0, closed[:, 0], closed[:, 1]))
    own = find_own_teeth(photo, frame, colours, contours.upper, contours.lower)
    front, follows_jaw = None, False
    if own is not None:
        front, follows_jaw, tooth = own
        colours = replace(colours, tooth=tooth)
    grain = measure_grain(photo, frame)

    def matched(layer: Layer) -> Layer:
        return with_grain(layer.blurred(blur_px), grain)

    return Interior(
        cavity=colours.cavity,
        cheek=colours.lip * np.float32(CHEEK_SHARE),
        tongue=matched(bake_tongue(frame, colours, seam_y)),
        lower_teeth=matched(bake_teeth(frame, colours, seam_y, upper=False)),
        upper_teeth=front or matched(bake_teeth(frame, colours, seam_y, upper=True)),
        down_px=frame.down_px,
        upper_follows_jaw=follows_jaw,
    )


def _openness(lips: Lips) -> float:
    """How open the photographed mouth is: 0 shut .. 1 by 2.5 mm or more."""
    return float(np.clip(lips.gap.max() / 2.5, 0.0, 1.0))


def _smile(frame: FaceFrame, lips: Lips) -> float:
    """How much the photographed mouth smiles, 0..1, from width and lift of its corners."""
    local = frame.local
    lift = float(local[[13, 14], 1].mean() - local[[61, 291], 1].mean())
    wide = lips.half_width - 25.0
    return float(np.clip(0.10 * (lift - 1.0) + 0.09 * wide, 0.0, 1.0))
