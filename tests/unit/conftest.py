"""Portraits that several tests look at, found once."""

import pytest
from lite_scenes import read_picture

from engine.face.detector import FaceFinder


@pytest.fixture(scope="session")
def finder() -> FaceFinder:
    return FaceFinder()


@pytest.fixture(scope="session")
def astronaut(finder):
    """A photograph smiling with teeth, and its face."""
    canvas = read_picture("astronaut_collins.jpg")
    return canvas, finder.find(canvas)[0]


@pytest.fixture(scope="session")
def painter(finder):
    """A painted, bearded, turned head with shut lips, and its face."""
    canvas = read_picture("vangogh_self.jpg")
    return canvas, finder.find(canvas)[0]
