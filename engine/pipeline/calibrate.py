"""Putting the picture in step with the sound: measured on the finished video, then corrected once.

What was denoised is kept, so that the correction only decodes it again, a little earlier or later;
nothing is encoded twice.
"""

from collections.abc import Callable
from pathlib import Path

from engine.contracts import RenderOptions
from engine.errors import EngineError
from engine.gpu.ladder import MEMORY_CODES
from engine.lipsync.score import SyncReport

SMALLEST_MS = 20.0
"""Nobody sees less, and the measurement is hardly finer."""

LARGEST_MS = 80.0
"""More than that is no delay but a video whose mouth does not follow."""

FIRST_NAME = "video.first.mp4"


def fixed_shift_s(options: RenderOptions) -> float:
    """How much earlier the picture was asked to come, in seconds."""
    return 0.0 if isinstance(options.calibrate, str) else options.calibrate / 1000


def correction_s(options: RenderOptions, animator: str, sync: SyncReport) -> float:
    """How much earlier the picture should come, 0 when it may stay as it is.

    The lite animator moves the mouth by the very curves that the score compares it with; it has
    nothing to correct.
    """
    offset_ms = sync.offset_ms
    if options.calibrate != "auto" or animator != "sonic" or offset_ms is None:
        return 0.0
    return offset_ms / 1000 if SMALLEST_MS <= abs(offset_ms) <= LARGEST_MS else 0.0


def calibrate(
    video: Path,
    sync: SyncReport,
    shift_s: float,
    redraw: Callable[[float], object],
    score: Callable[[], SyncReport],
) -> tuple[SyncReport, float]:
    """Draw the video again with a shift, and keep whichever is better in step.

    Args:
        video: the finished one; is replaced.
        sync: its score.
        shift_s: how much earlier the picture should come.
        redraw: draws it with a shift.
        score: scores what lies at `video`.

    Returns:
        The score of the video that was kept, and its shift in seconds.
    """
    first = video.with_name(FIRST_NAME)
    video.replace(first)
    corrected: SyncReport | None = None
    try:
        redraw(shift_s)
        corrected = score()
    except EngineError as error:
        if error.code not in MEMORY_CODES:
            first.replace(video)
            raise
    if corrected is not None and _is_better(corrected, sync):
        first.unlink()
        return corrected, shift_s
    first.replace(video)
    return sync, 0.0


def _is_better(corrected: SyncReport, sync: SyncReport) -> bool:
    if corrected.offset_ms is None or sync.offset_ms is None:
        return False
    return abs(corrected.offset_ms) < abs(sync.offset_ms)
