"""Faces are found where they are, however the picture lies, and nowhere else."""

from pathlib import Path

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from engine.face.detector import FaceFinder, turned
from engine.face.geometry import Face
from engine.face.topology import (
    CHIN_TIP,
    LEFT_EYE_OUTER,
    LEFT_IRIS,
    LEFT_MOUTH_CORNER,
    LOWER_LIP_INNER_MIDDLE,
    RIGHT_EYE_OUTER,
    RIGHT_IRIS,
    RIGHT_MOUTH_CORNER,
)

PORTRAITS = Path(__file__).parents[1] / "data" / "portraits"

Picture = NDArray[np.uint8]


def read(name: str) -> Picture:
    return cv2.cvtColor(cv2.imread(str(PORTRAITS / name)), cv2.COLOR_BGR2RGB)


def pasted(picture: Picture, height: int, width: int, top: int, left: int) -> Picture:
    canvas = np.full((height, width, 3), 140, np.uint8)
    canvas[top : top + picture.shape[0], left : left + picture.shape[1]] = picture
    return canvas


def eye_distance(face: Face) -> float:
    eyes = face.landmarks[[LEFT_EYE_OUTER, RIGHT_EYE_OUTER], :2]
    return float(np.linalg.norm(eyes[1] - eyes[0]))


@pytest.fixture(scope="module")
def finder() -> FaceFinder:
    return FaceFinder()


@pytest.fixture(scope="module")
def astronaut() -> Picture:
    return read("astronaut_collins.jpg")


@pytest.fixture(scope="module")
def astronaut_face(finder: FaceFinder, astronaut: Picture) -> Face:
    return finder.find(astronaut)[0]


def test_landmarks_lie_on_the_face(astronaut_face: Face):
    # Read off an enlarged print of the photograph.
    marked = {
        LEFT_EYE_OUTER: (194, 100),
        RIGHT_EYE_OUTER: (258, 104),
        LEFT_IRIS[0]: (203.5, 101),
        RIGHT_IRIS[0]: (246, 103),
        LEFT_MOUTH_CORNER: (202, 140),
        RIGHT_MOUTH_CORNER: (247, 138.5),
        CHIN_TIP: (225, 178),
    }
    for index, position in marked.items():
        assert astronaut_face.landmarks[index, :2] == pytest.approx(position, abs=4)


def test_box_holds_forehead_to_chin(astronaut_face: Face):
    x, y, width, height = astronaut_face.box

    assert astronaut_face.landmarks[10, 1] == pytest.approx(y, abs=1)
    assert astronaut_face.landmarks[152, 1] == pytest.approx(y + height, abs=1)
    assert 0.7 < width / height < 1.0
    assert astronaut_face.score > 0.85
    assert x > 0


def test_frontal_face_has_small_angles(astronaut_face: Face):
    assert abs(astronaut_face.yaw_deg) < 5
    assert abs(astronaut_face.pitch_deg) < 15
    assert abs(astronaut_face.roll_deg) < 6


def test_mirrored_picture_flips_yaw_and_roll(finder: FaceFinder):
    painting = read("vangogh_self.jpg")

    (face,) = finder.find(painting)
    (mirrored,) = finder.find(np.ascontiguousarray(painting[:, ::-1]))

    assert face.yaw_deg < -20  # looks to the picture's left
    assert mirrored.yaw_deg == pytest.approx(-face.yaw_deg, abs=4)
    assert mirrored.roll_deg == pytest.approx(-face.roll_deg, abs=4)


@pytest.mark.parametrize("angle_deg", [-30, 25])
def test_tilting_the_picture_changes_roll_alone(
    finder: FaceFinder, astronaut: Picture, astronaut_face: Face, angle_deg: int
):
    height, width = astronaut.shape[:2]
    # OpenCV turns counter-clockwise for positive angles.
    matrix = cv2.getRotationMatrix2D((width / 2, height / 2), -angle_deg, 1.0)
    tilted = cv2.warpAffine(astronaut, matrix, (width, height))

    (face,) = finder.find(tilted)

    assert face.roll_deg - astronaut_face.roll_deg == pytest.approx(angle_deg, abs=2)
    assert face.yaw_deg == pytest.approx(astronaut_face.yaw_deg, abs=4)
    assert face.pitch_deg == pytest.approx(astronaut_face.pitch_deg, abs=4)


@pytest.mark.parametrize("turn_deg", [90, 180, 270])
def test_lying_pictures_are_turned_upright(
    finder: FaceFinder, astronaut: Picture, astronaut_face: Face, turn_deg: int
):
    found = finder.find_upright(turned(astronaut, 360 - turn_deg))

    assert found.turn_deg == turn_deg
    assert np.array_equal(found.pixels, astronaut)
    assert found.faces[0].box == pytest.approx(astronaut_face.box, abs=2)


@pytest.mark.parametrize("name", ["astronaut_collins.jpg", "vangogh_self.jpg"])
def test_upright_pictures_are_left_alone(finder: FaceFinder, name: str):
    picture = read(name)

    found = finder.find_upright(picture)

    assert found.turn_deg == 0
    assert found.pixels is picture
    assert len(found.faces) == 1


def test_no_face_in_a_coffee_cup(finder: FaceFinder):
    found = finder.find_upright(read("noface_coffee.jpg"))

    assert found.faces == ()
    assert found.turn_deg == 0


def test_two_faces_are_both_found(finder: FaceFinder):
    faces = finder.find(read("two_same_size_faces.jpg"))

    assert len(faces) == 2
    assert faces[0].box[3] == pytest.approx(faces[1].box[3], rel=0.05)


@pytest.mark.parametrize(
    ("height", "width", "top", "left"),
    [(2400, 300, 1700, 20), (300, 2000, 20, 1600)],
    ids=["tall", "wide"],
)
def test_face_in_the_corner_of_a_long_picture(
    finder: FaceFinder, astronaut: Picture, height: int, width: int, top: int, left: int
):
    small = cv2.resize(astronaut, (260, 260), interpolation=cv2.INTER_AREA)

    (face,) = finder.find(pasted(small, height, width, top, left))

    assert left + 90 < face.box[0] + face.box[2] / 2 < left + 140
    assert top + 40 < face.box[1] + face.box[3] / 2 < top + 90


def test_tiny_face_in_a_large_picture_is_seen(finder: FaceFinder, astronaut: Picture):
    small = cv2.resize(astronaut, (96, 96), interpolation=cv2.INTER_AREA)

    (face,) = finder.find(pasted(small, 1200, 1600, 500, 760))

    assert 12 < face.box[3] < 26


def test_faces_come_largest_first(finder: FaceFinder, astronaut: Picture):
    small = cv2.resize(astronaut, (300, 300), interpolation=cv2.INTER_AREA)
    both = pasted(astronaut, 512, 812, 0, 300)
    both[100:400, :300] = small

    faces = finder.find(both)

    assert len(faces) == 2
    assert faces[0].box[3] > 1.5 * faces[1].box[3]
    assert faces[0].box[0] > 300


def test_strongly_blurred_face_is_still_found(finder: FaceFinder, astronaut: Picture):
    blurred = cv2.GaussianBlur(astronaut, (0, 0), 6)

    (face,) = finder.find(blurred)

    assert face.box[0] + face.box[2] / 2 == pytest.approx(226, abs=12)


def test_landmarks_do_not_depend_on_the_size_of_the_picture(
    finder: FaceFinder, astronaut: Picture, astronaut_face: Face
):
    large = cv2.resize(astronaut, (2600, 2600), interpolation=cv2.INTER_CUBIC)

    (face,) = finder.find(large)

    expected = astronaut_face.moved(2600 / 512, 0.0, 0.0)
    error = np.linalg.norm(face.landmarks[:, :2] - expected.landmarks[:, :2], axis=1).mean()
    assert error < 0.02 * eye_distance(expected)


def test_tracking_follows_a_moved_face(
    finder: FaceFinder, astronaut: Picture, astronaut_face: Face
):
    moved = np.roll(astronaut, (6, -9), axis=(0, 1))

    face = finder.track(moved, astronaut_face)

    assert face is not None
    expected = astronaut_face.moved(1.0, -9.0, 6.0)
    error = np.linalg.norm(face.landmarks[:, :2] - expected.landmarks[:, :2], axis=1).mean()
    assert error < 0.02 * eye_distance(astronaut_face)
    lip = LOWER_LIP_INNER_MIDDLE
    assert face.landmarks[lip, 1] == pytest.approx(expected.landmarks[lip, 1], abs=1.5)


def test_tracking_tells_when_the_face_is_gone(finder: FaceFinder, astronaut_face: Face):
    assert finder.track(read("noface_coffee.jpg"), astronaut_face) is None


@pytest.mark.parametrize("shape", [(1, 1), (2, 300), (48, 48)])
def test_degenerate_pictures_have_no_face(finder: FaceFinder, shape: tuple[int, int]):
    assert finder.find(np.full((*shape, 3), 90, np.uint8)) == []


def test_a_picture_seen_before_is_not_searched_again(finder: FaceFinder, monkeypatch):
    picture = np.rot90(read("astronaut_collins.jpg"), 2).copy()
    first = finder.find_upright(picture)
    monkeypatch.setattr(finder, "find", lambda _pixels: pytest.fail("searched again"))

    again = finder.find_upright(picture.copy())

    assert (first.turn_deg, again.turn_deg) == (180, 180)
    assert again.faces == first.faces
    assert np.array_equal(again.pixels, first.pixels)


def test_beside_a_large_face_nobody_looks_for_tiny_ones(finder: FaceFinder, astronaut: Picture):
    """Somebody far behind is not offered as a speaker; somebody beside is, see above."""
    picture = cv2.resize(astronaut, (1000, 1000), interpolation=cv2.INTER_CUBIC)
    picture[780:1000, 0:220] = cv2.resize(astronaut, (220, 220), interpolation=cv2.INTER_AREA)

    (face,) = finder.find(picture)

    assert face.box[3] > 180
