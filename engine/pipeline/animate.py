"""The animate stage: frames stream from the animator straight into the encoder."""

import os
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from threading import Event

import numpy as np
from numpy.typing import NDArray

from engine.animators.animator import Animator, Scene
from engine.animators.sonic.picture import crop_square
from engine.contracts import JobSpec, RenderOptions
from engine.face.framing import Window, frame_canvas, frame_window
from engine.face.geometry import Face
from engine.lipsync.curves import MouthCurves
from engine.lipsync.shaping import smooth
from engine.media.caption_drawer import CaptionDrawer
from engine.media.video import VideoWriter, frames_for, write_poster
from engine.pipeline.intake import JudgedPortrait
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
    return Scene(
        canvas=canvas,
        face=face,
        curves=smoothed.at_frames(options.fps, num_frames),
        speech_wav=speech_wav,
        fps=Fraction(options.fps),
        seed=spec.seed,
        dynamic_scale=options.dynamic_scale,
        motion_scale=options.motion_scale,
        threads=settings.render_threads or min(os.cpu_count() or 1, MAX_RENDER_THREADS),
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
    wants_crop = options.framing == "face" or options.expand_ratio is not None
    if animator != "sonic" or not wants_crop:
        return frame_canvas(
            judged.pixels,
            judged.chosen,
            size_px=options.output_size_px,
            framing=options.framing,
            aspect=options.aspect,
            background=options.background,
        )
    ratio = FACE_EXPAND_RATIO if options.expand_ratio is None else options.expand_ratio
    height_px, width_px = judged.pixels.shape[:2]
    x1, y1, x2, y2 = crop_square(judged.chosen.box, width_px, height_px, ratio)
    return frame_window(
        judged.pixels,
        judged.chosen,
        Window(x1, y1, x2 - x1, y2 - y1),
        size_px=options.output_size_px,
        aspect=options.aspect,
        background=options.background,
    )


def render_scene(
    scene: Scene,
    animator: Animator,
    job_dir: Path,
    canceled: Event,
    on_frame: Callable[[int], None],
    captions: CaptionDrawer | None = None,
) -> None:
    """Draw and encode every frame of `scene`.

    Args:
        scene: what to draw.
        animator: who draws it.
        job_dir: where the video and its poster go.
        canceled: stops soon after it was set.
        on_frame: called with the number of frames finished.
        captions: drawn into the frames.

    Raises:
        Canceled: no video is left behind.
    """
    height_px, width_px = scene.canvas.shape[:2]
    with VideoWriter(
        job_dir / VIDEO_NAME, width_px, height_px, scene.fps, scene.speech_wav
    ) as writer:
        for done, frame in enumerate(animator.animate(scene, canceled), start=1):
            writer.write(captions.draw(frame, done - 1) if captions else frame)
            if done == 1:
                write_poster(frame, job_dir / POSTER_NAME)
            on_frame(done)
