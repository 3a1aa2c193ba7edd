"""The built-in animator as its callers see it: frames of a scene."""

from itertools import islice
from threading import Event

import cv2
import numpy as np
import pytest
from lite_scenes import curves_of, opening_of, read_picture, scene_of, speech_like

from engine.animators.lite.animator import LiteAnimator, prepare
from engine.errors import Canceled
from engine.face.geometry import Face
from engine.face.pose import make_face
from engine.face.topology import load_canonical_mesh

CLOSED_MM_OF_88 = 1.2
"""Landmarks of a shut mouth may still lie this far apart."""
OPEN_MM_OF_88 = 7.0


def frames_of(scene):
    return list(LiteAnimator().animate(scene, Event()))


def test_yields_every_frame_in_the_size_of_the_canvas(astronaut):
    frames = frames_of(scene_of(astronaut, speech_like(7)))

    assert len(frames) == 7
    assert {frame.shape for frame in frames} == {astronaut[0].shape}
    assert all(frame.dtype == np.uint8 for frame in frames)


def test_frames_do_not_depend_on_the_number_of_threads(astronaut):
    one, three = (frames_of(scene_of(astronaut, speech_like(8), threads=n)) for n in (1, 3))

    assert all(np.array_equal(a, b) for a, b in zip(one, three, strict=True))


def test_a_frame_drawn_alone_equals_the_one_in_sequence(astronaut):
    scene = scene_of(astronaut, speech_like(10))

    alone = prepare(scene).paint(6)

    assert np.array_equal(alone, frames_of(scene)[6])


def test_the_same_seed_repeats_and_another_moves_differently(astronaut):
    first, again, other = (
        prepare(scene_of(astronaut, speech_like(30), seed=seed)).paint(20) for seed in (5, 5, 6)
    )

    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_canceling_stops_soon(astronaut):
    canceled = Event()
    frames = LiteAnimator().animate(scene_of(astronaut, speech_like(500)), canceled)
    next(frames)

    canceled.set()

    with pytest.raises(Canceled):
        list(islice(frames, 3))


@pytest.mark.parametrize("portrait", ["astronaut", "painter"])
def test_lips_shut_for_m_b_p_and_open_for_a(portrait, request, finder):
    canvas_and_face = request.getfixturevalue(portrait)
    curves = curves_of(jaw=[0.0, 0.4, 1.0, 1.0, 1.0], close=[0.0, 1.0, 0.0, 0.0, 0.0])
    frames = frames_of(scene_of(canvas_and_face, curves, motion_scale=0.0))

    silent, pressed, wide = (
        opening_of(finder, frames[index], canvas_and_face[1]) for index in (0, 1, 4)
    )

    assert silent < CLOSED_MM_OF_88 / 88
    assert pressed < CLOSED_MM_OF_88 / 88
    assert wide > OPEN_MM_OF_88 / 88


def test_rounded_vowels_narrow_the_mouth(astronaut, finder):
    curves = curves_of(jaw=[0.3, 0.3], wide=[0.7, -0.7], pucker=[0.0, 0.8])
    frames = frames_of(scene_of(astronaut, curves, motion_scale=0.0))

    spread, rounded = (
        np.ptp(finder.track(frame, astronaut[1]).landmarks[[61, 291], 0]) for frame in frames
    )

    assert rounded < 0.8 * spread


def test_dynamic_scale_opens_the_mouth_more(astronaut, finder):
    curves = curves_of(jaw=[0.5])
    soft, strong = (
        opening_of(
            finder,
            frames_of(scene_of(astronaut, curves, motion_scale=0.0, dynamic_scale=scale))[0],
            astronaut[1],
        )
        for scale in (0.4, 1.6)
    )

    assert strong > 1.8 * soft


def test_without_motion_scale_only_mouth_and_lids_change(astronaut):
    face = astronaut[1]
    frames = frames_of(scene_of(astronaut, speech_like(40), motion_scale=0.0))

    x, y, width, height = (round(value) for value in face.box)
    hair = np.s_[max(0, y - height // 3) : y - height // 8, x : x + width]

    assert all(np.array_equal(frame[hair], frames[0][hair]) for frame in frames)
    assert any(not np.array_equal(frame, frames[0]) for frame in frames)


def test_nothing_moves_far_from_the_face(astronaut):
    canvas, face = astronaut
    frames = frames_of(scene_of(astronaut, speech_like(20), motion_scale=2.0))

    x, y, width, height = face.box
    far = np.ones(canvas.shape[:2], bool)
    reach_x, reach_y = 2.1 * width / 2, 2.1 * height / 2
    rows, columns = np.indices(far.shape)
    far &= ((columns - x - width / 2) / reach_x) ** 2 + ((rows - y - height / 2) / reach_y) ** 2 > 1

    assert far.mean() > 0.2
    assert all(np.array_equal(frame[far], canvas[far]) for frame in frames)


def test_the_border_of_the_picture_stays_where_it_is(astronaut):
    canvas, face = astronaut
    x, y, width, height = (round(value) for value in face.box)
    top, left = max(0, y - height // 2), max(0, x - width // 2)
    tight = np.ascontiguousarray(canvas[top : y + height * 3 // 2, left : x + width * 3 // 2])
    tight = tight[: tight.shape[0] // 2 * 2, : tight.shape[1] // 2 * 2]
    moved = face.moved(1.0, -left, -top)

    frames = frames_of(scene_of((tight, moved), speech_like(12), motion_scale=2.0))

    assert all(np.array_equal(frame[0], tight[0]) for frame in frames)
    assert all(np.array_equal(frame[:, 0], tight[:, 0]) for frame in frames)


def test_grey_pictures_stay_grey(astronaut):
    canvas, face = astronaut
    grey = np.repeat(cv2.cvtColor(canvas, cv2.COLOR_RGB2GRAY)[..., None], 3, axis=2)
    curves = curves_of(jaw=[1.0, 0.3], tongue=[1.0, 0.0])

    frames = frames_of(scene_of((grey, face), curves))

    for frame in frames:
        assert np.ptp(frame.astype(int), axis=2).max() <= 1


def crop_chin(canvas: np.ndarray, face: Face) -> tuple[np.ndarray, Face]:
    """The picture cut off between lips and chin."""
    bottom = int(face.landmarks[17, 1] + 0.3 * (face.landmarks[152, 1] - face.landmarks[17, 1]))
    return np.ascontiguousarray(canvas[: bottom // 2 * 2]), face


def crop_half(canvas: np.ndarray, face: Face) -> tuple[np.ndarray, Face]:
    """The picture cut off through the middle of the face."""
    right = int(face.landmarks[13, 0]) // 2 * 2
    return np.ascontiguousarray(canvas[:, :right]), face


def pad_far(canvas: np.ndarray, face: Face) -> tuple[np.ndarray, Face]:
    """A small face in a wide picture."""
    small = cv2.resize(canvas, (256, 256), interpolation=cv2.INTER_AREA)
    wide = np.full((300, 2000, 3), 128, np.uint8)
    wide[22:278, 1700:1956] = small
    return wide, face.moved(0.5, 1700.0, 22.0)


@pytest.mark.parametrize("change", [crop_chin, crop_half, pad_far])
def test_awkward_framings_are_drawn(astronaut, change):
    portrait = change(*astronaut)

    frames = frames_of(scene_of(portrait, speech_like(6), motion_scale=2.0, dynamic_scale=2.0))

    assert len(frames) == 6
    assert {frame.shape for frame in frames} == {portrait[0].shape}
    assert any(not np.array_equal(frame, portrait[0]) for frame in frames)


def test_a_landscape_canvas_keeps_its_shape(finder):
    canvas = read_picture("two_same_size_faces.jpg", 360)
    face = finder.find(canvas)[1]

    frames = frames_of(scene_of((canvas, face), speech_like(4)))

    assert {frame.shape for frame in frames} == {canvas.shape}


def test_the_other_face_of_two_stays_still(finder):
    canvas = read_picture("two_same_size_faces.jpg", 512)
    speaker, other = finder.find(canvas)[:2]
    frames = frames_of(scene_of((canvas, speaker), speech_like(10)))

    x, y, width, height = (round(value) for value in other.box)
    middle = np.s_[y + height // 4 : y + height * 3 // 4, x + width // 4 : x + width * 3 // 4]

    assert all(np.array_equal(frame[middle], canvas[middle]) for frame in frames)


def test_need_grows_with_the_picture():
    animator = LiteAnimator()

    small, large = animator.need(512, 512, 250), animator.need(1024, 1024, 250)

    assert small.vram_mb == large.vram_mb == 0
    assert small.rss_mb < large.rss_mb < 600


@pytest.mark.parametrize("case", range(6))
def test_any_pose_place_and_size_can_be_drawn(astronaut, case):
    rng = np.random.default_rng(case)
    face = astronaut[1]
    yaw, pitch, roll = rng.uniform(-1.0, 1.0, 3) * (1.0, 0.6, 3.1)
    turn = cv2.Rodrigues(np.array([pitch, yaw, 0.0]))[0]
    turn = cv2.Rodrigues(np.array([0.0, 0.0, roll]))[0] @ turn
    middle = face.landmarks.mean(axis=0)
    size = np.exp(rng.uniform(-1.8, 1.8))
    place = np.array([*rng.uniform(0.0, 300.0, 2), 0.0])
    landmarks = ((face.landmarks - middle) @ turn.T * size + place).astype(np.float32)
    changed = make_face(landmarks, 1.0, load_canonical_mesh())
    noise = rng.integers(0, 255, (300, 260, 3)).astype(np.uint8)

    frames = frames_of(
        scene_of((noise, changed), speech_like(4), motion_scale=2.0, dynamic_scale=2.0)
    )

    assert {frame.shape for frame in frames} == {noise.shape}
