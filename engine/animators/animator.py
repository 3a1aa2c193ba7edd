"""The seam between a job and whatever draws its frames."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from threading import Event
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from engine.face.geometry import Face
from engine.gpu.ladder import WorkMode
from engine.lipsync.curves import MouthCurves


@dataclass(frozen=True)
class Scene:
    """Everything an animator gets to make one video; every frame is a pure function of it.

    Attributes:
        canvas: H x W x 3, uint8, RGB: the upright photo already framed, padded and scaled to
            the size of the output, both sides even.
        face: the face that speaks, in pixels of `canvas`.
        curves: mouth curves sampled at the frames; length = number of frames.
        speech_wav: the sound of the video, mono 48 kHz WAV; read in blocks, never whole.
        fps: frames a second.
        seed: makes idle motion repeatable.
        dynamic_scale: strength of the mouth, 1 = natural.
        motion_scale: strength of head and brows, 1 = natural.
        threads: how many threads may draw at once.
        smoothing: strength of what calms motion, 0 = off, 1 = as tuned.
        shift_s: frame k shows the state of k / fps plus this, -0.2 to 0.2 seconds.
        rest_s: how long the head takes to leave its pose in the photo at the start and to come
            back at the end, so that clips can follow each other; 0 = it never rests.
    """

    canvas: NDArray[np.uint8]
    face: Face
    curves: MouthCurves
    speech_wav: Path
    fps: Fraction
    seed: int
    dynamic_scale: float = 1.0
    motion_scale: float = 1.0
    threads: int = 2
    smoothing: float = 0.0
    shift_s: float = 0.0
    rest_s: float = 0.0

    @property
    def num_frames(self) -> int:
        """Number of frames of the video."""
        return len(self.curves)


@dataclass(frozen=True)
class MemoryNeed:
    """Peak memory of one run, in MB."""

    vram_mb: float
    rss_mb: float


class Animator(Protocol):
    """Draws a scene frame by frame."""

    name: str

    def need(self, width_px: int, height_px: int, num_frames: int) -> MemoryNeed:
        """Peak memory for a video of this size."""
        ...

    def animate(self, scene: Scene, canceled: Event) -> Iterator[NDArray[np.uint8]]:
        """Yield `scene.num_frames` frames in order, each H x W x 3, uint8, RGB.

        Raises:
            Canceled: soon after `canceled` was set.
        """
        ...


@runtime_checkable
class ThriftyAnimator(Animator, Protocol):
    """An animator that can also work in less memory than it takes by itself."""

    @property
    def thriftier_modes(self) -> tuple[WorkMode, ...]:
        """What it offers beyond the way it worked last, most memory first."""
        ...

    def in_mode(self, name: str) -> Animator:
        """The same animator, held to one of these ways of working."""
        ...
