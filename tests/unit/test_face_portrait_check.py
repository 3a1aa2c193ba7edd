"""What a portrait is refused for, what it is warned of, and what passes."""

from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from engine.contracts import PortraitVerdict
from engine.errors import ErrorCode
from engine.face.detector import FaceFinder
from engine.face.geometry import Face
from engine.face.portrait_check import judge_portrait
from engine.messages import describe

PORTRAITS = Path(__file__).parents[1] / "data" / "portraits"

Picture = NDArray[np.uint8]


def read(name: str) -> Picture:
    return cv2.cvtColor(cv2.imread(str(PORTRAITS / name)), cv2.COLOR_BGR2RGB)


@pytest.fixture(scope="module")
def finder() -> FaceFinder:
    return FaceFinder()


@pytest.fixture(scope="module")
def astronaut() -> Picture:
    return read("astronaut_collins.jpg")


@pytest.fixture(scope="module")
def close_up(astronaut: Picture) -> Picture:
    """The astronaut's face large enough for no warning at all."""
    return cv2.resize(astronaut[20:276, 98:354], (640, 640), interpolation=cv2.INTER_CUBIC)


@pytest.fixture(scope="module")
def close_up_face(finder: FaceFinder, close_up: Picture) -> Face:
    return finder.find(close_up)[0]


def judged(finder: FaceFinder, picture: Picture, **choices: object) -> PortraitVerdict:
    return judge_portrait(picture, finder.find(picture), **choices)


def test_good_photo_passes_without_warnings(close_up: Picture, close_up_face: Face):
    verdict = judge_portrait(close_up, [close_up_face])

    assert verdict.verdict == "ok"
    assert verdict.chosen == 0
    assert verdict.warnings == ()
    assert (verdict.width_px, verdict.height_px) == (640, 640)
    assert verdict.faces[0].box == tuple(round(value) for value in close_up_face.box)


def test_picture_without_a_face_is_refused(finder: FaceFinder):
    verdict = judged(finder, read("noface_coffee.jpg"))

    assert verdict.verdict == "no_face"
    assert verdict.chosen is None


def test_small_face_in_a_large_picture_is_refused_unless_forced(
    finder: FaceFinder, astronaut: Picture
):
    picture = np.full((700, 1000, 3), 130, np.uint8)
    picture[300:442, 500:642] = cv2.resize(astronaut, (142, 142), interpolation=cv2.INTER_AREA)

    refused = judged(finder, picture)
    forced = judged(finder, picture, force=True)

    assert refused.verdict == "face_too_small"
    assert describe(ErrorCode(refused.verdict), refused.values).sentence == (
        f"The face is too small: {refused.values['face_px']} pixels high, at least 50 are needed."
    )
    assert 25 <= refused.values["face_px"] <= 35
    assert forced.verdict == "ok"
    assert "face_too_small" in forced.warnings


def test_small_picture_full_of_face_passes_with_a_warning(finder: FaceFinder, astronaut: Picture):
    small = cv2.resize(astronaut, (150, 150), interpolation=cv2.INTER_AREA)

    verdict = judged(finder, small)

    assert verdict.verdict == "ok"
    assert verdict.warnings == ("low_resolution",)


@pytest.mark.parametrize(
    ("yaw_deg", "verdict", "warnings"),
    [
        (-20, "ok", ()),
        (30, "ok", ("face_turned",)),
        (-30, "ok", ("face_turned",)),
        (40, "face_turned", ()),
    ],
)
def test_turned_head(
    close_up: Picture, close_up_face: Face, yaw_deg: int, verdict: str, warnings: tuple[str, ...]
):
    result = judge_portrait(close_up, [replace(close_up_face, yaw_deg=yaw_deg)])

    assert (result.verdict, result.warnings) == (verdict, warnings)
    assert result.values["yaw_deg"] == abs(yaw_deg)


def test_force_lets_a_turned_head_pass_with_a_warning(close_up: Picture, close_up_face: Face):
    result = judge_portrait(close_up, [replace(close_up_face, yaw_deg=50)], force=True)

    assert result.verdict == "ok"
    assert result.warnings == ("face_turned",)


def test_several_faces_take_the_largest_and_say_so(finder: FaceFinder):
    verdict = judged(finder, read("two_same_size_faces.jpg"))

    assert verdict.verdict == "ok"
    assert verdict.chosen == 0
    assert verdict.warnings[0] == "several_faces"
    assert verdict.values["count"] == 2


def test_chosen_face_is_taken_without_that_warning(finder: FaceFinder):
    verdict = judged(finder, read("two_same_size_faces.jpg"), face_index=1)

    assert verdict.chosen == 1
    assert "several_faces" not in verdict.warnings


@pytest.mark.parametrize("face_index", [2, -1])
def test_wrong_face_number_is_refused(finder: FaceFinder, face_index: int):
    verdict = judged(finder, read("two_same_size_faces.jpg"), face_index=face_index)

    assert verdict.verdict == "face_number_wrong"
    assert verdict.values["count"] == 2


def test_mouth_outside_the_picture_is_refused_even_when_forced(
    close_up: Picture, close_up_face: Face
):
    x, y, _, height = close_up_face.box
    cut = close_up[: int(y + 0.75 * height)]

    verdict = judge_portrait(cut, [close_up_face], force=True)

    assert verdict.verdict == "face_cut_off"
    assert x > 0


def test_chin_outside_the_picture_is_warned_of(close_up: Picture, close_up_face: Face):
    _, y, _, height = close_up_face.box

    verdict = judge_portrait(close_up[: int(y + 0.95 * height)], [close_up_face])

    assert verdict.verdict == "ok"
    assert "face_cut_off" in verdict.warnings


def test_blurred_face_is_warned_of(finder: FaceFinder, close_up: Picture):
    blurred = cv2.GaussianBlur(close_up, (0, 0), 9)

    assert judged(finder, blurred).warnings == ("photo_blurred",)


def test_dark_face_is_warned_of(finder: FaceFinder, close_up: Picture):
    dark = (close_up * 0.15).astype(np.uint8)

    assert judged(finder, dark).warnings == ("photo_too_dark",)


def test_dark_skin_in_normal_light_is_not_taken_for_a_dark_photo(
    close_up: Picture, close_up_face: Face
):
    # The deepest skin tones have about L* 25 in the shade and 40 in the light.
    deep = (close_up * 0.45).astype(np.uint8)

    assert judge_portrait(deep, [close_up_face]).warnings == ()


def test_burnt_out_face_is_warned_of(close_up: Picture, close_up_face: Face):
    bright = np.clip(close_up * 1.7 + 70.0, 0, 255).astype(np.uint8)

    assert judge_portrait(bright, [close_up_face]).warnings == ("photo_overexposed",)


@pytest.mark.parametrize("colour", [(150, 190, 215), (30, 30, 32), (225, 225, 225)])
def test_covered_mouth_is_warned_of(
    finder: FaceFinder, close_up: Picture, close_up_face: Face, colour: tuple[int, int, int]
):
    covered = close_up.copy()
    edge = close_up_face.landmarks[[50, 5, 280, 361, 365, 377, 148, 136, 132], :2]
    hull = cv2.convexHull(np.round(edge).astype(np.int32))
    mask = np.zeros(covered.shape[:2], np.uint8)
    cv2.fillConvexPoly(mask, hull, 1)
    folds = 6 * np.sin(np.arange(covered.shape[0]) / 6.0)[:, None, None]
    cloth = np.clip(np.array(colour) + folds + np.zeros_like(covered), 0, 255)
    covered[mask > 0] = cloth[mask > 0]

    assert "mouth_covered" in judged(finder, covered).warnings


def test_dark_glasses_do_not_count_as_a_covered_mouth(close_up: Picture, close_up_face: Face):
    glasses = close_up.copy()
    (left, top), (right, bottom) = close_up_face.landmarks[[127, 347], :2]
    cv2.rectangle(glasses, (int(left), int(top) - 25), (int(right) + 60, int(bottom)), 10, -1)

    assert "mouth_covered" not in judge_portrait(glasses, [close_up_face]).warnings


@pytest.mark.parametrize("name", ["astronaut_collins.jpg", "vangogh_self.jpg"])
def test_bearded_and_smiling_mouths_are_not_covered(finder: FaceFinder, name: str):
    assert "mouth_covered" not in judged(finder, read(name)).warnings
