"""Drawing a scene in the memory there is: the ladder, climbed by one animator over one job."""

import json
import logging
import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from engine.animators.animator import Animator, Scene, ThriftyAnimator
from engine.contracts import RenderOptions
from engine.gpu.cleanup import release_memory
from engine.gpu.ladder import Rung, climb, rungs_after_failure
from engine.media.atomic import replace_when_done

DRAWING_NAME = "drawing.json"
PIECES_NAME = "pieces"

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Drawing:
    """How a video came to be drawn.

    Attributes:
        size_px: short side it has.
        steps: what was tried after the memory did not suffice, in order; the last one worked.
    """

    size_px: int
    steps: tuple[dict[str, Any], ...] = ()


def draw_within_memory(
    options: RenderOptions,
    animator: Animator,
    scene_at: Callable[[int], Scene],
    draw: Callable[[Scene, Animator], None],
    job_dir: Path,
) -> Drawing:
    """Draw; when the memory does not suffice, try again with less of it.

    Args:
        options: the size, and whether a smaller one is allowed.
        animator: who draws; one that offers thriftier modes is asked to use them.
        scene_at: builds the scene for a short side in pixels.
        draw: draws and encodes a scene, leaving nothing behind when it fails.
        job_dir: where it is written down, so that another attempt knows.

    Raises:
        EngineError: GPU_MEMORY or OUT_OF_MEMORY when nothing helped, or what `draw` raised.
    """

    def attempt(rung: Rung) -> None:
        if rung.step is not None:
            _log.warning("out of memory; trying again: %s", rung)
        if rung.size_px != options.output_size_px:
            shutil.rmtree(job_dir / PIECES_NAME, ignore_errors=True)  # of another size
        way = animator
        if rung.mode is not None and isinstance(animator, ThriftyAnimator):
            way = animator.in_mode(rung.mode)
        draw(scene_at(rung.size_px), way)

    def after_failure() -> tuple[Rung, ...]:
        modes = animator.thriftier_modes if isinstance(animator, ThriftyAnimator) else ()
        allow_smaller = options.allow_smaller
        return rungs_after_failure(modes, options.output_size_px, allow_smaller=allow_smaller)

    first = Rung(None, None, options.output_size_px)
    rungs = climb(attempt, first, after_failure, release_memory).rungs
    drawing = Drawing((rungs[-1] if rungs else first).size_px, tuple(map(asdict, rungs)))
    if rungs:
        with replace_when_done(job_dir / DRAWING_NAME) as part:
            part.write_text(json.dumps(asdict(drawing)), "utf-8")
    return drawing


def recall_drawing(job_dir: Path, options: RenderOptions) -> Drawing:
    """How the video of an earlier attempt was drawn."""
    try:
        stored = json.loads((job_dir / DRAWING_NAME).read_text("utf-8"))
    except FileNotFoundError:
        return Drawing(options.output_size_px)
    return Drawing(stored["size_px"], tuple(stored["steps"]))
