"""What a viewer would notice first: soft skin, teeth in a slit, painted lids, dark teeth."""

import cv2
import numpy as np
import pytest
from lite_scenes import curves_of, scene_of, speech_like

from engine.animators.lite.animator import prepare
from engine.animators.lite.eye_finder import find_eyes
from engine.animators.lite.frame import fit_face_frame
from engine.animators.lite.interior import MouthPose
from engine.animators.lite.palette import LUMA, measure_colours
from engine.face.topology import CHIN_ROW, FACE_OVAL, OUTER_LIPS


def cheeks(face) -> np.ndarray:
    """Mask of the skin between eyes and mouth, left and right of the nose."""
    points = np.rint(face.landmarks[:, :2]).astype(np.int32)
    mask = np.zeros(points.max(axis=0)[::-1] + 2, np.uint8)
    for ring in ((117, 205, 213, 123), (346, 425, 433, 352)):
        cv2.fillConvexPoly(mask, cv2.convexHull(points[list(ring)]), 1)
    return mask > 0


def detail(picture: np.ndarray, mask: np.ndarray) -> float:
    edges = cv2.Laplacian(cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY), cv2.CV_32F)
    return float((edges[: mask.shape[0], : mask.shape[1]][mask] ** 2).mean())


@pytest.mark.parametrize("portrait", ["astronaut", "painter"])
def test_moving_skin_stays_as_sharp_as_the_photo(portrait, request):
    canvas, face = request.getfixturevalue(portrait)
    painter = prepare(scene_of((canvas, face), speech_like(60)))

    shares = [
        detail(painter.paint(index), cheeks(face)) / detail(canvas, cheeks(face))
        for index in range(5, 60, 11)
    ]

    assert 0.9 < np.median(shares) < 1.15


def test_lips_part_on_a_dark_line_before_teeth_show(astronaut):
    curves = curves_of(jaw=np.repeat([0.1, 0.7], 3))
    painter = prepare(scene_of(astronaut, curves, motion_scale=0.0))
    frame, interior = painter.rig.frame, painter.rig.mouth.interior

    def just_under_the_lip(index: int) -> float:
        lips = painter.rig.contours.moved(painter.plan.shapes[index])
        plane = np.array([[[0.0, lips.top_mm + 0.5]]], np.float32)
        at = frame.to_picture(plane[0])[None]
        return float((interior.paint(at, plane, lips, MouthPose(0.0, 0.0, 0.0)) @ LUMA).max())

    slit, wide = just_under_the_lip(1), just_under_the_lip(4)

    assert slit < 0.7 * wide


def test_lids_have_the_grain_of_the_picture(painter):
    canvas, face = painter
    eyes = find_eyes(canvas, fit_face_frame(face))

    rough = [cv2.Laplacian(eye.skin.patch[..., 1], cv2.CV_32F).std() for eye in eyes]

    assert min(rough) > 5


def test_teeth_do_not_darken_with_the_skin(astronaut):
    canvas, face = astronaut
    frame = fit_face_frame(face)
    dark = canvas.astype(np.float32)
    points = np.rint(face.landmarks[:, :2]).astype(np.int32)
    shade = np.zeros(canvas.shape[:2], np.uint8)
    cv2.fillPoly(shade, [points[list(FACE_OVAL)]], 1)
    beard = [*CHIN_ROW, 365, 136, *OUTER_LIPS]
    cv2.fillConvexPoly(shade, cv2.convexHull(points[beard]), 0)
    dark[shade > 0] *= 0.3

    tooth = measure_colours(dark.astype(np.uint8), frame).tooth @ LUMA
    skin = measure_colours(dark.astype(np.uint8), frame).skin @ LUMA

    assert tooth > 1.7 * skin
