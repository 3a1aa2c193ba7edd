"""Whether the person in a video is still the person in the photo, and the photo still as sharp.

The face embedding is dlib's 128-number network (`dlib-bin` and `face_recognition_models` from the
package registry; only this benchmark needs them). Below .6 dlib calls two pictures the same person;
two photographs of one man measure .53-.79, different people .8 and more.
"""

from functools import cache
from importlib.util import find_spec
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from engine.face.geometry import Face
from engine.face.topology import FACE_OVAL, LEFT_UPPER_CREASE, OUTER_LIPS, RIGHT_UPPER_CREASE

EYES = (33, 133, 159, 145, 362, 263, 386, 374)
FIVE_POINTS = (263, 362, 33, 133, 2)
"""Corners of the eyes and the base of the nose, in the order of dlib's five-point shape."""
MARGIN_SHARE = 0.12
"""Of the eye distance: how far around mouth and eyes sharpness is not measured."""


class FaceEmbedder:
    """dlib's embedding of faces whose landmarks are known."""

    def __init__(self) -> None:
        import dlib  # noqa: PLC0415 - only this benchmark needs it

        self._dlib = dlib
        spec = find_spec("face_recognition_models")
        if spec is None or not spec.submodule_search_locations:
            raise ImportError("face_recognition_models")
        models = Path(spec.submodule_search_locations[0]) / "models"
        self._network = dlib.face_recognition_model_v1(
            str(models / "dlib_face_recognition_resnet_model_v1.dat")
        )

    def embed(self, picture: NDArray[np.uint8], face: Face) -> NDArray[np.float64]:
        """128 numbers of one face.

        Args:
            picture: H x W x 3, uint8, RGB.
            face: with landmarks in pixels of the picture.
        """
        points = [self._dlib.point(*map(int, np.rint(face.landmarks[i, :2]))) for i in FIVE_POINTS]
        x, y, width, height = (int(value) for value in face.box)
        shape = self._dlib.full_object_detection(
            self._dlib.rectangle(x, y, x + width, y + height), points
        )
        chip = self._dlib.get_face_chip(np.ascontiguousarray(picture), shape, size=150)
        return np.array(self._network.compute_face_descriptor(chip))


@cache
def embedder() -> FaceEmbedder | None:
    """The embedder, None where its packages are not installed."""
    try:
        return FaceEmbedder()
    except ImportError:
        return None


def sharpness(picture: NDArray[np.uint8], face: Face) -> float:
    """Variance of the Laplacian of the face's skin, outside mouth and eyes.

    Args:
        picture: H x W x 3, uint8, RGB.
        face: with landmarks in pixels of the picture.
    """
    mask = np.zeros(picture.shape[:2], np.uint8)
    points = np.rint(face.landmarks[:, :2]).astype(np.int32)
    cv2.fillPoly(mask, [points[list(FACE_OVAL)]], 255)
    margin = max(2, int(MARGIN_SHARE * np.linalg.norm(points[33] - points[263])))
    for part in (OUTER_LIPS, EYES, LEFT_UPPER_CREASE, RIGHT_UPPER_CREASE):
        hull = cv2.convexHull(points[list(part)]) if part is not EYES else None
        holes = [hull] if hull is not None else [points[list(EYES[:4])], points[list(EYES[4:])]]
        for hole in holes:
            cv2.fillConvexPoly(mask, cv2.convexHull(hole), 0)
            cv2.polylines(mask, [cv2.convexHull(hole)], True, 0, 2 * margin)
    mask = cv2.erode(mask, np.ones((5, 5), np.uint8))
    grey = cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY).astype(np.float32)
    values = cv2.Laplacian(grey, cv2.CV_32F)[mask > 0]
    return float(values.var()) if values.size else 0.0
