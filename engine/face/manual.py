"""A face placed by hand: four points on a drawing in which no face was found.

The average face is laid over the points; where the landmark network sees a face at that place and
agrees with the points, its landmarks are taken instead.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from engine.errors import ErrorCode, InputError
from engine.face.candidates import square_around
from engine.face.detector import FaceFinder
from engine.face.geometry import NUM_LANDMARKS, Face
from engine.face.pose import make_face
from engine.face.topology import (
    LEFT_EYE_INNER,
    LEFT_EYE_OUTER,
    NUM_MESH_VERTICES,
    RIGHT_EYE_INNER,
    RIGHT_EYE_OUTER,
    CanonicalMesh,
    load_canonical_mesh,
)

Points = Sequence[tuple[float, float]]

LEFT_MOUTH_CORNER, RIGHT_MOUTH_CORNER = 61, 291

# An iris is about this share of the eye's width across.
IRIS_RADIUS = 0.21

# Closer than this share of the picture's long side, four points are no face.
MIN_EYE_DISTANCE = 0.01

# The network's landmarks count when all four lie this near to the points, in eye distances.
MAX_DISAGREEMENT = 0.2

# What a person has pointed at is certain.
SCORE = 1.0


def face_at(pixels: NDArray[np.uint8], shares: Points, finder: FaceFinder) -> Face:
    """The face a person pointed at.

    Args:
        pixels: H x W x 3, uint8, RGB, upright.
        shares: left eye, right eye, left and right corner of the mouth as they stand in the
            picture, each x and y as a share of the picture's width and height, 0-1.
        finder: looks whether a face is seen there.

    Raises:
        InputError: BAD_OPTION when the points cannot be those of a face.
    """
    height_px, width_px = pixels.shape[:2]
    points = np.array(shares, np.float32) * np.array([width_px, height_px], np.float32)
    _require_face(points, max(width_px, height_px))
    mesh = load_canonical_mesh()
    drawn = lay_over(average_landmarks(mesh), points)
    seen = finder.look(pixels, square_around(drawn))
    if seen is not None and _disagreement(seen.landmarks, points) <= MAX_DISAGREEMENT:
        drawn = lay_over(seen.landmarks, points)
    return make_face(drawn, SCORE, mesh)


def average_landmarks(mesh: CanonicalMesh) -> NDArray[np.float32]:
    """The average face from the front as 478 landmarks; y down, z smaller = nearer, any unit."""
    landmarks = np.zeros((NUM_LANDMARKS, 3), np.float32)
    landmarks[:NUM_MESH_VERTICES] = mesh.vertices * np.array([1, -1, -1], np.float32)
    corners = ((LEFT_EYE_OUTER, LEFT_EYE_INNER), (RIGHT_EYE_INNER, RIGHT_EYE_OUTER))
    for eye, (outer, inner) in enumerate(corners):
        first = NUM_MESH_VERTICES + 5 * eye
        middle = (landmarks[outer] + landmarks[inner]) / 2
        radius = IRIS_RADIUS * float(np.linalg.norm(landmarks[outer] - landmarks[inner]))
        around = np.array([[0, 0], [1, 0], [0, -1], [-1, 0], [0, 1]], np.float32)
        landmarks[first : first + 5] = middle
        landmarks[first : first + 5, :2] += radius * around
    return landmarks


def lay_over(landmarks: NDArray[np.float32], points: NDArray[np.float32]) -> NDArray[np.float32]:
    """Move, turn, scale and slant landmarks so that eyes and mouth lie nearest to the points."""
    own = _four(landmarks)
    system = np.hstack([own, np.ones((4, 1), np.float32)])
    affine, *_ = np.linalg.lstsq(system, points, rcond=None)
    moved = landmarks.copy()
    moved[:, :2] = landmarks[:, :2] @ affine[:2] + affine[2]
    moved[:, 2] *= float(np.sqrt(abs(np.linalg.det(affine[:2]))))
    return moved.astype(np.float32)


def _four(landmarks: NDArray[np.float32]) -> NDArray[np.float32]:
    """The middle of both eyes and the corners of the mouth, 4 x 2."""
    flat = landmarks[:, :2]
    left = (flat[LEFT_EYE_OUTER] + flat[LEFT_EYE_INNER]) / 2
    right = (flat[RIGHT_EYE_INNER] + flat[RIGHT_EYE_OUTER]) / 2
    return np.stack([left, right, flat[LEFT_MOUTH_CORNER], flat[RIGHT_MOUTH_CORNER]])


def _disagreement(landmarks: NDArray[np.float32], points: NDArray[np.float32]) -> float:
    """Largest distance of the four places from the points, in distances of the eyes."""
    apart = float(np.linalg.norm(points[1] - points[0]))
    return float(np.linalg.norm(_four(landmarks) - points, axis=1).max()) / apart


def _require_face(points: NDArray[np.float32], long_side_px: int) -> None:
    """Refuse points that lie on one spot or line, or on the wrong sides.

    Raises:
        InputError: BAD_OPTION.
    """
    eyes, mouth = points[1] - points[0], points[3] - points[2]
    down = points[2:].mean(axis=0) - points[:2].mean(axis=0)
    apart = float(np.linalg.norm(eyes))
    far_enough = apart >= MIN_EYE_DISTANCE * long_side_px
    is_below = far_enough and float(eyes[0] * down[1] - eyes[1] * down[0]) / apart**2 > 0.2
    is_open = far_enough and float(mouth @ eyes) / apart**2 > 0.1
    if not (is_below and is_open):
        raise InputError(
            ErrorCode.BAD_OPTION,
            option="face points",
            reason="the mouth must lie below both eyes, left points left of right ones",
        )
