"""What a viewer would notice first: soft skin, teeth in a slit, painted lids, dark teeth."""

from dataclasses import replace

import cv2
import numpy as np
import pytest
from lite_scenes import curves_of, scene_of, speech_like

from engine.animators.lite.animator import prepare
from engine.animators.lite.drawn_eyes import find_drawn_eyes
from engine.animators.lite.eye_finder import find_eyes
from engine.animators.lite.frame import fit_face_frame
from engine.animators.lite.interior import MouthPose
from engine.animators.lite.palette import LUMA, measure_colours
from engine.face.topology import CHIN_ROW, FACE_OVAL, OUTER_LIPS

BROWS_AND_EYES = (70, 107, 33, 145, 300, 336, 263, 374)


def skin_of(face, size: tuple[int, int]) -> np.ndarray:
    """Mask of the face without mouth and eyes."""
    mask = np.zeros(size, np.uint8)
    points = np.rint(face.landmarks[:, :2]).astype(np.int32)
    cv2.fillPoly(mask, [points[list(FACE_OVAL)]], 1)
    for hole in (OUTER_LIPS, BROWS_AND_EYES[:4], BROWS_AND_EYES[4:]):
        cv2.fillConvexPoly(mask, cv2.convexHull(points[list(hole)]), 0)
    return cv2.erode(mask, np.ones((9, 9), np.uint8)) > 0


def detail(picture: np.ndarray, mask: np.ndarray) -> float:
    edges = cv2.Laplacian(cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY), cv2.CV_32F)
    return float((edges[mask] ** 2).mean())


@pytest.mark.parametrize("portrait", ["astronaut", "painter"])
def test_moving_skin_stays_as_sharp_as_the_photo(portrait, request):
    canvas, face = request.getfixturevalue(portrait)
    painter = prepare(scene_of((canvas, face), speech_like(60)))

    skin = skin_of(face, canvas.shape[:2])
    shares = [
        detail(painter.paint(index), skin) / detail(canvas, skin) for index in range(5, 60, 11)
    ]

    assert 0.95 < np.median(shares) < 1.2  # encoding takes away .05 to .15


def test_a_slit_is_dark_unless_teeth_are_shown_in_it(astronaut):
    curves = curves_of(jaw=np.repeat([0.1, 0.7], 3))
    painter = prepare(scene_of(astronaut, curves, motion_scale=0.0))
    frame, interior = painter.rig.frame, painter.rig.mouth.interior

    def just_under_the_lip(index: int, teeth: float) -> float:
        lips = painter.rig.contours.moved(painter.plan.shapes[index])
        plane = np.array([[[0.0, lips.top_mm + 0.5]]], np.float32)
        at = frame.to_picture(plane[0])[None]
        return float((interior.paint(at, plane, lips, MouthPose(0.0, teeth, 0.0)) @ LUMA).max())

    slit, hiss = (just_under_the_lip(1, teeth) for teeth in (0.0, 0.9))
    wide = just_under_the_lip(4, 0.0)

    assert slit < 0.7 * wide
    assert hiss > 1.5 * slit


def test_lids_have_the_grain_of_the_picture(painter):
    canvas, face = painter
    eyes = find_eyes(canvas, fit_face_frame(face))

    rough = [cv2.Laplacian(eye.skin.patch[..., 1], cv2.CV_32F).std() for eye in eyes]

    assert min(rough) > 5


def test_shut_lashes_of_a_soft_painting_are_hardly_darker_than_its_eyes(astronaut):
    canvas, face = astronaut
    black = 120
    soft = np.rint(black + 0.4 * canvas).astype(np.uint8)

    eyes = find_eyes(soft, fit_face_frame(face))

    assert len(eyes) == 2
    assert min(float(eye.lash @ LUMA) for eye in eyes) > 0.88 * black


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


def flat_skin_for(frame) -> np.ndarray:
    """Nothing but skin, as far as the face reaches."""
    width, height = (frame.to_picture(frame.plane).max(axis=0) * 1.2).astype(int)
    return np.full((height, width, 3), (240, 200, 170), np.uint8)


def drawn_face(frame, eyes_mm: tuple[tuple[float, float], ...]) -> np.ndarray:
    """Flat skin with round white eyes, black pupils and outlines, in the place of a face."""
    canvas = flat_skin_for(frame)
    for vertex, size_mm in zip((159, 386), eyes_mm, strict=True):
        x, y = np.rint(frame.to_picture(frame.plane[[vertex]])[0]).astype(int).tolist()
        axes = [round(half * frame.px_per_mm) for half in size_mm]
        cv2.ellipse(canvas, ((x, y), tuple(2 * half for half in axes), 0), (255, 255, 255), -1)
        cv2.ellipse(canvas, ((x, y), tuple(2 * half for half in axes), 0), (20, 20, 20), 2)
        cv2.circle(canvas, (x, y), max(2, axes[1] // 3), (0, 0, 0), -1)
    return canvas


def test_a_drawn_eye_is_covered_by_skin_with_a_line(astronaut):
    frame = fit_face_frame(astronaut[1])
    canvas = drawn_face(frame, ((11, 9), (11, 9)))
    eyes = find_drawn_eyes(canvas, frame)

    assert len(eyes) == 2
    for eye in eyes:
        box = eye.box(canvas.shape[:2], np.zeros(2, np.float32))
        grid = np.meshgrid(np.arange(box.left, box.right), np.arange(box.top, box.bottom))
        unmoved = np.dstack(grid).astype(np.float32)
        shut = eye.paint(canvas, canvas[box.slices], unmoved, 1.0)
        assert not (shut > 245).all(axis=-1).any()
        assert 0.01 < (shut.max(axis=-1) < 100).mean() < 0.2
        still = eye.look(canvas, canvas[box.slices], unmoved, np.ones(2, np.float32))
        assert np.array_equal(still, canvas[box.slices])


def test_lashes_that_reach_far_do_not_hide_a_drawn_eye(astronaut):
    frame = fit_face_frame(astronaut[1])
    canvas = drawn_face(frame, ((11, 9), (11, 9)))
    bare = find_drawn_eyes(canvas, frame)
    x, y = np.rint(frame.to_picture(frame.plane[[386]])[0]).astype(int).tolist()
    away = round(45 * frame.px_per_mm)
    cv2.line(canvas, (x, y), (x + away, y - away), (20, 20, 20), 2)  # out of what is looked at

    eyes = find_drawn_eyes(canvas, frame)

    assert np.allclose([eye.extent for eye in eyes], [eye.extent for eye in bare], atol=1.5)


@pytest.fixture(scope="module")
def large_frame(astronaut):
    """The astronaut's face three times as large: two pixels a millimetre."""
    return fit_face_frame(astronaut[1].moved(3.0, 0.0, 0.0))


@pytest.mark.parametrize("line_px", [4, 6])
def test_a_shut_lid_is_an_arc_as_thick_as_the_line_of_an_eye_drawn_in_part(large_frame, line_px):
    canvas = flat_skin_for(large_frame)
    for vertex in (159, 386):
        x, y = np.rint(large_frame.to_picture(large_frame.plane[[vertex]])[0]).astype(int).tolist()
        half = [round(size * large_frame.px_per_mm) for size in (14, 8)]
        cv2.ellipse(canvas, (x, y), half, 0, 180, 360, (20, 20, 20), line_px)  # no lower line
        cv2.circle(canvas, (x + 3, y - half[1] // 4), round(0.8 * half[1]), (0, 0, 0), -1)

    eyes = find_drawn_eyes(canvas, large_frame)

    assert len(eyes) == 2
    for eye in eyes:
        assert np.ptp(np.diff(eye.table[:, 1], 2)) < 1e-3, "neither dents nor curled ends"
        assert eye.line_mm == pytest.approx(line_px / large_frame.px_per_mm, rel=0.3)


def test_the_far_eye_of_a_turned_drawing_may_look_narrower(large_frame):
    canvas = drawn_face(large_frame, ((11, 9), (6, 9)))
    plane = large_frame.plane.copy()
    middle = plane[[362, 263]].mean(axis=0)
    plane[[362, 263]] = middle + 0.6 * (plane[[362, 263]] - middle)

    assert find_drawn_eyes(canvas, large_frame) == ()
    assert len(find_drawn_eyes(canvas, replace(large_frame, plane=plane))) == 2


def test_landmarks_see_a_shut_lid(astronaut, finder):
    painter = prepare(scene_of(astronaut, curves_of(jaw=np.zeros(3)), motion_scale=0.0))
    painter.plan.blink[:] = [0.0, 0.7, 1.0]

    lids = []
    for index in range(3):
        points = finder.track(painter.paint(index), astronaut[1]).landmarks[:, :2]
        gap = np.linalg.norm(points[[159, 386]] - points[[145, 374]], axis=1).mean()
        lids.append(gap / np.linalg.norm(points[33] - points[133]))

    assert lids[1] < 0.6 * lids[0]
    assert lids[2] < 0.35 * lids[0]


@pytest.mark.parametrize("eyes_mm", [((11, 9), (5, 4)), ((11, 2), (11, 2))])
def test_unlike_or_shut_drawn_eyes_do_not_blink(astronaut, eyes_mm):
    frame = fit_face_frame(astronaut[1])

    assert find_drawn_eyes(drawn_face(frame, eyes_mm), frame) == ()
