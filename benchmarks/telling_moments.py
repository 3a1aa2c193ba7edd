"""Which frames of a video tell most: the mouth at rest, open, shut, wide, round; a blink.

Chosen by what was asked of the animator, not by what the frames show: a frame that misses its sound
is on the sheet as well.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.animators.lite.motion import MotionStyle, plan_motion
from engine.lipsync.curves import VISEMES, MouthCurves

LETTERS = {
    "sil": "-", "PP": "m b p", "FF": "f v", "TH": "th", "DD": "t d", "kk": "k g", "CH": "sh",
    "SS": "s z", "nn": "n l", "RR": "r", "aa": "a", "E": "e", "ih": "i", "oh": "o", "ou": "u",
}  # fmt: skip
NEAR_FRAMES = 3
"""Two moments are never nearer than that."""
MIN_ASKED, HALF_OPEN = 0.2, "half open"
"""Where f and v are asked for less than this all along, a mouth half open is shown instead."""
MAX_LIDS = 0.2
"""Lids are lower than this in no frame but that of the blink."""


@dataclass(frozen=True)
class Moment:
    """One frame of a video.

    Attributes:
        frame: its number.
        name: what to look at.
        sound: letters of the sound the listening net hears there.
        asked: strength of what is asked, 0 .. 1.
    """

    frame: int
    name: str
    sound: str
    asked: float

    def label(self, fps: float) -> tuple[str, str]:
        """Two lines under the picture."""
        return f"{self.name} [{self.sound}]", f"{self.frame / fps:.2f} s"


def telling_moments(curves: MouthCurves, fps: float, num_frames: int, seed: int) -> list[Moment]:
    """Eight moments in the order in which a row shows them.

    Args:
        curves: what the sound asks for.
        fps: frames a second.
        num_frames: length of the video.
        seed: of the job, which decides on its blinks.
    """
    at = curves.at_frames(fps, num_frames)
    plan = plan_motion(at, fps, seed, MotionStyle(0.0, 1.0, 1.0, 1.0))
    sounds = [LETTERS[VISEMES[index]] for index in at.posteriors.argmax(axis=1)]
    said = np.clip(at.speaking, 0, 1)
    parted = said * (1 - at.close) * (1 - at.fv)
    heard = {viseme: at.posteriors[:, VISEMES.index(viseme)] for viseme in VISEMES}
    spread = heard["E"] + heard["ih"]
    wanted = [
        ("shut lips", at.close * (at.close + heard["PP"]) / 2),
        ("lip at teeth", at.fv * (1 - at.close) * (1 + heard["FF"]) / 2),
        ("open", parted * at.jaw),
        ("round", parted * at.pucker),
        ("wide", parted * np.clip(at.wide, 0, 1) * (1 - at.pucker) * (1 + spread) / 2),
        ("teeth", parted * at.teeth * (1 - at.jaw)),
        ("rest", (1 - said) * (1 - at.jaw) * (1 - at.close)),
        (HALF_OPEN, parted * (1 - np.abs(at.jaw - 0.45))),
    ]
    free = plan.blink < MAX_LIDS
    shut = int(plan.blink.argmax())
    chosen = {"blink": Moment(shut, "blink", sounds[shut], float(plan.blink[shut]))}
    free[max(shut - NEAR_FRAMES, 0) : shut + NEAR_FRAMES + 1] = False
    for name, values in wanted:
        best = int(np.where(free, _held(values), -1.0).argmax())
        chosen[name] = Moment(best, name, sounds[best], round(float(values[best]), 3))
        free[max(best - NEAR_FRAMES, 0) : best + NEAR_FRAMES + 1] = False
    if chosen["lip at teeth"].asked < MIN_ASKED:
        chosen["lip at teeth"] = chosen[HALF_OPEN]
    order = ("rest", "open", "shut lips", "lip at teeth", "wide", "round", "teeth", "blink")
    return [chosen[name] for name in order]


def _held(values: NDArray[np.floating]) -> NDArray[np.float64]:
    """Values that last: the mean of each and its neighbours, and a little for the middle one."""
    return np.convolve(values, (0.3, 0.4, 0.3), mode="same")
