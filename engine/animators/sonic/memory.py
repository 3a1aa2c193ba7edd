"""How much memory a run takes and which way of working fits. Pure rules, no torch.

All figures are MB of 2 ** 20 bytes and grow with the area of the picture, not with the length
of the video. They are fits through measurements on an H200 at 512, 768 and 1024 pixels in
float16, with one network on the card at a time and an allocator that does not fragment.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

MB_PER_GB = 1024.0

CONTEXT_MB = 700.0
"""What a process holds on a card outside the tensors: 0.69 GB measured."""

HEADROOM = 0.94
"""Share of the free memory that is planned with; the rest is for what other programs do."""

# 1,575.7 M parameters in float16, with the copies the allocator rounds up.
UNET_MB = 3.05 * MB_PER_GB

# The autoencoder's own weights, and what each keyframe decoded together adds per megapixel
# (measured without groups: 16.2 GB for eight at 1024, 8.3 for four, 4.2 for two).
DECODER_MB = 0.3 * MB_PER_GB
DECODER_MB_PER_KEYFRAME = 2.05 * MB_PER_GB

# The same in little memory, for eight keyframes: 3.5 GB measured at 512 pixels, 6.8 at 1024.
FRUGAL_DECODER_MB = 2.4 * MB_PER_GB
FRUGAL_DECODER_MB_PER_KEYFRAME = 4.4 / 8 * MB_PER_GB

# A frame in float32 and the flow network's features at its size.
INTERPOLATION_MB_PER_MEGAPIXEL = 0.4 * MB_PER_GB

# The interpreter with torch, diffusers and transformers loaded.
PROCESS_MB = 1400.0

# The figures are for float16; float32, which is what a CPU computes in, takes twice as much.
FULL_PRECISION_FACTOR = 2.0


@dataclass(frozen=True)
class GroupSizes:
    """How much of one call of the denoiser is worked on at once; None = everything.

    Attributes:
        frames: pictures (of all rows) a spatial layer takes.
        pixels: pixels of each row a layer along time takes.
    """

    frames: int | None = None
    pixels: int | None = None


@dataclass(frozen=True)
class Mode:
    """One way to run the denoiser; all give the same frames up to rounding.

    Attributes:
        name: for logs and reports.
        rows_at_once: guidance rows in one call, 3 or 1.
        sizes: groups inside a call.
        mb_per_megapixel: what a call adds to the weights.
    """

    name: str
    rows_at_once: int
    sizes: GroupSizes
    mb_per_megapixel: float


# Fastest first. Measured at 1024 (reserved, with weights): 28.1 GB with three rows, 10.2 with
# one, 7.0 and 5.7 with groups. The first two get a reserve of a tenth.
MODES: tuple[Mode, ...] = (
    Mode("batched", 3, GroupSizes(), 29.0 * MB_PER_GB),
    Mode("row by row", 1, GroupSizes(), 8.0 * MB_PER_GB),
    Mode("grouped", 1, GroupSizes(5, 4096), 4.2 * MB_PER_GB),
    Mode("small groups", 1, GroupSizes(2, 2048), 2.7 * MB_PER_GB),
)


def next_smaller(mode: Mode) -> Mode | None:
    """What to try when `mode` ran out of memory after all; None when there is nothing left."""
    rest = MODES[MODES.index(mode) + 1 :]
    return rest[0] if rest else None


@dataclass(frozen=True)
class MemoryPlan:
    """How a clip will be made and what that takes.

    Attributes:
        mode: of the denoiser.
        decode_chunk: keyframes decoded together; fewer than wished change the frames a little.
        frugal_decoding: whether they are decoded in little memory, at the cost of time.
        device_mb: peak on the card, or in main memory where there is none.
        fits: whether `device_mb` is within the memory that was free.
    """

    mode: Mode
    decode_chunk: int
    frugal_decoding: bool
    device_mb: float
    fits: bool


def plan_memory(
    width_px: int,
    height_px: int,
    decode_chunk: int,
    free_mb: float | None,
    *,
    on_card: bool,
    is_full_precision: bool | None = None,
) -> MemoryPlan:
    """The fastest way of working whose peak fits.

    Args:
        width_px: of the picture on the grid.
        height_px: of the picture on the grid.
        decode_chunk: keyframes wished to be decoded together.
        free_mb: of the device, before anything is loaded; None = unknown, then the way that
            needs least is taken.
        on_card: False when the CPU does the work.
        is_full_precision: whether it is done in float32; None = only on the CPU.

    Returns:
        The plan; when nothing fits, the one that needs least, with `fits` False.
    """
    if is_full_precision is None:
        is_full_precision = not on_card
    base_mb = CONTEXT_MB if on_card else PROCESS_MB
    factor = FULL_PRECISION_FACTOR if is_full_precision else 1.0
    machine = _Machine(width_px * height_px / 2**20, free_mb, base_mb, factor)
    decodings = [(decode_chunk, False), (decode_chunk, True)]
    decodings += [(chunk, False) for chunk in (4, 2, 1) if chunk < decode_chunk]
    decoding = _first_that_fits(decodings, machine.decoding_mb, machine)
    mode = _first_that_fits(list(MODES), machine.denoising_mb, machine)
    peak_mb = max(machine.decoding_mb(decoding), machine.denoising_mb(mode))
    return MemoryPlan(mode, *decoding, peak_mb, machine.has_room(peak_mb))


Choice = TypeVar("Choice")
Decoding = tuple[int, bool]


def _first_that_fits(
    choices: list[Choice], need_mb: Callable[[Choice], float], machine: "_Machine"
) -> Choice:
    """The first choice with room, else the one that needs least."""
    for choice in choices:
        if machine.has_room(need_mb(choice)):
            return choice
    return min(choices, key=need_mb)


class _Machine:
    """What each stage takes on one device at one picture size."""

    def __init__(
        self, megapixels: float, free_mb: float | None, base_mb: float, factor: float
    ) -> None:
        self._megapixels = megapixels
        self._budget_mb = None if free_mb is None else free_mb * HEADROOM
        self._base_mb, self._factor = base_mb, factor

    def has_room(self, need_mb: float) -> bool:
        return self._budget_mb is not None and need_mb <= self._budget_mb

    def denoising_mb(self, mode: Mode) -> float:
        return self._total(UNET_MB, mode.mb_per_megapixel)

    def decoding_mb(self, decoding: Decoding) -> float:
        chunk, frugal = decoding
        fixed_mb = FRUGAL_DECODER_MB if frugal else DECODER_MB
        keyframe_mb = FRUGAL_DECODER_MB_PER_KEYFRAME if frugal else DECODER_MB_PER_KEYFRAME
        return self._total(fixed_mb, keyframe_mb * chunk + INTERPOLATION_MB_PER_MEGAPIXEL)

    def _total(self, fixed_mb: float, mb_per_megapixel: float) -> float:
        return self._base_mb + self._factor * (fixed_mb + mb_per_megapixel * self._megapixels)


def clip_mb(width_px: int, height_px: int, num_keyframes: int) -> float:
    """Main memory that a clip's own data takes: latents, noise and sums, tokens, hearing.

    Per keyframe three float32 latents (4 channels at an eighth of each side), 32 tokens of 1024
    and 4 states of 5 layers of 384 channels.
    """
    latent_bytes = 3 * 4 * (width_px // 8) * (height_px // 8) * 4
    return num_keyframes * (latent_bytes + 32 * 1024 * 4 + 4 * 5 * 384 * 4) / 2**20
