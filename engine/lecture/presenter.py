"""The presenter of a lecture: the stages of a normal video, drawn at the size they are shown."""

import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from engine.animators.animator import Animator, Scene
from engine.contracts import RenderOptions
from engine.errors import ErrorCode
from engine.face.framing import WINDOW_SIDES
from engine.face.portrait_check import judge_portrait
from engine.gpu.room import wait_for_room
from engine.lecture.board import resized
from engine.lecture.cache import digest_of
from engine.lecture.layout import PresenterPlace
from engine.lecture.voicing import Voiced
from engine.lecture.workplace import Workplace
from engine.lipsync.curves import MouthCurves
from engine.media.video import VideoWriter, read_frames
from engine.pipeline.animate import build_scene, frame_photo
from engine.pipeline.drawing import draw_within_memory
from engine.pipeline.intake import JudgedPortrait, load_png
from engine.pipeline.sonic import card_memory

SEEN_OPTIONS = {
    "animator", "num_inference_steps", "dynamic_scale", "motion_scale", "face_index", "smoothing",
    "background", "force", "guidance", "dtype", "decode_chunk", "segment_seconds",
}  # fmt: skip
"""Choices of a normal video that also count for a presenter; size and framing come from the
layout."""

LEAST_SONIC_PX = 512
"""Sonic was trained on faces of this size; smaller ones are drawn so and made smaller."""

KEPT_CRF = 12
"""Of what a slow animator drew, kept until the section is composed: no loss that is seen."""

REST_S = 0.6
"""Slides follow each other without a jump of the head: it leaves the pose of the photo and comes
back to it."""

Frames = Iterator[NDArray[np.uint8]]


class Presenter:
    """Draws the presenter of one lecture.

    Args:
        work: the job.
        place: where they are shown.
        on_share: told the share of a section that a slow animator has done, 0-1.

    Attributes:
        judged: their photo.
        name: of the animator.
    """

    def __init__(
        self, work: Workplace, place: PresenterPlace, on_share: Callable[[float], None]
    ) -> None:
        self.place = place
        self._work = work
        self._spec = work.spec
        self._context = work.context
        self._on_share = on_share
        portrait = work.job_dir / work.spec.portrait_name
        self._digest = digest_of(portrait)
        with Image.open(portrait) as photo:
            self._photo_size = photo.size
        self.judged = self._judge(load_png(portrait))
        self.name = self._animator(None).name

    @property
    def recipe(self) -> dict[str, Any]:
        """Everything their look depends on but the sound."""
        return {
            "portrait": self._digest,
            "animator": self.name,
            "options": self._spec.options.model_dump(mode="json", include=SEEN_OPTIONS),
            "seed": self._spec.seed,
        }

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is worth knowing about the photo at the size it is shown, as `ErrorCode` values."""
        verdict = self.judged.verdict
        shown_px = min(self.place.rect.width, self.place.rect.height) / WINDOW_SIDES["bust"]
        is_sharp = verdict.values.get("face_px", 0) >= shown_px
        return tuple(
            note
            for note in verdict.warnings
            if not (is_sharp and note == ErrorCode.LOW_RESOLUTION.value)
        )

    def frames(self, voiced: Voiced, curves: MouthCurves, num_frames: int, key: str) -> Frames:
        """Yield their frames for one section, each of the size of their place.

        Args:
            voiced: the sound.
            curves: what the mouth does, at 50 Hz.
            num_frames: how many are wanted, from the first on.
            key: of the section, under which is kept what a slow animator drew.

        Raises:
            Canceled: soon after the user asked to stop.
        """
        cache = self._work.cache
        animator = self._animator(cache.folder(key) if self.name != "lite" else None)

        def scene_at(size_px: int) -> Scene:
            return self._scene(size_px, voiced, curves, num_frames, animator.name)

        canceled = self._context.canceled
        if animator.name == "lite":
            drawn = animator.animate(scene_at(self._size_px), canceled)
        else:
            drawn = self._kept(animator, scene_at, cache.folder(key), canceled)
        rect = self.place.rect
        for frame in drawn:
            is_fitting = frame.shape[:2] == (rect.height, rect.width)
            yield frame if is_fitting else resized(frame, rect.width, rect.height)

    @property
    def _size_px(self) -> int:
        short = min(self.place.rect.width, self.place.rect.height)
        return short if self.name == "lite" else max(short, LEAST_SONIC_PX)

    def _options(self, size_px: int) -> RenderOptions:
        """The choices of the person, framed for the place."""
        update = {
            "size_px": size_px,
            "framing": self.place.framing,
            "aspect": self.place.aspect,
            "fps": self._work.options.fps,
            "captions": "off",
            "expand_ratio": None,
        }
        return self._spec.options.model_copy(update=update)

    def _scene(
        self,
        size_px: int,
        voiced: Voiced,
        curves: MouthCurves,
        num_frames: int,
        animator: str,
    ) -> Scene:
        options = self._options(size_px)
        # Sections must not sway alike, and each alike whenever it is made again.
        seed = (self._spec.seed + int(voiced.key[:7], 16)) % 2**31
        spec = self._spec.model_copy(update={"options": options, "seed": seed})
        framed = frame_photo(options, self.judged, animator)
        duration_s = float(voiced.num_frames / Fraction(options.fps))
        settings = self._context.settings
        scene = build_scene(spec, framed, curves, voiced.wav, duration_s, settings)
        scene = replace(scene, rest_s=REST_S)
        if num_frames == scene.num_frames:
            return scene
        return replace(scene, curves=scene.curves.at_frames(options.fps, num_frames))

    def _kept(
        self,
        animator: Animator,
        scene_at: Callable[[int], Scene],
        folder: Path,
        canceled: Event,
    ) -> Frames:
        """Have a slow animator draw into a file first, so that no frame is drawn twice."""
        video = folder / "presenter.mp4"
        if not video.exists():
            scene = scene_at(self._size_px)
            height_px, width_px = scene.canvas.shape[:2]
            wait_for_room(
                animator.need(width_px, height_px, scene.num_frames).vram_mb,
                card_memory,
                self._work.clock.wait,
                canceled,
                self._context.settings.card_wait_s,
            )

            def draw(scene: Scene, way: Animator) -> None:
                height_px, width_px = scene.canvas.shape[:2]
                with VideoWriter(
                    video, width_px, height_px, scene.fps, scene.speech_wav, crf=KEPT_CRF
                ) as writer:
                    for frame in way.animate(scene, canceled):
                        writer.write(frame)

            options = self._options(self._size_px)
            draw_within_memory(options, animator, scene_at, draw, folder)
            shutil.rmtree(folder / "pieces", ignore_errors=True)
        for _, frame in read_frames(video):
            yield frame

    def _animator(self, keep_dir: Path | None) -> Animator:
        pieces = Path() if keep_dir is None else keep_dir / "pieces"
        options = self._options(LEAST_SONIC_PX)
        settings = self._context.settings
        return self._work.tools.animator(
            options, settings, self._photo_size, self._on_share, pieces
        )

    def _judge(self, pixels: NDArray[np.uint8]) -> JudgedPortrait:
        faces = tuple(self._work.tools.finder.find(pixels))
        options = self._spec.options
        verdict = judge_portrait(pixels, faces, face_index=options.face_index, force=options.force)
        return JudgedPortrait(pixels, faces, verdict)
