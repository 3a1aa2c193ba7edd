"""Notices things before the mouth - hands, microphones, patterned masks - by how surely it is seen.

Where lips are hidden the landmark network guesses them from the rest of the face, and guesses
anew whenever its square moves a little; lips that are seen stay where they are. So the face is
looked at in some squares around its own, and what counts is how far the lips wander on the face.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from engine.face.candidates import square_around
from engine.face.detector import FaceFinder
from engine.face.geometry import Face
from engine.face.regions import Square
from engine.face.topology import INNER_LIPS, OUTER_LIPS

Move = tuple[float, float, float, float]

LIPS = list(OUTER_LIPS + INNER_LIPS)
HELD = [33, 133, 362, 263, 159, 145, 386, 374, 168, 6]
"""Eyes and bridge of the nose, on which the faces of all squares are laid together."""
LEFT_EYE, RIGHT_EYE = 33, 263
GLANCE = (
    (1.0, 0.0, 0.0, 0.0), (0.88, 0.0, 0.0, 0.0), (1.0, 0.0, 0.06, 0.0), (1.0, 0.0, 0.0, 0.17),
)  # fmt: skip
"""Scale, shift right and down in sides, and turn in radians."""
LOOK = (
    (1.14, 0.0, 0.0, 0.0), (1.0, 0.05, 0.0, 0.0), (1.0, -0.05, 0.0, 0.0),
    (1.0, 0.0, -0.06, 0.0), (1.0, 0.0, 0.0, -0.17),
)  # fmt: skip
STILL = 0.02
"""Lips that wander less at a glance are free: of 45 covered mouths that all nine squares tell, the
four squares of the glance gave .025 and more; of 12 free ones eight gave less than this."""
SHAPE_WEIGHT = 1.5
"""Small things before the mouth (microphones) change its shape more than its place."""


def lips_wander(pixels: NDArray[np.uint8], face: Face, finder: FaceFinder) -> float:
    """How far the lips wander when the face is looked at anew, in outer-eye distances.

    Args:
        pixels: H x W x 3, uint8, RGB, upright.
        face: with landmarks in pixels of the picture.
        finder: looks at the face four times, and five times more when that does not tell.
    """
    square = square_around(face.landmarks)
    seen = _lips_seen(pixels, square, GLANCE, finder)
    if (wander := _wander(seen)) < STILL:
        return wander
    return _wander(seen + _lips_seen(pixels, square, LOOK, finder))


def _lips_seen(
    pixels: NDArray[np.uint8], square: Square, moves: Sequence[Move], finder: FaceFinder
) -> list[NDArray[np.float64]]:
    """Landmarks (N x 2) as they are seen in squares moved from a face's own."""
    squares = [
        replace(
            square,
            side=square.side * scale,
            x=square.x + right * square.side,
            y=square.y + down * square.side,
            angle_rad=square.angle_rad + turn_rad,
        )
        for scale, right, down, turn_rad in moves
    ]
    found = finder.look_around(pixels, squares, min_presence=0.0)
    return [face.landmarks[:, :2].astype(np.float64) for face in found if face is not None]


def _wander(seen: Sequence[NDArray[np.float64]]) -> float:
    """How far the lips of the same face lie apart, in outer-eye distances."""
    if not seen:
        return 0.0
    eyes = max(float(np.linalg.norm(seen[0][LEFT_EYE] - seen[0][RIGHT_EYE])), 1e-6)
    lips = np.stack([_laid_on(points, seen[0])[LIPS] for points in seen]) / eyes
    lips -= lips.mean(axis=0)
    shape = lips - lips.mean(axis=1, keepdims=True)
    return _rms(lips) + SHAPE_WEIGHT * _rms(shape)


def _laid_on(points: NDArray[np.float64], target: NDArray[np.float64]) -> NDArray[np.float64]:
    """Points (N x 2) moved, turned and scaled so that those held lie as in `target`."""
    as_complex = np.array([1, 1j])
    start, end = points[HELD].mean(axis=0), target[HELD].mean(axis=0)
    source, wanted = (points[HELD] - start) @ as_complex, (target[HELD] - end) @ as_complex
    factor = np.vdot(source, wanted) / np.vdot(source, source)
    moved = (points - start) @ as_complex * factor
    return np.asarray(np.stack([moved.real, moved.imag], axis=1) + end, np.float64)


def _rms(moves: NDArray[np.float64]) -> float:
    """Of vectors in the last axis."""
    return float(np.sqrt((moves**2).sum(axis=-1).mean()))
