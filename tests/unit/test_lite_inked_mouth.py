"""Drawings whose open mouth stands upright at its ends: found, taken away, drawn anew."""

import cv2
import numpy as np
import pytest
from lite_scenes import curves_of, scene_of

from engine.animators.lite.animator import prepare
from engine.animators.lite.drawn import see_mouth
from engine.animators.lite.frame import fit_face_frame
from engine.animators.lite.inked_mouth import InkedMouth, find_inked_mouth

SKIN, INK, INSIDE, TEETH = (224, 178, 150), (20, 10, 10), (110, 20, 30), (250, 250, 250)
SIZE = (600, 900)
BOX = ((-26, -8), (26, -8), (26, 12), (-26, 12))
ROW_OF_TEETH = ((-16, -8), (16, -8), (16, 2), (-16, 2))
DOTS = ((-32, 2), (-10, 17), (10, 17), (33, 4))
LINE_PX = 6
"""Thickness of the line: what a smoothed stroke of 4 pixels covers."""


@pytest.fixture(scope="module")
def face(astronaut):
    """The astronaut's face twice as large: 1.4 pixels a millimetre."""
    return astronaut[1].moved(2.0, 0.0, 0.0)


@pytest.fixture(scope="module")
def frame(face):
    return fit_face_frame(face)


def polygon(frame, points) -> np.ndarray:
    return np.rint(frame.to_picture(np.asarray(points, np.float32)) * 16).astype(np.int32)


def outlined(frame, canvas, points) -> None:
    cv2.polylines(canvas, [polygon(frame, points)], True, INK, LINE_PX - 2, cv2.LINE_AA, 4)


def bearded(frame) -> np.ndarray:
    """A flat face with some dots of a beard."""
    canvas = np.full((*SIZE, 3), SKIN, np.uint8)
    for x, y in np.rint(frame.to_picture(np.asarray(DOTS, np.float32))).astype(int).tolist():
        cv2.circle(canvas, (x, y), 2, INK, -1)
    return canvas


def drawing(frame, *, inside=INSIDE, mouth=BOX, teeth=ROW_OF_TEETH, tilt=0.0) -> np.ndarray:
    """A flat face with dots of a beard around an open mouth with teeth."""
    canvas = bearded(frame)

    def tilted(points):
        return [(x, y + tilt * x) for x, y in points]

    for points, colour in ((tilted(mouth), inside), (tilted(teeth), TEETH)):
        cv2.fillPoly(canvas, [polygon(frame, points)], colour, cv2.LINE_AA, 4)
    outlined(frame, canvas, tilted(mouth))
    return canvas


def near_mouth(frame, picture) -> np.ndarray:
    """The part of a picture around the mouth, within the dots beside it."""
    low, high = frame.to_picture(np.array([[-30, -14], [30, 30]], np.float32)).astype(int)
    return picture[low[1] : high[1], low[0] : high[0]].astype(int)


def like(picture, colour, by: int = 40) -> np.ndarray:
    return np.abs(picture - np.array(colour)).max(axis=-1) < by


def largest(mask) -> tuple[int, int, int]:
    """Width, height, and how much of the mask is not in its largest part, pixels."""
    _, _, stats, _ = cv2.connectedComponentsWithStats(mask.astype(np.uint8))
    best = stats[1:][stats[1:, 4].argmax()]
    return int(best[2]), int(best[3]), int(mask.sum() - best[4])


def inked_in(canvas, frame) -> InkedMouth | None:
    seen = see_mouth(canvas, frame)
    return None if seen is None else find_inked_mouth(canvas, frame, seen)


def mouths(frame, face, canvas) -> list[np.ndarray]:
    """What is around the mouth when it is shut, and when it is open."""
    curves = curves_of(jaw=np.repeat([0.0, 1.0], 8))
    painter = prepare(scene_of((canvas, face), curves, motion_scale=0.0))
    return [near_mouth(frame, painter.paint(index)) for index in (2, 14)]


def test_ink_width_of_line_and_colours_are_read(frame):
    mouth = inked_in(drawing(frame), frame)

    assert mouth.ink == pytest.approx(INK, abs=12)
    assert mouth.inside == pytest.approx(INSIDE, abs=6)
    assert mouth.teeth == pytest.approx(TEETH, abs=6)
    assert mouth.line_px == pytest.approx(LINE_PX, abs=1)
    assert mouth.teeth_range == pytest.approx([-16 / 27, 16 / 27], abs=0.1)


def test_the_bare_drawing_keeps_a_beard_beside_its_mouth(frame):
    mouth = inked_in(drawing(frame), frame)

    assert np.abs(mouth.bare.astype(int) - bearded(frame)).max() <= 12


@pytest.mark.parametrize("inside", [INSIDE, INK])
def test_a_shut_mouth_is_one_line(frame, face, inside):
    shut, _ = mouths(frame, face, drawing(frame, inside=inside, mouth=BOX))
    line = like(shut, INK, 60)
    width, _, beside = largest(line)

    assert not like(shut, TEETH, 60).any()
    assert width > 44 * frame.px_per_mm
    assert line[: shut.shape[0] // 2].sum(axis=0).max() <= LINE_PX + 2
    assert beside == pytest.approx(2 * np.pi * 2.3**2, rel=0.4)  # two dots of the beard


@pytest.mark.parametrize("inside", [INSIDE, INK])
def test_an_open_mouth_has_teeth_above_its_dark_inside(frame, face, inside):
    _, open_ = mouths(frame, face, drawing(frame, inside=inside))
    teeth, dark = like(open_, TEETH), like(open_, inside)
    rows = np.flatnonzero(teeth.any(axis=1))
    middle = open_.shape[1] // 2

    assert largest(teeth)[2] == 0, "no splinters"
    assert len(rows) > 3 * frame.px_per_mm
    assert dark[rows[-1] + 4, middle]
    assert largest(like(open_, INK, 60))[1] > 10 * frame.px_per_mm


def test_the_line_is_tilted_as_the_mouth_was(frame, face):
    shut, _ = mouths(frame, face, drawing(frame, tilt=0.15))
    line = like(shut, INK, 60)
    _, labels, stats, _ = cv2.connectedComponentsWithStats(line.astype(np.uint8))
    rows, columns = np.nonzero(labels == 1 + stats[1:, 4].argmax())
    roll = frame.turn[0, 1] / frame.turn[0, 0]  # of the head in the picture

    assert np.polyfit(columns, rows, 1)[0] == pytest.approx(0.15 + roll, abs=0.05)


def test_the_mouth_goes_with_the_head(frame, face):
    painter = prepare(scene_of((drawing(frame), face), curves_of(jaw=np.zeros(2))))
    painter.plan.shapes[1], painter.plan.head[0] = painter.plan.shapes[0], 0.0
    painter.plan.head[1] = [0, 0, 0, 4, -3, 0]  # mm across and down

    def middle(index: int) -> np.ndarray:
        line = like(painter.paint(index).astype(int), INK, 60).astype(np.uint8)
        _, _, stats, centres = cv2.connectedComponentsWithStats(line)
        return centres[1:][stats[1:, 4].argmax()]

    went = frame.plane_from_picture[:, :2] @ (middle(1) - middle(0))

    assert went == pytest.approx([4, -3], abs=0.5)


def test_ellipses_lines_and_what_reaches_the_chin_are_left_alone(frame):
    angle = np.linspace(0, 2 * np.pi, 60)
    ellipse = np.stack([26 * np.cos(angle), 2 + 10 * np.sin(angle)], axis=1)
    to_chin = [*BOX[:2], (26, 60), (-26, 60)]
    flat = ((-26, 1), (26, 1), (26, 2), (-26, 2))

    assert inked_in(drawing(frame, mouth=ellipse.tolist()), frame) is None
    assert inked_in(drawing(frame, mouth=to_chin), frame) is None
    assert inked_in(drawing(frame, mouth=flat, teeth=flat), frame) is None
    assert inked_in(np.full((*SIZE, 3), SKIN, np.uint8), frame) is None
