"""What the stages of one job should cost: from little knowledge at its start, better as it goes."""

import time
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import soundfile as sf

from engine.animators.animator import Scene
from engine.contracts import JobSpec, Stage
from engine.face.detector import FaceFinder
from engine.face.framing import expected_shape
from engine.face.networks import LANDMARK_SIDE_PX
from engine.face.regions import Square
from engine.machine import usable_cores
from engine.pipeline.stage_costs import LOOK, MACHINE, Work, moving_megapixels, stage_costs
from engine.pipeline.tools import Tools
from engine.speech.speaking_cost import speaking_s

CHARACTERS_PER_S = 16.0
"""Characters of text a voice speaks in a second at speed 1."""

USUAL_FACE_SHARE = 0.1
"""Of the picture, before the face was looked at."""

TRIES = 4


class Foresight:
    """The costs of one video by the lite animator.

    Args:
        spec: what was asked.
        job_dir: where its inputs are.
        tools: voices, and networks to time this machine with.
        paces: learned here; empty before the first video.
        photo_size: width and height in pixels.
    """

    def __init__(
        self,
        spec: JobSpec,
        job_dir: Path,
        tools: Tools,
        paces: Mapping[str, float],
        photo_size: tuple[int, int],
    ) -> None:
        self._spec, self._job_dir, self._tools = spec, job_dir, tools
        self._paces = known_paces(paces, tools.finder)
        width_px, height_px = expected_shape(spec.options, *photo_size)
        picture_mp = width_px * height_px / 1e6
        speech_s = self._speech_s()
        self._work = Work(
            speech_s=speech_s,
            fps=spec.options.fps,
            picture_mp=picture_mp,
            moving_mp=moving_megapixels(USUAL_FACE_SHARE * width_px * height_px, picture_mp),
            photo_mp=photo_size[0] * photo_size[1] / 1e6,
            speaking_s=self._speaking_s(speech_s),
            cores=usable_cores(),
        )

    @property
    def costs(self) -> dict[Stage, float]:
        """Seconds of each stage on this machine."""
        return stage_costs(self._work, self._paces)

    @property
    def table_costs(self) -> dict[str, float]:
        """Seconds of each stage in the table, for the report: what paces are learned from.

        A recording is only opened where a text is spoken: it tells nothing of voices.
        """
        found = stage_costs(self._work, {})
        if self._spec.speech is None:
            del found[Stage.SPEAK]
        return {stage.value: round(seconds, 3) for stage, seconds in found.items()}

    def see(self, scene: Scene) -> None:
        """The picture and its sound are known."""
        height_px, width_px = scene.canvas.shape[:2]
        picture_mp = width_px * height_px / 1e6
        face_px = scene.face.box[2] * scene.face.box[3]
        self._work = replace(
            self._work,
            speech_s=scene.num_frames / float(scene.fps),
            picture_mp=picture_mp,
            moving_mp=moving_megapixels(face_px, picture_mp),
        )

    def _speech_s(self) -> float:
        speech = self._spec.speech
        if speech is not None:
            return len(speech.text) / CHARACTERS_PER_S / speech.speed
        return float(sf.info(str(self._job_dir / (self._spec.audio_name or ""))).duration)

    def _speaking_s(self, speech_s: float) -> float:
        speech = self._spec.speech
        if speech is None:
            return 0.0
        voice = self._tools.voices.choose(speech.text, speech.language, speech.voice)
        return speaking_s(voice, speech_s)


def known_paces(paces: Mapping[str, float], finder: FaceFinder) -> dict[str, float]:
    """The learned paces, that of drawing for a stage never measured here.

    Before the first video, that of a few calls of a network stands for all.
    """
    if Stage.ANIMATE.value in paces:
        return {MACHINE: paces[Stage.ANIMATE.value], **paces}
    return {MACHINE: _look_s(finder) / LOOK.frame_s(0.0), **paces}


@lru_cache(maxsize=1)
def _look_s(finder: FaceFinder) -> float:
    """What one call of a network takes here; found out once in a process, which takes 0.1 s."""
    side = LANDMARK_SIDE_PX
    grey = np.full((side, side, 3), 128, np.uint8)
    square = Square(side / 2, side / 2, side, 0.0)
    took = []
    for _ in range(TRIES):
        begun = time.perf_counter()
        finder.look(grey, square)
        took.append(time.perf_counter() - begun)
    return min(took)
