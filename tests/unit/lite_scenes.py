"""Scenes for the tests of the built-in animator."""

from fractions import Fraction
from pathlib import Path

import cv2
import numpy as np

from engine.animators.animator import Scene
from engine.face.detector import FaceFinder
from engine.face.geometry import Face
from engine.lipsync.curves import MouthCurves

PORTRAITS = Path(__file__).parents[1] / "data" / "portraits"


def read_picture(name: str, side_px: int = 512) -> np.ndarray:
    """A portrait with this short side, both sides even, RGB."""
    picture = cv2.imread(str(PORTRAITS / name))[..., ::-1]
    scale = side_px / min(picture.shape[:2])
    width, height = (round(picture.shape[axis] * scale / 2) * 2 for axis in (1, 0))
    resized = cv2.resize(picture, (width, height), interpolation=cv2.INTER_AREA)
    return np.ascontiguousarray(resized)


def curves_of(**values) -> MouthCurves:
    """Curves of as many frames as the longest list; what is not given stays 0."""
    count = max(len(row) for row in values.values())
    zero = np.zeros(count, np.float32)
    rows = {
        name: np.asarray(values.get(name, zero), np.float32)
        for name in ("jaw", "wide", "pucker", "close", "fv", "teeth", "tongue", "loudness")
    }
    speaking = np.asarray(values.get("speaking", zero + 1), np.float32)
    posteriors = np.eye(15, dtype=np.float32)[np.zeros(count, int)]
    return MouthCurves(posteriors, **rows, speaking=speaking, rate_hz=25)


def speech_like(count: int) -> MouthCurves:
    """A mouth that babbles."""
    t = np.arange(count) / 25
    return curves_of(
        jaw=np.abs(np.sin(9 * t)),
        wide=np.sin(4 * t),
        pucker=np.maximum(np.sin(3 * t), 0),
        close=np.clip(np.sin(7 * t) * 3 - 2, 0, 1),
        loudness=np.abs(np.sin(2 * t)),
    )


def scene_of(portrait: tuple[np.ndarray, Face], curves: MouthCurves, **choices) -> Scene:
    """A scene at 25 frames a second; the sound itself is not needed."""
    canvas, face = portrait
    seed = choices.pop("seed", 3)
    return Scene(canvas, face, curves, Path("unused.wav"), fps=Fraction(25), seed=seed, **choices)


def opening_of(finder: FaceFinder, frame: np.ndarray, face: Face) -> float:
    """Distance of the inner lips in a frame, as a share of the outer eye distance."""
    found = finder.track(frame, face)
    lips, eyes = found.landmarks[[13, 14], :2], found.landmarks[[33, 263], :2]
    return float(np.linalg.norm(lips[1] - lips[0]) / np.linalg.norm(eyes[1] - eyes[0]))
