"""What a found face is, in numbers; shared by detector, crop rule, animators and score."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

NUM_LANDMARKS = 478


@dataclass(frozen=True)
class Face:
    """One face in a picture.

    Attributes:
        landmarks: 478 x 3, float32; x and y in pixels of the picture, z in the same unit,
            smaller = nearer to the camera (MediaPipe's numbering: 468 mesh + 10 iris points).
        score: detector confidence, 0-1.
        box: x, y, width, height in pixels: bounds of the face-oval landmarks, forehead to chin.
        yaw_deg, pitch_deg, roll_deg: head pose; yaw > 0 looks to the picture's right,
            pitch > 0 looks down, roll > 0 is turned clockwise.
    """

    landmarks: NDArray[np.float32]
    score: float
    box: tuple[float, float, float, float]
    yaw_deg: float
    pitch_deg: float
    roll_deg: float

    def moved(self, scale: float, offset_x: float, offset_y: float) -> "Face":
        """The same face after the picture was scaled, then shifted by the offsets in pixels."""
        landmarks = self.landmarks * np.float32(scale)
        landmarks[:, :2] += np.array([offset_x, offset_y], dtype=np.float32)
        x, y, w, h = (value * scale for value in self.box)
        box = (x + offset_x, y + offset_y, w, h)
        return Face(landmarks, self.score, box, self.yaw_deg, self.pitch_deg, self.roll_deg)
