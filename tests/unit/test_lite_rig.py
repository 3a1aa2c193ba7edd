"""What is measured on one portrait: frame, fields, lips, teeth, eyes, drawings."""

from dataclasses import replace

import cv2
import numpy as np
import pytest

from engine.animators.lite.drawn import measure_drawn_mouth, see_mouth, settle_drawn_lips
from engine.animators.lite.eye_finder import find_eyes
from engine.animators.lite.field import LEFT_MM, STEP_MM, TOP_MM, to_steps
from engine.animators.lite.frame import fit_face_frame
from engine.animators.lite.glasses import wears_glasses
from engine.animators.lite.grain import measure_grain, with_grain
from engine.animators.lite.interior import Layer
from engine.animators.lite.palette import (
    detail_px,
    is_drawing,
    is_grey,
    is_mouth_covered,
    measure_colours,
)
from engine.animators.lite.resample import look_up
from engine.animators.lite.rig import build_rig
from engine.animators.lite.seam import settle_lips
from engine.animators.lite.shapes import AT, NUM_SHAPES, build_handles, measure_lips
from engine.face import topology as topo

SKIN, INK = (224, 178, 150), (60, 30, 30)


@pytest.fixture(scope="module")
def frame(astronaut):
    return fit_face_frame(astronaut[1])


@pytest.fixture(scope="module")
def rig(astronaut):
    return build_rig(*astronaut)


def weights_of(**values):
    weights = np.zeros(NUM_SHAPES, np.float32)
    weights[AT["closed"]] = 1.0
    for name, value in values.items():
        weights[AT[name]] = value
    return weights


def test_frame_is_in_millimetres_with_its_origin_between_the_lips(frame):
    across = frame.local[topo.RIGHT_EYE_OUTER] - frame.local[topo.LEFT_EYE_OUTER]

    assert np.linalg.norm(across) == pytest.approx(88.0, abs=0.1)
    assert across[0] == pytest.approx(88.0, abs=2.0)
    assert np.abs(frame.plane[[13, 14]].mean(axis=0)).max() < 2.0
    assert frame.local[topo.CHIN_TIP, 1] > 25
    assert frame.local[topo.NOSE_TIP, 2] > frame.local[topo.LEFT_EAR, 2] + 30


def test_plane_and_picture_are_each_others_inverse(frame):
    points = np.array([[0, 0], [10, -20], [-30, 5]], np.float32)

    back = frame.to_plane(frame.to_picture(points))

    assert np.allclose(back, points, atol=1e-3)


def test_turned_faces_foreshorten_what_moves_sideways(painter, frame):
    turned = fit_face_frame(painter[1])
    sideways = np.array([[10.0, 0.0, 0.0]], np.float32)

    assert frame.project(sideways)[0, 0] == pytest.approx(10.0, abs=0.3)
    assert turned.project(sideways)[0, 0] < 9.2


def test_fields_pass_through_their_handles(rig):
    handles = build_handles(rig.frame, measure_lips(rig.frame.local))
    inner = np.abs(handles.points[:, 0]) < 60
    inner &= np.abs(handles.points[:, 1] + 10) < 50

    for sheet, chosen in (
        (rig.fields.upper, handles.of_upper),
        (rig.fields.lower, handles.of_lower),
    ):
        points = handles.points[chosen & inner]
        found = rig.fields.sample(sheet, points).transpose(1, 0, 2)
        error = np.abs(found - handles.moves[chosen & inner])
        assert np.median(error) < 0.05
        assert np.percentile(error, 99) < 1.0


def test_fields_are_still_at_their_border(rig):
    moved = rig.fields.forward(weights_of(jaw=1.5, smile=1.0))

    for sheet in moved:
        border = np.concatenate([sheet[0], sheet[-1], sheet[:, 0], sheet[:, -1]])
        assert not border.any()


@pytest.mark.parametrize("pose", [{"jaw": 1.3}, {"pucker": 0.85, "jaw": 0.3}, {"wide": 0.8}])
def test_the_inverse_field_leads_back_to_where_the_skin_lay(rig, pose):
    lower = rig.fields.forward(weights_of(**pose))[1]
    source = np.array([[-12.0, 9.0], [0.0, 12.0], [14.0, 8.0], [0.0, 40.0]], np.float32)
    at = to_steps(source)[None]
    moved = at + look_up(lower, at)

    back = moved + look_up(rig.fields.inverse(lower), moved)

    assert np.abs(back - at).max() * STEP_MM < 0.25


def test_shut_lips_leave_no_gap_and_an_open_jaw_does(rig):
    shut = rig.contours.moved(weights_of())
    wide = rig.contours.moved(weights_of(jaw=1.25))

    assert shut.gap_mm < 0.1
    assert 9.0 < wide.gap_mm < 16.0


def test_lips_never_overlap(rig):
    rolled = rig.contours.moved(weights_of(ff=1.0, smile=-1.0, lower_down=-1.0))

    assert (rolled.table[:, 1] - rolled.table[:, 0]).min() > -1e-4


def draw(frame, shape, *strokes):
    """A flat face with strokes: (points mm, colour, thickness mm or -1 to fill)."""
    canvas = np.full((*shape, 3), SKIN, np.uint8)
    for points, colour, thickness in strokes:
        pixels = np.rint(frame.to_picture(np.asarray(points, np.float32)) * 16).astype(np.int32)
        if thickness < 0:
            cv2.fillPoly(canvas, [pixels], colour, cv2.LINE_AA, 4)
        else:
            width = max(1, round(thickness * frame.px_per_mm))
            cv2.polylines(canvas, [pixels], False, colour, width, cv2.LINE_AA, 4)
    return canvas


@pytest.fixture(scope="module")
def large_frame(astronaut):
    """The astronaut's face three times as large: two pixels a millimetre."""
    return fit_face_frame(astronaut[1].moved(3.0, 0.0, 0.0))


def test_a_drawn_line_is_found_as_a_shut_mouth(large_frame):
    xs = np.linspace(-18, 14, 20)
    line = np.stack([xs, 8 + 0.01 * xs**2], axis=1)
    canvas = draw(large_frame, (900, 1400), (line, INK, 1.5))

    mouth = measure_drawn_mouth(see_mouth(canvas, large_frame), large_frame)
    settled = settle_drawn_lips(large_frame, mouth)

    assert mouth.fill is None
    assert np.allclose(mouth.upper, mouth.lower)
    assert mouth.upper[[0, -1], 0] == pytest.approx([-18, 14], abs=1.5)
    assert mouth.upper[5, 1] == pytest.approx(8.1, abs=0.8)
    assert settled.plane[13, 1] == pytest.approx(8.1, abs=0.8)


def test_a_drawn_open_mouth_keeps_its_filling(large_frame):
    angle = np.linspace(0, 2 * np.pi, 60)
    ring = np.stack([16 * np.cos(angle), 5 + 7 * np.sin(angle)], axis=1)
    canvas = draw(large_frame, (900, 1400), (ring, (150, 40, 60), -1), (ring, INK, 1.2))

    mouth = measure_drawn_mouth(see_mouth(canvas, large_frame), large_frame)

    assert mouth.fill == pytest.approx([150, 40, 60], abs=8)
    assert (mouth.lower - mouth.upper)[5, 1] == pytest.approx(12.8, abs=2.0)


def test_a_face_without_a_drawn_mouth_has_none(large_frame):
    assert see_mouth(draw(large_frame, (900, 1400)), large_frame) is None


def test_the_corners_of_a_narrow_drawn_mouth_go_down_with_the_jaw(frame):
    local = frame.local.copy()
    lips = list({*topo.OUTER_LIPS, *topo.INNER_UPPER_LIP, *topo.INNER_LOWER_LIP})
    local[lips, 0] *= 14 / 25
    narrow = replace(frame, local=local)

    def corner_share(*, drawn: bool) -> float:
        handles = build_handles(narrow, measure_lips(local, drawn=drawn))
        down = handles.moves[:, AT["jaw"], 1]
        corner, middle = (
            np.linalg.norm(handles.points - frame.plane[vertex], axis=1).argmin()
            for vertex in (topo.LEFT_MOUTH_CORNER, 14)
        )
        return float(down[corner] / down[middle])

    assert corner_share(drawn=True) > 0.6
    assert corner_share(drawn=False) < 0.4


def test_drawings_are_told_from_photographs_and_paintings(astronaut, painter, large_frame):
    drawing = draw(large_frame, (900, 1400), ([[-20, 5], [20, 5]], INK, 1.5))

    assert is_drawing(drawing, large_frame)
    assert not is_drawing(astronaut[0], fit_face_frame(astronaut[1]))
    assert not is_drawing(painter[0], fit_face_frame(painter[1]))


def test_an_overexposed_photograph_is_no_drawing(astronaut, frame):
    bright = np.clip(astronaut[0].astype(float) * 2.2, 0, 255).astype(np.uint8)

    assert not is_drawing(bright, frame)


def test_a_flat_mask_over_the_mouth_stays_shut(astronaut, frame):
    canvas = astronaut[0].copy()
    mask = frame.to_picture(np.array([[-55, -25], [55, -25], [45, 55], [-45, 55]], np.float32))
    cv2.fillPoly(canvas, [np.rint(mask).astype(np.int32)], (225, 233, 240))

    rig = build_rig(canvas, astronaut[1])

    assert is_mouth_covered(canvas, frame)
    assert not is_mouth_covered(astronaut[0], frame)
    assert rig.contours.moved(weights_of(jaw=1.25)).gap_mm < 0.1


def test_the_seam_of_shut_lips_is_found_beside_wrong_landmarks(painter):
    canvas, face = painter
    right = settle_lips(canvas, fit_face_frame(face))
    shifted = fit_face_frame(face)
    plane = shifted.plane.copy()
    inner = [*topo.INNER_UPPER_LIP[1:-1], *topo.INNER_LOWER_LIP[1:-1]]
    plane[inner, 1] -= 1.5

    again = settle_lips(canvas, replace(shifted, plane=plane))

    middle = list(topo.INNER_UPPER_LIP[3:8])
    assert np.median(np.abs(again.plane[middle, 1] - right.plane[middle, 1])) < 0.5


def test_an_open_mouth_keeps_its_landmarks(astronaut, frame):
    assert settle_lips(astronaut[0], frame) is frame


def test_the_photos_own_teeth_are_used_where_it_shows_them(rig, painter):
    teeth = rig.mouth.interior.upper_teeth
    painted = build_rig(*painter).mouth.interior.upper_teeth
    opaque = teeth.patch[..., 3] > 250

    left, top = teeth.left, teeth.top
    height, width = opaque.shape
    photo = rig.photo[top : top + height, left : left + width]
    same = (np.abs(teeth.patch[..., :3].astype(int) - photo).max(axis=-1) <= 2) & opaque
    assert same.sum() > 0.3 * opaque.sum()
    assert painted.patch[..., 3].max() == 255


def test_colours_follow_the_picture(astronaut, frame):
    dark = (astronaut[0] * 0.4).astype(np.uint8)

    bright_teeth = measure_colours(astronaut[0], frame).tooth
    dark_teeth = measure_colours(dark, frame).tooth

    assert dark_teeth.mean() < 0.6 * bright_teeth.mean()
    assert not is_grey(astronaut[0])
    grey = np.repeat(astronaut[0][..., :1], 3, axis=2)
    assert is_grey(grey)
    assert np.ptp(measure_colours(grey, frame).tongue) == 0


@pytest.mark.parametrize(("shrink", "low", "high"), [(1, 1.0, 1.6), (2, 1.6, 2.6), (4, 3.0, 5.5)])
def test_the_detail_of_enlarged_pictures_is_measured(astronaut, frame, shrink, low, high):
    canvas = astronaut[0]
    size = (canvas.shape[1], canvas.shape[0])
    small = cv2.resize(canvas, None, fx=1 / shrink, fy=1 / shrink, interpolation=cv2.INTER_AREA)

    enlarged = cv2.resize(small, size, interpolation=cv2.INTER_CUBIC)

    assert low <= detail_px(enlarged, frame) <= high


def test_open_eyes_blink_and_covered_ones_do_not(astronaut, frame):
    canvas = astronaut[0].copy()
    left, top = np.rint(frame.to_picture(frame.plane[[127]])[0]).astype(int)
    right = int(frame.to_picture(frame.plane[[356]])[0, 0])
    height = round(14 * frame.px_per_mm)
    canvas[top - height : top + height, left:right] = 12

    assert len(find_eyes(astronaut[0], frame)) == 2
    assert find_eyes(canvas, frame) == ()


def test_a_shut_lid_hides_the_eyeball(astronaut, rig):
    canvas = rig.photo
    for eye in rig.eyes:
        box = eye.box(canvas.shape[:2], np.zeros(2, np.float32))
        grid = np.meshgrid(np.arange(box.left, box.right), np.arange(box.top, box.bottom))
        unmoved = np.stack(grid, axis=-1).astype(np.float32)
        under = canvas[box.slices]

        shut = eye.paint(rig.texture, under, unmoved, 1.0)
        open_ = eye.paint(rig.texture, under, unmoved, 0.0)

        assert np.abs(open_.astype(int) - under).max() <= 2
        centre = np.s_[box.height // 2 - 1 : box.height // 2 + 2, box.width // 3 : -box.width // 3]
        assert shut[centre].std() < 0.8 * under[centre].std()


def test_the_grid_covers_the_face(frame):
    outline = to_steps(frame.plane[list(topo.FACE_OVAL)])

    assert outline.min() > 3
    assert (outline.max(axis=0) < to_steps(np.array([-LEFT_MM, -TOP_MM + 10]))).all()


def test_glasses_are_seen_by_their_bridge(astronaut, frame):
    canvas = astronaut[0].copy()
    bridge = frame.to_picture(frame.plane[[133, 362]] + np.array([0, -3], np.float32))
    ends = [tuple(int(value) for value in np.rint(end)) for end in bridge]
    cv2.line(canvas, *ends, (40, 40, 40), 2, cv2.LINE_AA)

    assert wears_glasses(canvas, frame)
    assert not wears_glasses(astronaut[0], frame)


def test_drawn_parts_take_the_grain_of_the_picture(astronaut, frame):
    rng = np.random.default_rng(1)
    noise = rng.normal(0, 18, astronaut[0].shape[:2])[..., None]
    noisy = np.clip(astronaut[0] + noise, 0, 255).astype(np.uint8)
    flat = Layer(np.full((20, 60, 4), 180, np.uint8), 0, 0)

    grained = with_grain(flat, measure_grain(noisy, frame))
    calm = with_grain(flat, measure_grain(cv2.GaussianBlur(astronaut[0], (0, 0), 3), frame))

    assert grained.patch[..., 0].std() > 6
    assert calm.patch[..., 0].std() < 2
    assert (grained.patch[..., 3] == 180).all()
