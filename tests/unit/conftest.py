"""Portraits that several tests look at, found once."""

from pathlib import Path

import numpy as np
import pytest
import soundfile
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


@pytest.fixture(scope="session")
def speech_16k() -> np.ndarray:
    """Three seconds of a woman reading: "He was not an ill-disposed young man." """
    path = Path(__file__).parents[1] / "data" / "speech" / "en_librivox_austen_0880.wav"
    return soundfile.read(path, dtype="float32")[0]
