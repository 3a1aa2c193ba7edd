"""The built-in animator in large pictures: what it works with is small beside the picture."""

import tracemalloc

import numpy as np
import pytest
from lite_scenes import read_picture, scene_of, speech_like

from engine.animators.lite.animator import prepare
from engine.animators.lite.head import Box, CoarseGrid
from engine.face.framing import frame_canvas


@pytest.fixture(scope="module")
def large(finder):
    """A close view, in which nearly everything moves."""
    picture = read_picture("astronaut_collins.jpg", 1024)
    face = finder.find(picture)[0]
    return frame_canvas(
        picture, face, size_px=1024, framing="face", aspect="source", background="#000000"
    )


PREPARING, DRAWING = 12, 3.5
"""Pictures of memory; without bands it was 18 and 5.2."""


def peak_of(work):
    """What a call returns, and the most memory its arrays took, bytes."""
    tracemalloc.start()
    result = work()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return result, peak


def test_preparing_takes_a_few_pictures_of_memory(large):
    _, peak = peak_of(lambda: prepare(scene_of(large, speech_like(5))))

    assert peak < PREPARING * large[0].nbytes


def test_drawing_takes_little_more_than_the_frame(large):
    painter = prepare(scene_of(large, speech_like(12)))
    painter.paint(0)

    _, peak = peak_of(lambda: painter.paint(8))

    assert peak < DRAWING * large[0].nbytes


@pytest.mark.parametrize("rows", [1, 13, 64, 999])
def test_bands_are_what_the_whole_is(rows):
    grid = CoarseGrid(Box(5, 7, 5 + 13 * 20, 7 + 13 * 30), 13)
    values = np.random.default_rng(rows).normal(size=(grid.rows, grid.columns, 2)) * 50
    values = values.astype(np.float32)
    box = Box(9, 30, 200, 390)

    bands = [grid.enlarge(values, band) for band in box.bands(rows)]

    assert max(len(band) for band in bands) <= rows
    whole = grid.enlarge(values, box)
    assert np.allclose(np.concatenate(bands), whole, atol=1e-2)
