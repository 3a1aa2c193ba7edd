"""The numbering of the face landmarks and the canonical face mesh.

Owns the facts every user of landmarks shares (MediaPipe's public numbering); never looks at a
picture. "Left" and "right" mean the side in an upright, unmirrored picture, so `LEFT_EYE` is on
the left of the picture and is the person's right eye.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

FACE_ASSETS_DIR = Path(__file__).resolve().parents[2] / "assets" / "face"

NUM_MESH_VERTICES = 468

FACE_OVAL = (
    10, 338, 297, 332, 284, 251, 389, 356, 454, 323, 361, 288, 397, 365, 379, 378, 400, 377,
    152, 148, 176, 149, 150, 136, 172, 58, 132, 93, 234, 127, 162, 21, 54, 103, 67, 109,
)  # fmt: skip
"""Outline of the face, clockwise in the picture from the middle of the forehead."""

# Lips: four rows of 11, each from the left corner to the right corner of the picture.
OUTER_UPPER_LIP = (61, 185, 40, 39, 37, 0, 267, 269, 270, 409, 291)
OUTER_LOWER_LIP = (61, 146, 91, 181, 84, 17, 314, 405, 321, 375, 291)
INNER_UPPER_LIP = (78, 191, 80, 81, 82, 13, 312, 311, 310, 415, 308)
INNER_LOWER_LIP = (78, 95, 88, 178, 87, 14, 317, 402, 318, 324, 308)
OUTER_LIPS = OUTER_UPPER_LIP + OUTER_LOWER_LIP[-2:0:-1]
"""Closed ring of 20, clockwise from the left corner."""
INNER_LIPS = INNER_UPPER_LIP + INNER_LOWER_LIP[-2:0:-1]
"""Closed ring of 20 around the opening of the mouth, clockwise from the left corner."""

UPPER_LIP_INNER_MIDDLE = 13
LOWER_LIP_INNER_MIDDLE = 14
UPPER_LIP_OUTER_MIDDLE = 0
LOWER_LIP_OUTER_MIDDLE = 17
LEFT_MOUTH_CORNER = 61
RIGHT_MOUTH_CORNER = 291

# Lids: nine each, from the outer corner to the corner at the nose.
LEFT_UPPER_LID = (33, 246, 161, 160, 159, 158, 157, 173, 133)
LEFT_LOWER_LID = (33, 7, 163, 144, 145, 153, 154, 155, 133)
RIGHT_UPPER_LID = (263, 466, 388, 387, 386, 385, 384, 398, 362)
RIGHT_LOWER_LID = (263, 249, 390, 373, 374, 380, 381, 382, 362)
# Rows next to the lids; the upper one follows the crease. Outer side first, corners left out.
LEFT_UPPER_CREASE = (247, 30, 29, 27, 28, 56, 190)
LEFT_LOWER_CREASE = (25, 110, 24, 23, 22, 26, 112)
RIGHT_UPPER_CREASE = (467, 260, 259, 257, 258, 286, 414)
RIGHT_LOWER_CREASE = (255, 339, 254, 253, 252, 256, 341)
LEFT_EYE_OUTER = 33
LEFT_EYE_INNER = 133
RIGHT_EYE_INNER = 362
RIGHT_EYE_OUTER = 263
# Iris: the centre first, then four points around it. Not part of the mesh.
LEFT_IRIS = (468, 469, 470, 471, 472)
RIGHT_IRIS = (473, 474, 475, 476, 477)

# Brows: five each, from the outer end to the nose.
LEFT_BROW_UPPER = (70, 63, 105, 66, 107)
LEFT_BROW_LOWER = (46, 53, 52, 65, 55)
RIGHT_BROW_UPPER = (300, 293, 334, 296, 336)
RIGHT_BROW_LOWER = (276, 283, 282, 295, 285)

NOSE_RIDGE = (168, 6, 197, 195, 5, 4, 1)
NOSE_TIP = 1
NOSE_BASE = 2
LEFT_NOSTRIL_WING = 98
RIGHT_NOSTRIL_WING = 327
FOREHEAD_TOP = 10
CHIN_TIP = 152
CHIN_ROW = (149, 176, 148, 152, 377, 400, 378)
"""Lower edge of the chin from left to right."""
BELOW_LOWER_LIP = (18, 200, 199, 175)
"""Middle line from under the lower lip to just above the chin tip."""
LEFT_EAR = 234
RIGHT_EAR = 454

RIGID_POINTS = (
    10, 338, 109, 151, 9, 168, 6, 197, 195, 33, 133, 362, 263, 127, 356, 234, 454,
)  # fmt: skip
"""17 points of forehead, nose ridge, eye corners and temples that speech does not move."""


@dataclass(frozen=True)
class CanonicalMesh:
    """The average face the landmarks are numbered after.

    Attributes:
        vertices: 468 x 3, float32, cm; x to the picture's right, y up, z towards the camera.
        uv: 468 x 2, float32, 0..1: position in a flat unwrapped face, v downwards.
        triangles: 898 x 3, int32; 18 of them fill the opening of the mouth.
        pose_weights: 468, float32: how much each vertex counts when a head pose is fitted;
            most are 0.
    """

    vertices: NDArray[np.float32]
    uv: NDArray[np.float32]
    triangles: NDArray[np.int32]
    pose_weights: NDArray[np.float32]

    @property
    def triangles_without_mouth(self) -> NDArray[np.int32]:
        """880 x 3, int32: the triangles except those between the lips."""
        in_mouth = np.isin(self.triangles, INNER_LIPS).all(axis=1)
        return self.triangles[~in_mouth]


def load_canonical_mesh(assets_dir: Path | None = None) -> CanonicalMesh:
    """Read the mesh from disk (a few milliseconds; keep the result).

    Args:
        assets_dir: folder with `canonical_mesh.npz`; None = the one shipped with the product.
    """
    with np.load((assets_dir or FACE_ASSETS_DIR) / "canonical_mesh.npz") as stored:
        return CanonicalMesh(
            vertices=stored["vertices"],
            uv=stored["uv"],
            triangles=stored["triangles"],
            pose_weights=stored["pose_weights"],
        )
