"""Sonic within the product: made from a job's options, and the rule when `auto` takes it."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from engine.animators.sonic.animator import OnProgress, SonicAnimator
from engine.animators.sonic.options import SonicOptions
from engine.animators.sonic.pieces import keyframes_in
from engine.contracts import RenderOptions
from engine.errors import InputError
from engine.face.framing import expected_shape
from engine.gpu.gauge import BYTES_PER_MB, Driver
from engine.gpu.room import CardMemory
from engine.settings import EngineSettings

if TYPE_CHECKING:
    from engine.animators.sonic.shelf import WeightShelf

# Trillions of operations in one call of the network at 512 pixels (counted), and the calls that a
# second of video takes at each step: it has half the keyframes of a window.
TFLOP_PER_CALL = 94.0
CALLS_PER_SECOND_AND_STEP = 0.5

# What a card and a processor do of them in a second, before this machine was measured: a card
# of the middle class in half precision, four cores in single precision.
CARD_TFLOPS = 40.0
PROCESSOR_TFLOPS = 0.1


def _ignore(_share: float) -> None:
    return


def sonic_for(
    options: RenderOptions,
    settings: EngineSettings,
    on_progress: OnProgress = _ignore,
    keep_dir: Path | None = None,
    shelf: "WeightShelf | None" = None,
) -> SonicAnimator:
    """Sonic with the numbers a person chose.

    Args:
        options: what was asked.
        settings: where the weights lie.
        on_progress: told the share of the drawing that is done, 0-1.
        keep_dir: where finished pieces are kept; None = nowhere.
        shelf: keeps weights in main memory from one job to the next.
    """
    appearance, audio = options.guidance
    numbers = SonicOptions(
        num_inference_steps=options.steps,
        appearance_guidance=appearance,
        audio_guidance=audio,
        decode_chunk=options.decode_chunk,
        longest_piece=keyframes_in(options.segment_seconds),
        dtype=options.dtype,
    )
    return SonicAnimator(
        settings.sonic_dir,
        numbers,
        free_vram_mb=free_vram_mb,
        on_progress=on_progress,
        keep_dir=keep_dir,
        shelf=shelf,
        card_limit_mb=settings.card_limit_mb,
    )


def free_vram_mb() -> float | None:
    """Free memory of the card that torch would take, told by the driver; None without a card."""
    cards = Driver(os.environ.get("CUDA_VISIBLE_DEVICES")).read(set())
    if not cards or cards[0].total_mb is None or cards[0].used_mb is None:
        return None
    return cards[0].total_mb - cards[0].used_mb


def card_memory() -> CardMemory | None:
    """The card that torch would take, with what this process keeps for itself counted as free."""
    cards = Driver(os.environ.get("CUDA_VISIBLE_DEVICES")).read(set())
    if not cards or cards[0].total_mb is None or cards[0].used_mb is None:
        return None
    torch, kept_mb = sys.modules.get("torch"), 0.0
    if torch is not None and torch.cuda.is_initialized():
        kept_mb = float(torch.cuda.memory_reserved()) / BYTES_PER_MB
    total_mb = cards[0].total_mb
    return CardMemory(total_mb, min(total_mb, total_mb - cards[0].used_mb + kept_mb))


def peak_vram_mb() -> float:
    """Most memory that torch held on a card for the last video; 0 where it held none."""
    torch = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_initialized():
        return 0.0
    return round(float(torch.cuda.max_memory_reserved()) / BYTES_PER_MB, 1)


def is_ready(options: RenderOptions, settings: EngineSettings) -> bool:
    """Whether libraries and weights are here."""
    try:
        sonic_for(options, settings).require_ready()
    except InputError:
        return False
    return True


def takes_sonic(
    options: RenderOptions, settings: EngineSettings, photo_size: tuple[int, int]
) -> bool:
    """Whether a video is drawn by Sonic.

    `auto` takes it when the weights are complete and an NVIDIA card that torch can use has room
    for a video of this shape.

    Args:
        options: what was asked.
        settings: where the weights lie.
        photo_size: width and height in pixels.
    """
    if options.animator != "auto":
        return options.animator == "sonic"
    free_mb = free_vram_mb()
    if free_mb is None or not is_ready(options, settings):
        return False
    need = sonic_for(options, settings).need(*expected_shape(options, *photo_size), 1)
    return need.vram_mb <= free_mb and _torch_sees_the_card()


def can_take_sonic(
    options: RenderOptions, settings: EngineSettings, photo_size: tuple[int, int]
) -> bool:
    """Whether Sonic is a choice here: it was asked for and is ready, or `auto` would take it."""
    if options.animator == "sonic":
        return is_ready(options, settings)
    automatic = options.model_copy(update={"animator": "auto"})
    return takes_sonic(automatic, settings, photo_size)


def _torch_sees_the_card() -> bool:
    import torch  # noqa: PLC0415 - heavy, and absent from the small install

    return bool(torch.cuda.is_available())


def unmeasured_rate(options: RenderOptions, *, has_card: bool) -> float:
    """About how many seconds of work a second of video takes on a machine never measured."""
    speed = CARD_TFLOPS if has_card else PROCESSOR_TFLOPS
    calls = CALLS_PER_SECOND_AND_STEP * options.steps
    return calls * TFLOP_PER_CALL / speed * (options.output_size_px / 512) ** 2
