"""Head pose and bounds from landmarks: pure geometry, no pictures."""

import cv2
import numpy as np
from numpy.typing import NDArray

from engine.face.geometry import Face
from engine.face.topology import (
    FACE_OVAL,
    LEFT_EYE_OUTER,
    NUM_MESH_VERTICES,
    RIGHT_EYE_OUTER,
    CanonicalMesh,
)

# In face heights; portraits are taken from 0.7 to 1 m, and a head is about 0.2 m high.
CAMERA_DISTANCE = 4.0


def make_face(landmarks: NDArray[np.float32], score: float, mesh: CanonicalMesh) -> Face:
    """Add bounds and pose to landmarks (478 x 3, pixels of the picture)."""
    yaw_deg, pitch_deg, roll_deg = head_pose(landmarks, mesh)
    return Face(landmarks, score, oval_bounds(landmarks), yaw_deg, pitch_deg, roll_deg)


def oval_bounds(landmarks: NDArray[np.float32]) -> tuple[float, float, float, float]:
    """x, y, width, height of the outline of the face, in the landmarks' unit."""
    outline = landmarks[list(FACE_OVAL), :2]
    (left, top), (right, bottom) = outline.min(axis=0), outline.max(axis=0)
    return float(left), float(top), float(right - left), float(bottom - top)


def level_bounds(
    landmarks: NDArray[np.float32],
) -> tuple[tuple[float, float], tuple[float, float], float]:
    """Centre, size and angle of the outline's bounds in a frame in which the eyes are level.

    Returns:
        (x, y) of the centre in the landmarks' unit, (width, height), clockwise angle in radians.
    """
    across = landmarks[RIGHT_EYE_OUTER, :2] - landmarks[LEFT_EYE_OUTER, :2]
    angle = float(np.arctan2(across[1], across[0]))
    cos, sin = np.cos(angle), np.sin(angle)
    to_picture = np.array([[cos, -sin], [sin, cos]])
    outline = landmarks[list(FACE_OVAL), :2] @ to_picture
    low, high = outline.min(axis=0), outline.max(axis=0)
    x, y = to_picture @ ((low + high) / 2)
    width, height = high - low
    return (float(x), float(y)), (float(width), float(height)), angle


def head_pose(landmarks: NDArray[np.float32], mesh: CanonicalMesh) -> tuple[float, float, float]:
    """Yaw, pitch and roll in degrees, signs as in `Face`.

    The canonical mesh is laid over x and y of the landmarks as a camera at portrait distance
    would see it; their z is too flat to be used. The rotation is split as roll * yaw * pitch:
    roll is the turn within the picture, so turning the picture changes roll alone.

    The landmark network draws turned faces a little towards the camera: faces rendered at 15,
    30, 45 and 60 degrees of yaw read 12, 24, 35 and 46. Faces of three portraits laid over the
    canonical mesh and turned by 15, 30 and 45 degrees read 12 to 19, 24 to 33 and 40 to 46. Four
    portraits with ears, neck and hair around the mesh, turned by 15, 25, 35 and 45 degrees from
    their own pose, read 15, 25, 33 and 41 in the mean (deviation 2.5). As they disagree by more
    than there is to correct, all limits on yaw are meant as read; 35 read are 35 to 45 real ones.
    """
    counts = mesh.pose_weights > 0
    target = landmarks[:NUM_MESH_VERTICES][counts, :2].astype(np.float64)
    centre = target.mean(axis=0)
    focal = CAMERA_DISTANCE * float(np.ptp(landmarks[list(FACE_OVAL), 1]))
    camera = np.array([[focal, 0.0, centre[0]], [0.0, focal, centre[1]], [0.0, 0.0, 1.0]])
    # The picture's axes are x right, y down, z away; the mesh has y up and z to the camera.
    source = mesh.vertices[counts].astype(np.float64) * np.array([1.0, -1.0, -1.0])
    _, turn, shift = cv2.solvePnP(source, target, camera, None, flags=cv2.SOLVEPNP_SQPNP)
    _, turn, _ = cv2.solvePnP(source, target, camera, None, turn, shift, True)
    rotation = cv2.Rodrigues(turn)[0]
    yaw = np.arcsin(np.clip(rotation[2, 0], -1.0, 1.0))
    pitch = np.arctan2(rotation[2, 1], rotation[2, 2])
    roll = np.arctan2(rotation[1, 0], rotation[0, 0])
    return float(np.degrees(yaw)), float(np.degrees(pitch)), float(np.degrees(roll))
