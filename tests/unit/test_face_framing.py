"""The canvas has the asked shape, nothing is stretched, and the face is where it is said to be."""

from pathlib import Path

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from engine.contracts import Aspect, Framing
from engine.face.detector import FaceFinder
from engine.face.framing import RATIOS, choose_window, frame_canvas
from engine.face.geometry import Face
from engine.face.pose import make_face
from engine.face.topology import load_canonical_mesh

PORTRAITS = Path(__file__).parents[1] / "data" / "portraits"
MESH = load_canonical_mesh()

Picture = NDArray[np.uint8]

FRAMINGS: tuple[Framing, ...] = ("full", "bust", "face")
ASPECTS: tuple[Aspect, ...] = ("source", "1:1", "9:16", "16:9")


def face_at(x: float, y: float, height: float) -> Face:
    """An average frontal face with its middle at x, y."""
    vertices = MESH.vertices * np.array([1, -1, -1], dtype=np.float32)
    vertices = np.concatenate([vertices, np.zeros((10, 3), np.float32)])
    face = make_face(vertices, 0.9, MESH)
    scale = height / face.box[3]
    left, top, width, tall = (value * scale for value in face.box)
    return face.moved(scale, x - left - width / 2, y - top - tall / 2)


def framed(
    picture: Picture, face: Face, framing: Framing, aspect: Aspect, size_px: int = 256
) -> tuple[Picture, Face]:
    return frame_canvas(
        picture, face, size_px=size_px, framing=framing, aspect=aspect, background="white"
    )


@pytest.mark.parametrize("framing", FRAMINGS)
@pytest.mark.parametrize("aspect", ASPECTS)
@pytest.mark.parametrize("shape", [(451, 800), (1001, 700), (301, 303)])
def test_canvas_has_the_asked_size_and_shape(
    framing: Framing, aspect: Aspect, shape: tuple[int, int]
):
    height, width = shape
    picture = np.full((height, width, 3), 100, np.uint8)
    face = face_at(width * 0.4, height * 0.4, min(shape) * 0.35)

    canvas, _ = framed(picture, face, framing, aspect)

    own = width / height if framing == "full" else 1.0
    assert min(canvas.shape[:2]) == 256
    assert canvas.shape[0] % 2 == canvas.shape[1] % 2 == 0
    assert canvas.shape[1] / canvas.shape[0] == pytest.approx(RATIOS.get(aspect, own), rel=0.01)


@pytest.mark.parametrize("framing", FRAMINGS)
@pytest.mark.parametrize("aspect", ASPECTS)
def test_drawn_circle_stays_round(framing: Framing, aspect: Aspect):
    picture = np.full((1500, 1000, 3), 255, np.uint8)
    cv2.circle(picture, (500, 600), 150, (0, 0, 255), -1, cv2.LINE_AA)

    canvas, _ = framed(picture, face_at(500, 600, 330), framing, aspect, 512)

    rows, columns = np.nonzero((canvas[:, :, 2] > 200) & (canvas[:, :, 0] < 100))
    assert np.ptp(columns) == pytest.approx(np.ptp(rows), rel=0.02)
    assert np.ptp(rows) > 50


def test_full_keeps_the_whole_photo():
    picture = np.zeros((300, 400, 3), np.uint8)
    picture[:, :4] = picture[:, -4:] = picture[:4] = picture[-4:] = (255, 0, 0)

    canvas, _ = framed(picture, face_at(200, 150, 100), "full", "source", 300)

    assert canvas.shape == (300, 400, 3)
    assert np.array_equal(canvas, picture)


def test_full_in_another_shape_shows_all_of_the_photo_in_the_middle():
    rng = np.random.default_rng(0)
    coarse = rng.integers(0, 256, (16, 16, 3), dtype=np.uint8)
    picture = cv2.resize(coarse, (256, 256), interpolation=cv2.INTER_LINEAR)

    canvas, face = framed(picture, face_at(128, 128, 100), "full", "16:9")

    left = (canvas.shape[1] - 256) // 2
    difference = np.abs(canvas[:, left : left + 256].astype(int) - picture)[:, 4:-4]
    assert difference.mean() < 4  # half a pixel of shift gives 3
    assert difference.max() < 30
    assert face.box[0] + face.box[2] / 2 == pytest.approx(left + 128, abs=1)
    # Around it the photo's own colours, darker and without detail.
    assert 20 < canvas[:, : left - 1].mean() < 100
    assert canvas[:, : left - 1].std() < 0.5 * picture.std()


def test_chosen_background_fills_the_room_around_the_photo():
    picture = np.full((400, 200, 3), 10, np.uint8)

    canvas, _ = frame_canvas(
        picture, face_at(100, 100, 80), size_px=256, framing="full", aspect="1:1",
        background="#336699",
    )  # fmt: skip

    assert canvas[5, 5].tolist() == canvas[-5, -5].tolist() == [0x33, 0x66, 0x99]
    assert canvas[128, 128].tolist() == [10, 10, 10]


@pytest.mark.parametrize(("height", "width"), [(2400, 300), (300, 2400)])
def test_long_strips_are_cropped_around_the_face(height: int, width: int):
    picture = np.full((height, width, 3), 60, np.uint8)
    face = face_at(width * 0.8, height * 0.8, 100)

    canvas, placed = framed(picture, face, "full", "source")

    assert min(canvas.shape[:2]) == 256
    assert max(canvas.shape[:2]) <= 2.4 * 256 + 2
    x, y, box_width, box_height = placed.box
    assert x > 0
    assert y > 0
    assert x + box_width < canvas.shape[1]
    assert y + box_height < canvas.shape[0]


def test_bust_is_two_and_a_half_faces_with_the_face_at_47_percent():
    window = choose_window(2000, 2000, face_at(1000, 900, 300), "bust", "source")

    assert window.width == window.height == pytest.approx(750, abs=2)
    assert (1000 - window.x) / window.width == pytest.approx(0.5, abs=0.01)
    assert (900 - window.y) / window.height == pytest.approx(0.47, abs=0.01)


@pytest.mark.parametrize("aspect", ASPECTS)
@pytest.mark.parametrize("framing", ["bust", "face"])
def test_window_is_moved_inside_the_photo(framing: Framing, aspect: Aspect):
    window = choose_window(2000, 1900, face_at(160, 170, 300), framing, aspect)

    assert window.x >= 0
    assert window.y >= 0
    assert window.x + window.width <= 2000
    assert window.y + window.height <= 1900


@pytest.mark.parametrize("aspect", ASPECTS)
@pytest.mark.parametrize("framing", FRAMINGS)
def test_face_is_never_cut_by_the_window(framing: Framing, aspect: Aspect):
    picture = np.full((520, 680, 3), 90, np.uint8)

    canvas, face = framed(picture, face_at(340, 260, 430), framing, aspect)

    x, y, width, height = face.box
    assert x >= 0
    assert y >= 0
    assert x + width <= canvas.shape[1]
    assert y + height <= canvas.shape[0]


def test_room_beside_a_narrow_photo_runs_on_softly():
    ramp = np.linspace(20, 220, 500).astype(np.uint8)[:, None, None]
    picture = np.repeat(np.repeat(ramp, 260, axis=1), 3, axis=2)

    canvas, _ = framed(picture, face_at(130, 230, 200), "bust", "source")

    steps = np.abs(np.diff(canvas[:, :, 0].astype(int), axis=1))
    assert canvas.shape == (256, 256, 3)
    assert steps.max() <= 6  # no visible border between photo and filling


def test_grey_photos_stay_grey():
    rng = np.random.default_rng(1)
    grey = rng.integers(0, 256, (200, 160, 1), dtype=np.uint8).repeat(3, axis=2)

    for framing in FRAMINGS:
        canvas, _ = framed(grey, face_at(80, 90, 120), framing, "16:9", 512)
        assert np.array_equal(canvas[:, :, 0], canvas[:, :, 1])
        assert np.array_equal(canvas[:, :, 0], canvas[:, :, 2])


def test_shrinking_averages_instead_of_skipping_pixels():
    stripes = np.zeros((1200, 1200, 3), np.uint8)
    stripes[:, ::2] = 255

    canvas, _ = framed(stripes, face_at(600, 600, 300), "full", "source", 400)

    assert canvas.std() < 45  # every third column alone would give 127


@pytest.mark.parametrize(("framing", "aspect"), [("full", "9:16"), ("bust", "source")])
def test_face_on_the_canvas_is_where_a_new_search_finds_it(framing: Framing, aspect: Aspect):
    picture = cv2.cvtColor(cv2.imread(str(PORTRAITS / "astronaut_collins.jpg")), cv2.COLOR_BGR2RGB)
    finder = FaceFinder()
    (face,) = finder.find(picture)

    canvas, placed = framed(picture, face, framing, aspect, 512)
    again = finder.track(canvas, placed)

    assert again is not None
    error = np.linalg.norm(again.landmarks[:, :2] - placed.landmarks[:, :2], axis=1).mean()
    assert error < 0.02 * placed.box[3]
    assert again.box == pytest.approx(placed.box, abs=0.05 * placed.box[3])
