"""Boxes of the detector: where to look, how boxes are merged, what is looked at next.

Owns the geometry between detector and landmark network, no decision about what is a face.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.face.networks import RawDetections
from engine.face.pose import level_bounds
from engine.face.regions import Square, tile_squares, whole_square

MIN_TILE_PX = 48.0
MERGE_OVERLAP = 0.3
# The landmark network looks at a square of 1.5 x the longer side of the detected box. That side
# is .955 x the longer side of the face outline (57 faces, deviation .05), and lies a little lower.
CROP_SCALE = 1.5
BOX_PER_OUTLINE = 0.955
BOX_DROP_PER_OUTLINE = 0.02


@dataclass(frozen=True)
class Candidate:
    """A detected box.

    Attributes:
        box: centre x, centre y, width, height in pixels of the picture.
        eyes: 2 x 2: left and right eye of the picture, same pixels.
        score: 0..1.
    """

    box: NDArray[np.float32]
    eyes: NDArray[np.float32]
    score: float

    @property
    def square(self) -> Square:
        """Eyes level, with room on all sides."""
        across = self.eyes[1] - self.eyes[0]
        angle = float(np.arctan2(across[1], across[0]))
        side = CROP_SCALE * float(self.box[2:].max())
        return Square(float(self.box[0]), float(self.box[1]), side, angle)


def search_squares(width_px: int, height_px: int, shares: Iterable[float]) -> list[Square]:
    """Squares to search, each of a share of the picture's long side; 1 = the whole picture."""
    squares: list[Square] = []
    for share in shares:
        if share >= 1:
            squares.append(whole_square(width_px, height_px))
        elif share * max(width_px, height_px) >= MIN_TILE_PX:
            squares += tile_squares(width_px, height_px, share)
    return squares


def in_picture(raw: RawDetections, square: Square) -> list[Candidate]:
    """Move what was detected in an unturned square to pixels of the picture."""
    corner = np.array([square.x, square.y], dtype=np.float32) - np.float32(square.side / 2)
    boxes = raw.boxes * np.float32(square.side)
    boxes[:, :2] += corner
    eyes = raw.key_points[:, :2] * np.float32(square.side) + corner
    return [Candidate(boxes[i], eyes[i], float(raw.scores[i])) for i in range(len(boxes))]


def merged(candidates: list[Candidate]) -> list[Candidate]:
    """Average boxes that overlap the best one, weighted by score; the best score is kept."""
    rest = sorted(candidates, key=lambda candidate: candidate.score, reverse=True)
    results: list[Candidate] = []
    while rest:
        best = rest[0]
        group = [one for one in rest if overlap(best.box, one.box) > MERGE_OVERLAP]
        weights = np.array([one.score for one in group], dtype=np.float32)
        weights /= weights.sum()
        box = np.tensordot(weights, np.stack([one.box for one in group]), 1)
        eyes = np.tensordot(weights, np.stack([one.eyes for one in group]), 1)
        results.append(Candidate(box, eyes, best.score))
        chosen = {id(one) for one in group} | {id(best)}
        rest = [one for one in rest if id(one) not in chosen]
    return results


def overlap(first: NDArray[np.float32], second: NDArray[np.float32]) -> float:
    """Intersection over union of two boxes given as centre and size."""
    top_left = np.maximum(first[:2] - first[2:] / 2, second[:2] - second[2:] / 2)
    bottom_right = np.minimum(first[:2] + first[2:] / 2, second[:2] + second[2:] / 2)
    shared = float(np.prod(np.maximum(bottom_right - top_left, 0)))
    union = float(np.prod(first[2:]) + np.prod(second[2:])) - shared
    return shared / union if union > 0 else 0.0


def square_around(landmarks: NDArray[np.float32]) -> Square:
    """The square the landmark network should look at to find these landmarks again."""
    (x, y), (width, height), angle_rad = level_bounds(landmarks)
    drop = BOX_DROP_PER_OUTLINE * height
    return Square(
        x - drop * float(np.sin(angle_rad)),
        y + drop * float(np.cos(angle_rad)),
        CROP_SCALE * BOX_PER_OUTLINE * max(width, height),
        angle_rad,
    )
