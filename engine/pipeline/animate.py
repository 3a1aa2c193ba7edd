"""The animate stage: frames stream from the animator straight into the encoder."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from threading import Event

import numpy as np
from numpy.typing import NDArray

from engine.animators.animator import Animator, Scene
from engine.animators.sonic.picture import crop_square
from engine.contracts import JobSpec, RenderOptions
from engine.face.framing import (
    RATIOS,
    Window,
    choose_window,
    frame_canvas,
    frame_window,
    widened,
)
from engine.face.geometry import Face
from engine.lipsync.curves import MouthCurves
from engine.lipsync.shaping import smooth
from engine.machine import usable_cores
from engine.media.caption_drawer import CaptionDrawer
from engine.media.video import VideoWriter, frames_for, write_poster
from engine.pipeline.calibrate import fixed_shift_s
from engine.pipeline.intake import JudgedPortrait
from engine.pipeline.preview import LivePicture
from engine.provenance.marks import FrameMarks
from engine.settings import EngineSettings

VIDEO_NAME = "video.mp4"
POSTER_NAME = "poster.jpg"

# More than four drawing threads only wait for the encoder, which takes its frames in order.
MAX_RENDER_THREADS = 4

# Room around the face that Sonic's demonstration crops to.
FACE_EXPAND_RATIO = 0.5


Framed = tuple[NDArray[np.uint8], Face]
"""A canvas, H x W x 3, uint8, RGB, and the face in its pixels."""


def build_scene(
    spec: JobSpec,
    framed: Framed,
    curves: MouthCurves,
    speech_wav: Path,
    duration_s: float,
    settings: EngineSettings,
) -> Scene:
    """Lay the curves on the frames.

    Args:
        spec: what was asked.
        framed: from `frame_photo`.
        curves: at 50 Hz.
        speech_wav: the sound.
        duration_s: its length in seconds.
        settings: how many threads may draw.

    Returns:
        The scene; its number of frames covers the last sample of the speech.
    """
    options = spec.options
    canvas, face = framed
    num_frames = frames_for(duration_s, Fraction(options.fps))
    smoothed = smooth(curves, options.smoothing)
    shift_s = fixed_shift_s(options)
    return Scene(
        canvas=canvas,
        face=face,
        curves=smoothed.at_frames(options.fps, num_frames, shift_s),
        speech_wav=speech_wav,
        fps=Fraction(options.fps),
        seed=spec.seed,
        dynamic_scale=options.dynamic_scale,
        motion_scale=options.motion_scale,
        threads=settings.render_threads or min(usable_cores(), MAX_RENDER_THREADS),
        smoothing=options.smoothing,
        shift_s=shift_s,
    )


def frame_photo(options: RenderOptions, judged: JudgedPortrait, animator: str) -> Framed:
    """Lay the photo on the canvas of the video.

    Sonic's close view, or an expand ratio that was asked for, is the square around the face
    that its networks were shown.

    Args:
        options: what was asked.
        judged: the decoded photo with the face that speaks.
        animator: who will draw.
    """
    crop = _sonic_crop(options, judged) if animator == "sonic" else None
    if crop is None:
        return frame_canvas(
            judged.pixels,
            judged.chosen,
            size_px=options.output_size_px,
            framing=options.framing,
            aspect=options.aspect,
            background=options.background,
        )
    return frame_window(
        judged.pixels,
        judged.chosen,
        crop,
        size_px=options.output_size_px,
        aspect=options.aspect,
        background=options.background,
    )


def shown_window(options: RenderOptions, judged: JudgedPortrait, animator: str) -> Window:
    """The part of the photo that `frame_photo` shows; it may reach outside."""
    crop = _sonic_crop(options, judged) if animator == "sonic" else None
    if crop is not None:
        return crop if options.aspect == "source" else widened(crop, RATIOS[options.aspect])
    height_px, width_px = judged.pixels.shape[:2]
    return choose_window(width_px, height_px, judged.chosen, options.framing, options.aspect)


def _sonic_crop(options: RenderOptions, judged: JudgedPortrait) -> Window | None:
    """The square that Sonic is shown of a close view; None for any other view."""
    if options.framing != "face" and options.expand_ratio is None:
        return None
    ratio = FACE_EXPAND_RATIO if options.expand_ratio is None else options.expand_ratio
    height_px, width_px = judged.pixels.shape[:2]
    x1, y1, x2, y2 = crop_square(judged.chosen.box, width_px, height_px, ratio)
    return Window(x1, y1, x2 - x1, y2 - y1)


@dataclass(frozen=True)
class Extras:
    """What is added to the frames of an animator.

    Attributes:
        captions: drawn into the frames.
        marks: drawn over everything else, and into the poster.
        live: shown the frames as they come.
    """

    captions: CaptionDrawer | None = None
    marks: FrameMarks | None = None
    live: LivePicture | None = None

    def drawn(self, frame: NDArray[np.uint8], frame_index: int) -> NDArray[np.uint8]:
        """A frame (H x W x 3, uint8, RGB) as it goes into the video."""
        if self.captions is not None:
            frame = self.captions.draw(frame, frame_index)
        return frame if self.marks is None else self.marks.draw(frame, frame_index)

    def poster(self, frame: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """The first frame as lists show it: labelled, without words."""
        return frame if self.marks is None else self.marks.draw(frame, 0)


def render_scene(
    scene: Scene,
    animator: Animator,
    job_dir: Path,
    canceled: Event,
    on_frame: Callable[[int], None],
    extras: Extras | None = None,
) -> None:
    """Draw and encode every frame of `scene`.

    Args:
        scene: what to draw.
        animator: who draws it.
        job_dir: where the video and its poster go.
        canceled: stops soon after it was set.
        on_frame: called with the number of frames finished.
        extras: drawn into the frames, or shown them.

    Raises:
        Canceled: no video is left behind.
    """
    extras = extras or Extras()
    height_px, width_px = scene.canvas.shape[:2]
    with VideoWriter(
        job_dir / VIDEO_NAME, width_px, height_px, scene.fps, scene.speech_wav
    ) as writer:
        for done, frame in enumerate(animator.animate(scene, canceled), start=1):
            shown = extras.drawn(frame, done - 1)
            writer.write(shown)
            if done == 1:
                write_poster(extras.poster(frame), job_dir / POSTER_NAME)
            if extras.live is not None:
                extras.live.offer(shown)
            on_frame(done)
