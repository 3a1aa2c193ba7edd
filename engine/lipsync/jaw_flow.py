"""How far the jaw drops, seen without landmarks of the lips: by the flow of the pixels.

The landmark network misreads lips under beards, in paintings and drawings, and trembles on tiny
photos. So the lower face is cut out held still, and what lies under the lower lip is followed
against what lies above the upper. Knows nothing of sound.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from engine.face.geometry import Face
from engine.face.regions import Square
from engine.face.topology import LEFT_EYE_OUTER, RIGHT_EYE_OUTER

SIDE_PX = 96
ROOM_ABOVE, ROOM_BELOW = 0.25, 1.35
"""Of the eye distance: from the eyes up, and down to under the chin."""
UNDER_LOWER_LIP = (18, 83, 313, 200, 201, 421, 194, 418)
OVER_UPPER_LIP = (2, 164, 167, 393, 165, 391)
HELD_POINTS = (
    33, 133, 362, 263, 168, 6, 197, 195, 5, 4, 1, 98, 327, 50, 280, 116, 345, 117, 346,
)  # fmt: skip
"""Eyes, nose and cheekbones, whose own flow tells how the head moved in the cut-out."""
FLOW_BLUR_PX = 1.0
FIT_ROUNDS = 3
SHUT_SHARE = 25.0
"""A mouth is shut at least this share (percent) of a video, if its first frame is not shut."""

AS_COMPLEX = np.array([1, 1j])


@dataclass(frozen=True)
class LowerFace:
    """Where a face lies in its cut-out, as it was when it was found.

    Attributes:
        square: what is cut out of the picture.
        points: 478 x 2, float64: landmarks, pixels of the cut-out.
        eyes_px: distance of the outer eye corners there.
    """

    square: Square
    points: NDArray[np.float64]
    eyes_px: float

    @classmethod
    def of(cls, face: Face) -> "LowerFace":
        """The square from above the eyes to under the chin, turned until the eyes are level."""
        points = face.landmarks[:, :2].astype(np.float64)
        left, right = points[LEFT_EYE_OUTER], points[RIGHT_EYE_OUTER]
        eyes = max(float(np.linalg.norm(right - left)), 1e-6)
        along = (right - left) / eyes
        down = np.array([-along[1], along[0]])
        side = (ROOM_ABOVE + ROOM_BELOW) * eyes
        x, y = (left + right) / 2 + down * (side / 2 - ROOM_ABOVE * eyes)
        square = Square(float(x), float(y), side, float(np.arctan2(along[1], along[0])))
        matrix = square.matrix(SIDE_PX)
        placed = (points - matrix[:, 2]) @ np.linalg.inv(matrix[:, :2]).T
        return cls(square, placed, SIDE_PX / (ROOM_ABOVE + ROOM_BELOW))

    def drop(self, shut: NDArray[np.uint8], now: NDArray[np.uint8]) -> float:
        """How far the jaw dropped between two cut-outs (grey), in outer-eye distances."""
        finder = cv2.DISOpticalFlow.create(cv2.DISOPTICAL_FLOW_PRESET_MEDIUM)
        # Smoothing over flat skin would share a drawn mouth's motion with the still face around.
        finder.setVariationalRefinementIterations(0)
        start = np.zeros((*shut.shape, 2), np.float32)
        flow = np.asarray(
            cv2.GaussianBlur(finder.calc(shut, now, start), (0, 0), FLOW_BLUR_PX), np.float32
        )
        below = np.median(self._at(flow, UNDER_LOWER_LIP)[:, 1])
        above = np.median(self._at(flow, OVER_UPPER_LIP)[:, 1])
        by_head = self._grown(self._at(flow, HELD_POINTS) @ AS_COMPLEX)
        return float(below - above - by_head) / self.eyes_px

    def _at(self, flow: NDArray[np.float32], which: Sequence[int]) -> NDArray[np.float64]:
        cells = np.clip(np.rint(self.points[list(which)]), 0, SIDE_PX - 1).astype(int)
        return np.asarray(flow[cells[:, 1], cells[:, 0]], np.float64)

    def _grown(self, moves: NDArray[np.complex128]) -> float:
        """How far under and over the lips moved apart because the head turned or came closer.

        The similarity that fits the moves of the held points; those that move by themselves, such
        as lids, count little.
        """
        held = self.points[list(HELD_POINTS)] @ AS_COMPLEX
        weights, factor = np.ones(len(held)), 0j
        for _ in range(FIT_ROUNDS):
            start, end = np.average(held, weights=weights), np.average(moves, weights=weights)
            away = held - start
            factor = (weights * away.conj() * (moves - end)).sum() / (
                weights * np.abs(away) ** 2
            ).sum()
            left = np.abs(moves - end - factor * away)
            weights = 1 / (1 + (left / (np.median(left) + 1e-6)) ** 2)
        below, above = (
            self.points[list(which)].mean(axis=0) @ AS_COMPLEX
            for which in (UNDER_LOWER_LIP, OVER_UPPER_LIP)
        )
        return float((factor * (below - above)).imag)


def opening_of(drop: NDArray[np.float32]) -> NDArray[np.float32]:
    """Opening of the mouth from the drop of the jaw: what counts as shut is 0, and pressed lips.

    Shut is the first frame, and a quarter of a video whose first frame is open.
    """
    known = drop[np.isfinite(drop)]
    shut = min(0.0, float(np.percentile(known, SHUT_SHARE))) if known.size else 0.0
    return np.asarray(np.maximum(drop - np.float32(shut), 0), np.float32)
