"""Light on the cheeks, and eyes that look."""

import numpy as np
import pytest
from lite_scenes import FaceFinder, read_picture, speech_like

from engine.animators.lite.eye_finder import find_eyes
from engine.animators.lite.frame import fit_face_frame
from engine.animators.lite.head import HEAD_MOVES, Box
from engine.animators.lite.motion import MotionStyle, plan_motion
from engine.animators.lite.shading import (
    LEFT_MM,
    STEP_MM,
    TOP_MM,
    build_shading,
    shaded_box,
    steps_from_region,
)
from engine.animators.lite.shapes import AT, NUM_SHAPES
from engine.face import topology as topo

STYLE = MotionStyle(photo_smile=0.0, brow_share=1.0, dynamic_scale=1.0, motion_scale=1.0)
NO_SHIFT = np.zeros(2, np.float32)


@pytest.fixture(scope="module")
def portrait():
    picture = read_picture("astronaut_collins.jpg", 1024)
    return picture, fit_face_frame(FaceFinder().find(picture)[0])


def weights_of(**values) -> np.ndarray:
    weights = np.zeros(NUM_SHAPES, np.float32)
    for name, value in values.items():
        weights[AT[name]] = value
    return weights


def gain_at(shading, frame, offset_mm, **values) -> float:
    """Gain beside the left mouth corner."""
    point = frame.plane[topo.LEFT_MOUTH_CORNER] + offset_mm
    column, row = np.rint((point - (LEFT_MM, TOP_MM)) / STEP_MM).astype(int)
    return float(shading.gains(weights_of(**values))[row, column])


def test_a_mouth_at_rest_keeps_the_light_of_the_photo(portrait):
    picture, frame = portrait
    shading = build_shading(frame)
    box = shaded_box(frame, NO_SHIFT, picture.shape[:2])

    shaded = shading.paint(
        picture[box.slices],
        steps_from_region(frame, NO_SHIFT, box),
        shading.gains(weights_of(closed=1.0)),
    )

    assert np.array_equal(shaded, picture[box.slices])


def test_a_smile_deepens_the_fold_and_less_smile_softens_it(portrait):
    _, frame = portrait
    shading = build_shading(frame)
    beside = (-9.0, -3.0)

    assert gain_at(shading, frame, beside, smile=1.0) < 0.95
    assert gain_at(shading, frame, beside, smile=-0.5) > 1.02


def test_an_open_jaw_hollows_the_cheek_beside_the_mouth(portrait):
    _, frame = portrait

    assert gain_at(build_shading(frame), frame, (-13.0, 8.0), jaw=1.0) < 0.96


def test_shade_moves_with_the_head(portrait):
    picture, frame = portrait
    shading = build_shading(frame)
    grey = np.full_like(picture, 128)
    gains = shading.gains(weights_of(smile=1.0))
    shift = np.array([10.0, 4.0], np.float32)
    box = shaded_box(frame, NO_SHIFT, picture.shape[:2])
    moved_box = Box(box.left + 10, box.top + 4, box.right + 10, box.bottom + 4)

    still = shading.paint(grey[box.slices], steps_from_region(frame, NO_SHIFT, box), gains)
    moved = shading.paint(grey[moved_box.slices], steps_from_region(frame, shift, moved_box), gains)

    assert np.abs(still.astype(int) - moved).max() <= 1
    assert still.min() < 120


def test_irises_move_and_lids_stay(portrait):
    picture, frame = portrait
    eye = find_eyes(picture, frame)[0]
    box = eye.box(picture.shape[:2], NO_SHIFT)
    under = picture[box.slices]
    grid = np.meshgrid(np.arange(box.left, box.right), np.arange(box.top, box.bottom))
    unmoved = np.dstack(grid).astype(np.float32)

    ahead = eye.look(picture, under, unmoved, np.zeros(2, np.float32))
    aside = eye.look(picture, under, unmoved, np.array([1.0, 0.0], np.float32))

    changed = np.abs(aside.astype(int) - under).max(axis=2) > 12
    corner = np.rint(eye.to_picture[:, 2] - (box.left, box.top)).astype(int)
    assert np.array_equal(ahead, under)
    assert changed.sum() > 10
    assert not changed[:2].any()
    assert not changed[-2:].any()
    assert not changed[corner[1], corner[0]]


def test_eyes_rest_between_jumps_and_stay_on_the_viewer_when_the_head_turns():
    plan = plan_motion(speech_like(2000), 25, 5, STYLE)
    yaw = plan.head[:, HEAD_MOVES.index("yaw")]
    steps = np.abs(np.diff(plan.gaze[:, 0] + 0.2 * yaw))

    assert np.corrcoef(plan.gaze[:, 0], yaw)[0, 1] < -0.5
    assert 0.85 < (steps < 0.02).mean() < 0.99
    assert np.abs(plan.gaze).max() <= 1.3
