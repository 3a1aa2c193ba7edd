"""The face's own coordinates: millimetres between picture, face plane and head.

Two frames are used everywhere in this animator:

* **local**: 3-D, origin between the lips, x along the line of the outer eye corners towards the
  picture's right, y down the face, z towards the camera; turns with the head. Shapes are
  defined here, so that they foreshorten with the pose.
* **plane**: 2-D, the picture itself, shifted to the origin between the lips, turned by the roll
  of the head and scaled to millimetres. Fields and masks live here.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.face.geometry import Face
from engine.face.topology import (
    FACE_OVAL,
    INNER_LOWER_LIP,
    INNER_UPPER_LIP,
    LEFT_EYE_OUTER,
    RIGHT_EYE_OUTER,
    RIGID_POINTS,
    load_canonical_mesh,
)

OUTER_EYE_DISTANCE_MM = 88.0
"""Outer eye corners of an adult; sets the scale of every millimetre below."""


@dataclass(frozen=True)
class FaceFrame:
    """How one face lies in its picture.

    Attributes:
        px_per_mm: scale of the picture at the face.
        origin_px: 2, float32: point between the lips, in the picture.
        axes: 3 x 3, float32: rows are local x, y, z as directions of the picture
            (x right, y down, z away from the camera).
        turn: 2 x 2, float32: turns a direction of the picture into the plane.
        local: 478 x 3, float32, mm: the landmarks in the local frame.
        plane: 478 x 2, float32, mm: the landmarks in the plane.
        canonical: 468 x 3, float32, mm: the average face, in the local frame's directions.
    """

    px_per_mm: float
    origin_px: NDArray[np.float32]
    axes: NDArray[np.float32]
    turn: NDArray[np.float32]
    local: NDArray[np.float32]
    plane: NDArray[np.float32]
    canonical: NDArray[np.float32]

    def to_plane(self, points_px: NDArray[np.float32]) -> NDArray[np.float32]:
        """Points of the picture (N x 2, pixels) in the plane (N x 2, mm)."""
        moved = (points_px - self.origin_px) @ self.turn.T / np.float32(self.px_per_mm)
        return moved.astype(np.float32)

    def to_picture(self, points_mm: NDArray[np.float32]) -> NDArray[np.float32]:
        """Points of the plane (N x 2, mm) in the picture (N x 2, pixels)."""
        moved = points_mm @ self.turn * np.float32(self.px_per_mm) + self.origin_px
        return moved.astype(np.float32)

    def project(self, moves_mm: NDArray[np.float32]) -> NDArray[np.float32]:
        """Displacements of the local frame (N x 3, mm) as seen in the plane (N x 2, mm)."""
        seen = moves_mm @ self.axes[:, :2] @ self.turn.T
        return seen.astype(np.float32)

    @property
    def ellipse(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Centre and half axes of the face's outline in the plane, mm: 2, 2."""
        outline = self.plane[list(FACE_OVAL)]
        low, high = outline.min(axis=0), outline.max(axis=0)
        return (low + high) / 2, (high - low) / 2

    @property
    def down_px(self) -> NDArray[np.float32]:
        """One millimetre down the face, in pixels of the picture: 2."""
        return np.asarray(self.axes[1, :2] * self.px_per_mm, np.float32)

    @property
    def plane_from_picture(self) -> NDArray[np.float32]:
        """2 x 3 affine matrix: pixels to plane millimetres."""
        linear = self.turn / np.float32(self.px_per_mm)
        return np.column_stack([linear, -linear @ self.origin_px]).astype(np.float32)


def fit_face_frame(face: Face) -> FaceFrame:
    """Lay the local frame into a face by fitting the average face to its rigid points."""
    landmarks = face.landmarks.astype(np.float64)
    canonical = load_canonical_mesh().vertices.astype(np.float64) * (1.0, -1.0, -1.0)
    axes = _fit_rotation(canonical[list(RIGID_POINTS)], landmarks[list(RIGID_POINTS)])
    axes[2] = -axes[2]  # landmarks grow away from the camera, local z towards it

    eyes = landmarks[RIGHT_EYE_OUTER] - landmarks[LEFT_EYE_OUTER]
    scale = max(float(np.linalg.norm(eyes)) / OUTER_EYE_DISTANCE_MM, 1e-3)
    rows = [*INNER_UPPER_LIP[3:8], *INNER_LOWER_LIP[3:8]]
    origin = landmarks[rows].mean(axis=0)

    along = axes[0, :2] / np.linalg.norm(axes[0, :2])
    turn = np.array([[along[0], along[1]], [-along[1], along[0]]])
    local = (landmarks - origin) @ axes.T / scale
    plane = (landmarks[:, :2] - origin[:2]) @ turn.T / scale
    canonical_eyes = np.linalg.norm(canonical[RIGHT_EYE_OUTER] - canonical[LEFT_EYE_OUTER])
    average = canonical * (1.0, 1.0, -1.0) * OUTER_EYE_DISTANCE_MM / canonical_eyes
    return FaceFrame(
        px_per_mm=scale,
        origin_px=origin[:2].astype(np.float32),
        axes=axes.astype(np.float32),
        turn=turn.astype(np.float32),
        local=local.astype(np.float32),
        plane=plane.astype(np.float32),
        canonical=average.astype(np.float32),
    )


def _fit_rotation(source: NDArray[np.float64], target: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rows of the rotation that turns `source` (N x 3) best into `target` (N x 3)."""
    covariance = (source - source.mean(axis=0)).T @ (target - target.mean(axis=0))
    left, _, right = np.linalg.svd(covariance)
    flip = np.diag([1.0, 1.0, np.sign(np.linalg.det(left @ right))])
    turn: NDArray[np.float64] = left @ flip @ right
    return turn
