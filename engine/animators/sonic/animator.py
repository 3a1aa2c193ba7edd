"""Sonic behind the animator seam. Imports torch only when a scene is drawn."""

import importlib.util
import logging
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from engine.animators.animator import MemoryNeed, Scene
from engine.animators.sonic.frame_times import keyframes_needed
from engine.animators.sonic.memory import MODES, PROCESS_MB, MemoryPlan, clip_mb, plan_memory
from engine.animators.sonic.options import GRID_PX, SonicOptions
from engine.animators.sonic.picture import SonicPicture, pad_picture
from engine.animators.sonic.pieces import Piece, at_keyframes, plan_pieces
from engine.errors import Canceled, EngineError, ErrorCode, InputError
from engine.gpu.ladder import Step, WorkMode
from engine.weights.store import require_whole

if TYPE_CHECKING:
    from engine.animators.sonic.clip import SonicClip
    from engine.animators.sonic.shelf import WeightShelf

_log = logging.getLogger(__name__)

LIBRARIES = ("torch", "diffusers", "transformers", "accelerate", "safetensors")

OnProgress = Callable[[float], None]


def _ignore(_share: float) -> None:
    return


class SonicAnimator:
    """Draws a scene with the diffusion model.

    It reads of a scene the canvas, the face box, the sound, the seed, the two scales and the
    frames' number and rate; the mouth comes from the sound itself, and the curves only tell the
    pauses in which long speech is cut.

    Args:
        weights_dir: the weights in the public layout.
        options: the numbers; seed and scales are replaced by the scene's.
        free_vram_mb: tells the free memory of the card without touching it, for `need`; None
            where there is no card, then the CPU is taken to do the work.
        on_progress: told the share of the video that is done, 0-1, frames included.
        keep_dir: where finished pieces are kept for another attempt; None = nowhere.
        shelf: keeps weights in main memory from one job to the next; None = nothing is kept.
        card_limit_mb: most memory of the card that this process may take in all; None = all.
    """

    name = "sonic"

    def __init__(  # noqa: PLR0913 - all but the first two by name
        self,
        weights_dir: Path,
        options: SonicOptions | None = None,
        *,
        free_vram_mb: Callable[[], float | None] = lambda: None,
        on_progress: OnProgress = _ignore,
        keep_dir: Path | None = None,
        shelf: "WeightShelf | None" = None,
        card_limit_mb: float | None = None,
    ) -> None:
        self._weights_dir = weights_dir
        self._options = options or SonicOptions()
        self._free_vram_mb = free_vram_mb
        self._on_progress = on_progress
        self._keep_dir = keep_dir
        self._shelf = shelf
        self._card_limit_mb = card_limit_mb
        self._fastest = 0
        self._last_mode = MODES[0]
        self._last_way = ""

    def require_ready(self) -> None:
        """Make sure that libraries and weights are here, without loading any.

        Raises:
            InputError: ANIMATOR_UNAVAILABLE, or one of the WEIGHTS codes.
        """
        lacking = [name for name in LIBRARIES if importlib.util.find_spec(name) is None]
        if lacking:
            reason = f"it needs {', '.join(lacking)}: run `python3 bootstrap.py --gpu`"
            raise InputError(ErrorCode.ANIMATOR_UNAVAILABLE, animator=self.name, reason=reason)
        require_whole("sonic", self._weights_dir)

    @property
    def last_way(self) -> str:
        """How the last clip was made, for reports."""
        return self._last_way

    @property
    def thriftier_modes(self) -> tuple[WorkMode, ...]:
        """Smaller groups of the denoiser than in the last clip, most memory first."""
        rest = MODES[MODES.index(self._last_mode) + 1 :]
        return tuple(WorkMode(mode.name, Step.SMALLER_CHUNKS) for mode in rest)

    def in_mode(self, name: str) -> "SonicAnimator":
        """The same animator, never faster than in this mode.

        It decodes half as many keyframes together for each mode it lies below the fastest.
        """
        below = next(index for index, mode in enumerate(MODES) if mode.name == name)
        options = replace(self._options, decode_chunk=max(1, self._options.decode_chunk >> below))
        held = SonicAnimator(
            self._weights_dir,
            options,
            free_vram_mb=self._free_vram_mb,
            on_progress=self._on_progress,
            keep_dir=self._keep_dir,
            shelf=self._shelf,
            card_limit_mb=self._card_limit_mb,
        )
        held._fastest = below
        return held

    def need(self, width_px: int, height_px: int, num_frames: int) -> MemoryNeed:
        """Peak memory for a video of this size, of 25 frames a second."""
        free_mb = self._free_vram_mb()
        if free_mb is not None and self._card_limit_mb is not None:
            free_mb = min(free_mb, self._card_limit_mb)
        num_keyframes = keyframes_needed(num_frames, Fraction(25), self._options.windows)
        plan = self._plan(width_px, height_px, free_mb, on_card=free_mb is not None)
        data_mb = clip_mb(width_px, height_px, min(num_keyframes, self._options.longest_piece))
        if free_mb is None:
            return MemoryNeed(vram_mb=0.0, rss_mb=plan.device_mb + data_mb)
        return MemoryNeed(vram_mb=plan.device_mb, rss_mb=PROCESS_MB + data_mb)

    def animate(self, scene: Scene, canceled: Event) -> Iterator[NDArray[np.uint8]]:
        """Yield `scene.num_frames` frames in order, each H x W x 3, uint8, RGB.

        Nothing is yielded while a piece is denoised; `on_progress` is told meanwhile.

        Raises:
            Canceled: soon after `canceled` was set.
            InputError: about libraries or weights.
            EngineError: GPU_MEMORY or OUT_OF_MEMORY.
        """
        self.require_ready()
        given_up = Event()

        def check() -> None:
            if canceled.is_set() or given_up.is_set():
                raise Canceled

        picture, margins = pad_picture(scene.canvas, scene.face.box)
        frames = self._clip(scene, picture, check).frames(given_up)
        try:
            for _ in range(scene.num_frames):
                check()
                yield margins.cut(self._guarded(lambda: next(frames)))
        finally:
            frames.close()
            if self._shelf is not None:
                self._shelf.make_room()

    def _clip(self, scene: Scene, picture: SonicPicture, check: Callable[[], None]) -> "SonicClip":
        from engine.animators.sonic import clip, models, pipeline  # noqa: PLC0415 - heavy
        from engine.animators.sonic import device as devices  # noqa: PLC0415 - heavy
        from engine.animators.sonic.kept import KeptPieces  # noqa: PLC0415 - heavy
        from engine.animators.sonic.weight_files import SonicFolder  # noqa: PLC0415 - heavy

        device = devices.pick_device()
        devices.forget_peak(device)
        devices.repeat_exactly(device)
        folder = SonicFolder(self._weights_dir)
        dtype = devices.pick_dtype(device, self._options.dtype)
        built = models.SonicModels(folder, device, dtype, self._shelf)
        options = replace(
            self._options,
            seed=scene.seed,
            dynamic_scale=scene.dynamic_scale,
            motion_scale=scene.motion_scale,
            smoothing=scene.smoothing,
        )
        height_px, width_px = scene.canvas.shape[:2]
        free_mb = devices.free_memory_mb(device, self._card_limit_mb)
        plan = self._plan(width_px, height_px, free_mb, on_card=device.type != "cpu")
        self._last_mode, self._last_way = plan.mode, plan.words
        _log.info("drawing %d x %d: %s", width_px, height_px, plan.words)
        run = pipeline.SonicRun(options, plan, check, self._on_progress)
        inputs = clip.ClipInputs(
            picture,
            scene.speech_wav,
            self._pieces(scene),
            scene.num_frames,
            scene.fps,
            scene.shift_s,
        )
        kept = KeptPieces(self._keep_dir)
        return clip.SonicClip(pipeline.SonicPipeline(built), inputs, run, kept)

    def _pieces(self, scene: Scene) -> tuple[Piece, ...]:
        """Cut the speech where it is quiet and nobody speaks."""
        shortest = self._options.windows.length
        num_keyframes = keyframes_needed(scene.num_frames, scene.fps, self._options.windows)
        voiced = scene.curves.loudness + scene.curves.speaking
        loudness = at_keyframes(voiced, scene.fps, num_keyframes)
        return plan_pieces(loudness, self._options.longest_piece, shortest)

    def _plan(
        self, width_px: int, height_px: int, free_mb: float | None, *, on_card: bool
    ) -> MemoryPlan:
        plan = plan_memory(
            width_px + -width_px % GRID_PX,
            height_px + -height_px % GRID_PX,
            self._options.decode_chunk,
            free_mb,
            on_card=on_card,
            is_full_precision={"auto": None, "fp32": True}.get(self._options.dtype, False),
        )
        mode = MODES[max(self._fastest, MODES.index(plan.mode))]
        return replace(plan, mode=mode)

    def _guarded(self, work: Callable[[], NDArray[np.uint8]]) -> NDArray[np.uint8]:
        """Run `work`; a lack of memory becomes an error that people understand."""
        import torch  # noqa: PLC0415 - heavy

        failure: ErrorCode | None = None
        try:
            return work()
        except torch.OutOfMemoryError:
            failure = ErrorCode.GPU_MEMORY
        except MemoryError:
            failure = ErrorCode.OUT_OF_MEMORY
        raise EngineError(failure)
