"""The built-in animator as its callers see it: frames of a scene."""

from fractions import Fraction
from pathlib import Path
from threading import Event

import cv2
import numpy as np
import pytest

from engine.animators.animator import Scene
from engine.animators.lite.animator import LiteAnimator
from engine.errors import Canceled
from engine.face.detector import FaceFinder
from engine.face.geometry import Face
from engine.lipsync.curves import MouthCurves

DATA = Path(__file__).parents[1] / "data"


def curves_of(**values):
    """Curves of as many frames as the longest list; what is not given stays 0."""
    count = max(len(row) for row in values.values())
    zero = np.zeros(count, np.float32)
    rows = {
        name: np.asarray(values.get(name, zero), np.float32)
        for name in ("jaw", "wide", "pucker", "close", "fv", "teeth", "tongue", "loudness")
    }
    speaking = np.asarray(values.get("speaking", zero + 1), np.float32)
    return MouthCurves(np.eye(15, dtype=np.float32)[zero.astype(int)], **rows, speaking=speaking)


@pytest.fixture(scope="module")
def finder() -> FaceFinder:
    return FaceFinder()


def read_picture(name: str, side_px: int = 512):
    picture = cv2.imread(str(DATA / "portraits" / name))[..., ::-1]
    scale = side_px / min(picture.shape[:2])
    width, height = (round(picture.shape[axis] * scale / 2) * 2 for axis in (1, 0))
    return cv2.resize(picture, (width, height), interpolation=cv2.INTER_AREA)


@pytest.fixture(scope="module")
def astronaut(finder):
    canvas = np.ascontiguousarray(read_picture("astronaut_collins.jpg"))
    return canvas, finder.find(canvas)[0]


def scene_of(portrait: tuple[np.ndarray, Face], curves: MouthCurves, **choices) -> Scene:
    canvas, face = portrait
    return Scene(
        canvas,
        face,
        curves,
        Path("unused.wav"),
        fps=Fraction(25),
        seed=choices.pop("seed", 3),
        **choices,
    )


def speech_like(count: int) -> MouthCurves:
    t = np.arange(count) / 25
    return curves_of(
        jaw=np.abs(np.sin(9 * t)), wide=np.sin(4 * t), pucker=np.maximum(np.sin(3 * t), 0),
        close=np.maximum(np.sin(7 * t) * 3 - 2, 0), loudness=np.abs(np.sin(2 * t)),
    )  # fmt: skip


def frames_of(scene: Scene) -> list[np.ndarray]:
    return list(LiteAnimator().animate(scene, Event()))


def test_yields_every_frame_in_the_size_of_the_canvas(astronaut):
    frames = frames_of(scene_of(astronaut, speech_like(7)))

    assert len(frames) == 7
    assert {frame.shape for frame in frames} == {astronaut[0].shape}
    assert all(frame.dtype == np.uint8 for frame in frames)


def test_frames_do_not_depend_on_the_number_of_threads(astronaut):
    one, three = (frames_of(scene_of(astronaut, speech_like(8), threads=n)) for n in (1, 3))

    assert all(np.array_equal(a, b) for a, b in zip(one, three, strict=True))


def test_canceling_stops_soon(astronaut):
    canceled = Event()
    frames = LiteAnimator().animate(scene_of(astronaut, speech_like(500)), canceled)
    next(frames)

    canceled.set()

    with pytest.raises(Canceled):
        for _ in range(3):
            next(frames)
