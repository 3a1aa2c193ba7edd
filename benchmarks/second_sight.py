"""How far the jaw drops, seen without landmarks of the lips: by the flow of the pixels.

A second judge for faces on which the landmark network misreads the lips (beards, paintings,
drawings). Only points of the head that speech does not move come from landmarks; they hold the
picture still. What lies under the lower lip is then followed against what lies above the upper.
"""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from engine.face.geometry import Face
from engine.face.topology import LEFT_EYE_OUTER, RIGHT_EYE_OUTER, RIGID_POINTS
from engine.lipsync.jaw_flow import OVER_UPPER_LIP, ROOM_ABOVE, ROOM_BELOW, UNDER_LOWER_LIP

SIDE_PX = 192


@dataclass
class JawByFlow:
    """Follows one face from the first frame it is shown; that one counts as shut."""

    reference: NDArray[np.uint8] | None = None
    head: NDArray[np.float64] | None = None
    upper: NDArray[np.intp] | None = None
    lower: NDArray[np.intp] | None = None
    eyes_px: float = 1.0

    def drop(self, frame: NDArray[np.uint8], face: Face) -> float:
        """How far the jaw dropped since the first frame, in outer-eye distances.

        Args:
            frame: H x W x 3, uint8, RGB.
            face: with landmarks in pixels of the frame.
        """
        points = face.landmarks[:, :2].astype(np.float64)
        if self.reference is None:
            self._start(frame, points)
        grey = self._held(frame, points)
        flow = cv2.DISOpticalFlow_create(cv2.DISOPTICAL_FLOW_PRESET_MEDIUM).calc(
            self.reference, grey, None
        )
        down = cv2.GaussianBlur(flow[..., 1], (0, 0), 2.0)
        below = np.median(down[self.lower[:, 1], self.lower[:, 0]])
        above = np.median(down[self.upper[:, 1], self.upper[:, 0]])
        return float(below - above) / self.eyes_px

    def _start(self, frame: NDArray[np.uint8], points: NDArray[np.float64]) -> None:
        """Lay the square: eyes level, from above the eyes to below the chin."""
        left, right = points[LEFT_EYE_OUTER], points[RIGHT_EYE_OUTER]
        self.eyes_px = SIDE_PX / (ROOM_ABOVE + ROOM_BELOW)
        along = (right - left) @ [1, 1j]
        scale = self.eyes_px / along
        centre = (left + right) @ [1, 1j] / 2
        placed = (points @ [1, 1j] - centre) * scale
        placed += SIDE_PX / 2 + 1j * ROOM_ABOVE * self.eyes_px
        self.head = placed[list(RIGID_POINTS)]
        every = np.stack([placed.real, placed.imag], axis=1)
        cells = np.clip(np.rint(every), 0, SIDE_PX - 1).astype(int)
        self.upper, self.lower = cells[list(OVER_UPPER_LIP)], cells[list(UNDER_LOWER_LIP)]
        self.reference = self._held(frame, points)

    def _held(self, frame: NDArray[np.uint8], points: NDArray[np.float64]) -> NDArray[np.uint8]:
        """The square cut out of a frame so that the head lies as in the first."""
        now = points[list(RIGID_POINTS)] @ [1, 1j]
        factor = np.vdot(now - now.mean(), self.head - self.head.mean())
        factor /= np.vdot(now - now.mean(), now - now.mean())
        shift = self.head.mean() - factor * now.mean()
        matrix = np.array(
            [[factor.real, -factor.imag, shift.real], [factor.imag, factor.real, shift.imag]]
        )
        held = cv2.warpAffine(
            frame, matrix, (SIDE_PX, SIDE_PX), flags=cv2.INTER_AREA, borderMode=cv2.BORDER_REPLICATE
        )
        return cv2.cvtColor(held, cv2.COLOR_RGB2GRAY)
