"""A face that a person marked with four points."""

import numpy as np
import pytest
from PIL import Image

from engine.errors import ErrorCode, InputError
from engine.face.detector import FaceFinder
from engine.face.manual import face_at

PORTRAITS = "tests/data/portraits/"
DRAWING = ((0.38, 0.45), (0.535, 0.45), (0.345, 0.69), (0.51, 0.69))


@pytest.fixture(scope="module")
def finder() -> FaceFinder:
    return FaceFinder()


def pixels_of(name: str) -> np.ndarray:
    with Image.open(PORTRAITS + name) as picture:
        canvas = Image.new("RGBA", picture.size, "white")
        canvas.alpha_composite(picture.convert("RGBA"))
        return np.array(canvas.convert("RGB"))


def test_a_drawing_gets_a_face_where_it_was_marked(finder):
    pixels = pixels_of("clipart_beethoven.png")
    assert finder.find_upright(pixels).faces == (), "the detector sees none"

    face = face_at(pixels, DRAWING, finder)

    height, width = pixels.shape[:2]
    assert face.landmarks.shape == (478, 3)
    for corner, (x, y) in ((61, DRAWING[2]), (291, DRAWING[3])):
        off = face.landmarks[corner, :2] - (x * width, y * height)
        assert np.linalg.norm(off) < 0.03 * width
    left, top, box_width, box_height = face.box
    assert left < 0.36 * width < 0.52 * width < left + box_width
    assert top < 0.4 * height < 0.7 * height < top + box_height


def test_on_a_photo_the_marked_face_is_the_one_that_would_be_found(finder):
    pixels = pixels_of("astronaut_collins.jpg")
    found = finder.find(pixels)[0]
    size = np.array(pixels.shape[1::-1])
    eyes = [found.landmarks[[33, 133], :2].mean(0), found.landmarks[[362, 263], :2].mean(0)]
    shares = [tuple(point / size) for point in (*eyes, *found.landmarks[[61, 291], :2])]

    placed = face_at(pixels, shares, finder)

    apart = np.linalg.norm(eyes[1] - eyes[0])
    off = np.linalg.norm(placed.landmarks[:, :2] - found.landmarks[:, :2], axis=1).mean()
    assert off < 0.05 * apart


@pytest.mark.parametrize(
    "points",
    [
        ((0.5, 0.5),) * 4,
        ((0.4, 0.6), (0.6, 0.6), (0.42, 0.4), (0.58, 0.4)),  # the mouth above the eyes
        ((0.4, 0.4), (0.6, 0.4), (0.58, 0.6), (0.42, 0.6)),  # its corners exchanged
        ((0.4, 0.5), (0.6, 0.5), (0.3, 0.5), (0.7, 0.5)),  # all on a line
    ],
)
def test_points_that_are_no_face_are_refused(finder, points):
    with pytest.raises(InputError) as refusal:
        face_at(pixels_of("astronaut_collins.jpg"), points, finder)

    assert refusal.value.code is ErrorCode.BAD_OPTION
