"""A face cut by the edge of the picture is told from none at all."""

from pathlib import Path

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from engine.face.cut_off import shows_part_of_face
from engine.face.detector import FaceFinder

PORTRAITS = Path(__file__).parents[1] / "data" / "portraits"


@pytest.fixture(scope="module")
def finder() -> FaceFinder:
    return FaceFinder()


def read(name: str) -> NDArray[np.uint8]:
    return cv2.cvtColor(cv2.imread(str(PORTRAITS / name)), cv2.COLOR_BGR2RGB)


@pytest.mark.parametrize("side", ["left", "right"])
def test_half_a_face_at_the_edge_is_noticed(finder: FaceFinder, side: str) -> None:
    picture = read("astronaut_collins.jpg")
    x, _, width, _ = finder.find(picture)[0].box
    middle = round(x + width / 2)
    half = picture[:, :middle] if side == "left" else picture[:, middle:]

    assert finder.find(half) == []
    assert shows_part_of_face(half, finder)


def test_a_picture_of_things_shows_no_part_of_a_face(finder: FaceFinder) -> None:
    assert not shows_part_of_face(read("noface_coffee.jpg"), finder)
