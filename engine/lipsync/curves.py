"""The common control signal between sound and picture.

Timings of a built-in voice (`from_timings`) and the listening net (`from_audio`) both end in
`MouthCurves`; every animator and the sync score read nothing else.
"""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

CURVE_RATE_HZ = 50

VISEMES = (
    "sil", "PP", "FF", "TH", "DD", "kk", "CH", "SS", "nn", "RR", "aa", "E", "ih", "oh", "ou",
)  # fmt: skip


@dataclass(frozen=True)
class MouthCurves:
    """What the mouth does over time; sample ``i`` is the state at ``i / rate_hz`` seconds.

    Attributes:
        posteriors: T x 15, float32, rows sum to 1, columns in the order of `VISEMES`.
        jaw: T, 0 shut .. 1 widest.
        wide: T, -1 narrow .. 1 spread.
        pucker: T, 0 .. 1 rounded and pushed forward.
        close: T, 0 .. 1 lips pressed together (m, b, p).
        fv: T, 0 .. 1 lower lip at the upper teeth.
        teeth: T, 0 .. 1 teeth together and shown (sibilants).
        tongue: T, 0 .. 1 tongue tip raised (th, n, d).
        loudness: T, 0 silent .. 1 loudest of the clip, smoothed over 80 ms.
        speaking: T, 0 .. 1 whether somebody speaks.
        rate_hz: samples a second.
    """

    posteriors: NDArray[np.float32]
    jaw: NDArray[np.float32]
    wide: NDArray[np.float32]
    pucker: NDArray[np.float32]
    close: NDArray[np.float32]
    fv: NDArray[np.float32]
    teeth: NDArray[np.float32]
    tongue: NDArray[np.float32]
    loudness: NDArray[np.float32]
    speaking: NDArray[np.float32]
    rate_hz: int = CURVE_RATE_HZ

    def __len__(self) -> int:
        return len(self.jaw)

    def at_frames(self, fps: float, num_frames: int, shift_s: float = 0.0) -> "MouthCurves":
        """Sample the curves at video frames, frame ``k`` at ``k / fps + shift_s`` seconds.

        Args:
            fps: video frames a second.
            num_frames: length of the result; beyond the ends the last value is kept.
            shift_s: how much later the curves are read; the motion so comes earlier.

        Returns:
            Curves of `num_frames` samples whose `rate_hz` is `fps` rounded.
        """
        positions = (np.arange(num_frames) / fps + shift_s) * self.rate_hz
        source = np.arange(len(self))

        def sample(values: NDArray[np.float32]) -> NDArray[np.float32]:
            if values.ndim == 1:
                return np.interp(positions, source, values).astype(np.float32)
            return np.stack([sample(column) for column in values.T], axis=1)

        sampled = {
            f.name: sample(getattr(self, f.name)) for f in fields(self) if f.name != "rate_hz"
        }
        return MouthCurves(**sampled, rate_hz=round(fps))

    def as_json(self) -> dict[str, Any]:
        """The public form: rate, viseme names, posteriors and five curves as plain lists."""
        curves = {
            name: [round(float(value), 4) for value in getattr(self, name)]
            for name in ("jaw", "wide", "pucker", "close", "fv")
        }
        return {
            "rate_hz": self.rate_hz,
            "visemes": list(VISEMES),
            "posteriors": [[round(float(p), 4) for p in row] for row in self.posteriors],
            **curves,
        }
