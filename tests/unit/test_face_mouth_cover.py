"""Hands, microphones and patterned masks before the mouth are noticed, beards are not."""

from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from engine.face.detector import FaceFinder
from engine.face.geometry import Face
from engine.face.portrait_check import judge_portrait
from engine.face.topology import FACE_OVAL

TESTS = Path(__file__).parents[1]
ASTRONAUT = TESTS / "data" / "portraits" / "astronaut_collins.jpg"
SAMPLES = TESTS.parent / "assets" / "samples"

Picture = NDArray[np.uint8]
Draw = Callable[[Picture, NDArray[np.float32], float], None]


def read(path: Path) -> Picture:
    return cv2.cvtColor(cv2.imread(str(path)), cv2.COLOR_BGR2RGB)


def at(points: NDArray[np.float32]) -> NDArray[np.int32]:
    return np.rint(points).astype(np.int32)


def microphone(picture: Picture, points: NDArray[np.float32], eyes: float) -> None:
    x, y = at(points[[13, 14]].mean(axis=0) + np.array([0, 0.12 * eyes]))
    cv2.line(picture, (x, y), (x + 12, y + round(2 * eyes)), (38, 38, 42), round(0.3 * eyes))
    for share, grey in ((0.36, 45), (0.28, 62), (0.16, 90)):
        cv2.circle(picture, (x, y), round(share * eyes), (grey, grey, grey), -1, cv2.LINE_AA)


def checked_mask(picture: Picture, points: NDArray[np.float32], eyes: float) -> None:
    below_eyes = [one for one in FACE_OVAL if points[one, 1] > points[5, 1]]
    region = np.zeros(picture.shape[:2], np.uint8)
    cv2.fillPoly(region, [at(points[below_eyes])], 1)
    rows, columns = np.indices(region.shape) // round(0.14 * eyes)
    cloth = np.where(((rows + columns) % 2)[..., None], (200, 60, 60), (240, 235, 225))
    picture[region > 0] = cloth[region > 0]


def hand(picture: Picture, points: NDArray[np.float32], eyes: float) -> None:
    x, y = points[[13, 14]].mean(axis=0)
    skin = picture[tuple(at(points[50])[::-1])].astype(int)
    for finger in range(4):
        tip = (round(x - 0.38 * eyes), round(y + (0.2 * finger - 0.3) * eyes))
        wrist = (round(x + 2 * eyes), tip[1] + round(0.4 * eyes))
        for width, light in ((0.22, 0.6), (0.18, 0.85), (0.1, 1.0)):
            colour = tuple(int(value) for value in skin * light)
            cv2.line(picture, tip, wrist, colour, round(width * eyes), cv2.LINE_AA)


@pytest.fixture(scope="module")
def finder() -> FaceFinder:
    return FaceFinder()


@pytest.fixture(scope="module")
def face(finder: FaceFinder) -> Face:
    return finder.find(read(ASTRONAUT))[0]


@pytest.mark.parametrize("draw", [microphone, checked_mask, hand])
def test_things_before_the_mouth_are_warned_of(finder: FaceFinder, face: Face, draw: Draw):
    picture = read(ASTRONAUT)
    points = face.landmarks[:, :2]
    draw(picture, points, float(np.linalg.norm(points[263] - points[33])))

    verdict = judge_portrait(picture, finder.find(picture), finder=finder)

    assert verdict.verdict == "ok"
    assert "mouth_covered" in verdict.warnings


def test_a_free_mouth_is_not(finder: FaceFinder, face: Face):
    verdict = judge_portrait(read(ASTRONAUT), [face], finder=finder)

    assert "mouth_covered" not in verdict.warnings


def test_a_face_that_was_judged_is_judged_again_without_the_networks(face: Face):
    finder, picture = FaceFinder(), read(ASTRONAUT)
    first = judge_portrait(picture, [face], finder=finder)
    finder.look = None  # whoever would look at the face again fails

    assert judge_portrait(picture, [face], finder=finder) == first


def test_neither_are_painted_faces(finder: FaceFinder):
    picture = read(SAMPLES / "american_gothic.jpg")
    faces = finder.find(picture)

    told = [judge_portrait(picture, faces, index, finder=finder).warnings for index in (0, 1)]

    assert "mouth_covered" not in told[0] + told[1]
