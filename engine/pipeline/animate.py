"""The animate stage: frames stream from the animator straight into the encoder."""

import os
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from threading import Event

from engine.animators.animator import Animator, Scene
from engine.contracts import JobSpec
from engine.face.framing import frame_canvas
from engine.lipsync.curves import MouthCurves
from engine.lipsync.shaping import smooth
from engine.media.video import VideoWriter, frames_for, write_poster
from engine.pipeline.intake import JudgedPortrait
from engine.settings import EngineSettings

VIDEO_NAME = "video.mp4"
POSTER_NAME = "poster.jpg"

# More than four drawing threads only wait for the encoder, which takes its frames in order.
MAX_RENDER_THREADS = 4


def build_scene(
    spec: JobSpec,
    judged: JudgedPortrait,
    curves: MouthCurves,
    speech_wav: Path,
    duration_s: float,
    settings: EngineSettings,
) -> Scene:
    """Frame the photo and lay the curves on the frames.

    Args:
        spec: what was asked.
        judged: the decoded photo with the face that speaks.
        curves: at 50 Hz.
        speech_wav: the sound.
        duration_s: its length in seconds.
        settings: how many threads may draw.

    Returns:
        The scene; its number of frames covers the last sample of the speech.
    """
    options = spec.options
    canvas, face = frame_canvas(
        judged.pixels,
        judged.chosen,
        size_px=options.output_size_px,
        framing=options.framing,
        aspect=options.aspect,
        background=options.background,
    )
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


def render_scene(
    scene: Scene,
    animator: Animator,
    job_dir: Path,
    canceled: Event,
    on_frame: Callable[[int], None],
) -> None:
    """Draw and encode every frame of `scene`.

    Args:
        scene: what to draw.
        animator: who draws it.
        job_dir: where the video and its poster go.
        canceled: stops soon after it was set.
        on_frame: called with the number of frames finished.

    Raises:
        Canceled: no video is left behind.
    """
    height_px, width_px = scene.canvas.shape[:2]
    with VideoWriter(
        job_dir / VIDEO_NAME, width_px, height_px, scene.fps, scene.speech_wav
    ) as writer:
        for done, frame in enumerate(animator.animate(scene, canceled), start=1):
            writer.write(frame)
            if done == 1:
                write_poster(frame, job_dir / POSTER_NAME)
            on_frame(done)
