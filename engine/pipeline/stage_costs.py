"""What each stage of a video by the lite animator takes: seconds on two known cores. Pure.

The table was measured on the machine of docs/performance.md. Another machine is told by its
paces: seconds it took over seconds of this table, by stage, learned from every finished video.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from engine.contracts import Stage

Paces = Mapping[str, float]
"""How many times longer a stage (its value) takes here than in the table."""

MACHINE = "machine"
"""The pace of a stage that was never measured here."""

SCORED_S, SCORED_FPS = 60.0, 25
"""At most this much of a video is scored, and not more frames of a second."""

MOVING_FACES = 3.8
"""The part of the picture that moves with the head, in boxes around the face."""

MAX_CORES = 5
"""Four threads draw, one encodes."""


@dataclass(frozen=True)
class Cost:
    """Seconds to begin, then milliseconds of one core for each frame and its megapixels."""

    start_s: float = 0.0
    frame_ms: float = 0.0
    megapixel_ms: float = 0.0

    def frame_s(self, megapixels: float) -> float:
        """For one frame."""
        return (self.frame_ms + self.megapixel_ms * megapixels) / 1000


DRAW = Cost(0.25, 5.5, 15.5)
"""Its megapixels are those that move."""
RIG_MEGAPIXEL_S = 0.25
ENCODE = Cost(0.0, 1.6, 12.7)
LOOK = Cost(0.15, 7.5, 0.0)
"""Landmarks of one frame of the finished video."""
DECODE = Cost(0.0, 1.0, 4.5)
PREPARE_S, PREPARE_MEGAPIXEL_S = 0.25, 0.05
LISTEN_S, LISTEN_RATE = 0.05, 0.01
CARE_S, CARE_RATE = 0.02, 0.01
ASSEMBLE_S, ASSEMBLE_FRAME_S = 0.05, 0.0001


@dataclass(frozen=True)
class Work:
    """What a video asks for.

    Attributes:
        speech_s: length of its sound.
        fps: frames a second.
        picture_mp: megapixels of a frame.
        moving_mp: of them, those that move with the head.
        photo_mp: megapixels of the photo as it came.
        speaking_s: what the voice takes, in seconds of the table; 0 for a recording.
        cores: of this machine.
    """

    speech_s: float
    fps: int
    picture_mp: float
    moving_mp: float
    photo_mp: float
    speaking_s: float = 0.0
    cores: int = 2

    @property
    def num_frames(self) -> float:
        """Frames of the video."""
        return self.speech_s * self.fps


def moving_megapixels(face_px: float, picture_mp: float) -> float:
    """Megapixels that move with a head whose face covers `face_px` pixels of the picture."""
    return min(MOVING_FACES * face_px / 1e6, picture_mp)


def stage_costs(work: Work, paces: Paces) -> dict[Stage, float]:
    """Seconds of each stage on a machine of these paces."""
    cores = min(work.cores, MAX_CORES)
    encode_s = ENCODE.frame_s(work.picture_mp)
    draw_s = DRAW.frame_s(work.moving_mp)
    decode_s = DECODE.frame_s(work.picture_mp)
    look_s = LOOK.frame_s(work.picture_mp)
    scored = min(work.speech_s, SCORED_S) * min(work.fps, SCORED_FPS)
    decoded = min(work.speech_s, SCORED_S) * work.fps
    table = {
        Stage.PREPARE: PREPARE_S + PREPARE_MEGAPIXEL_S * work.photo_mp,
        Stage.SPEAK: CARE_S + CARE_RATE * work.speech_s + work.speaking_s,
        Stage.LISTEN: LISTEN_S + LISTEN_RATE * work.speech_s,
        # The encoder takes its frames in order; everything else is spread over the cores.
        Stage.ANIMATE: DRAW.start_s
        + RIG_MEGAPIXEL_S * work.picture_mp
        + work.num_frames * max(encode_s, (encode_s + draw_s) / max(cores, 1)),
        Stage.FINISH: LOOK.start_s
        + max(decoded * decode_s, (decoded * decode_s + scored * look_s) / max(cores, 1)),
        Stage.ASSEMBLE: ASSEMBLE_S + ASSEMBLE_FRAME_S * work.num_frames,
    }
    usual = paces.get(MACHINE, 1.0)
    return {stage: seconds * paces.get(stage.value, usual) for stage, seconds in table.items()}
