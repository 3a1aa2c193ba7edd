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

# 1,575.7 M parameters in float16, and what does not grow with the picture.
UNET_MB = 3.5 * MB_PER_GB

# Two places for the largest block, and what runs outside of blocks.
STREAMED_UNET_MB = 0.8 * MB_PER_GB

# The autoencoder's own weights, and what a megapixel adds for each keyframe decoded together when
# all are worked on at once: 3.2 GB at 512 pixels, 6.8 at 768, 11.7 at 1024 for eight.
DECODER_MB = 0.3 * MB_PER_GB
DECODER_MB_PER_KEYFRAME = 1.45 * MB_PER_GB

# The same with one keyframe in space at a time: what that one adds, and what each one keeps
# (1.8 / 3.6 / 6.1 GB for eight at 512 / 768 / 1024 pixels, 4.2 for four, 3.2 for two, 2.1 for one).
TILED_DECODER_MB_PER_MEGAPIXEL = 1.5 * MB_PER_GB
TILED_DECODER_MB_PER_KEYFRAME = 0.53 * MB_PER_GB

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
        widest: numbers in the widest intermediate, that of the feed-forward networks.
    """

    frames: int | None = None
    pixels: int | None = None
    widest: int = 2**28


@dataclass(frozen=True)
class Mode:
    """One way to run the denoiser; all give the same frames up to rounding.

    Attributes:
        name: for logs and reports.
        rows_at_once: guidance rows in one call, 3 or 1.
        sizes: groups inside a call.
        mb_per_megapixel: what a call adds to the weights.
        is_streamed: whether the weights stay in main memory and visit block by block.
    """

    name: str
    rows_at_once: int
    sizes: GroupSizes
    mb_per_megapixel: float
    is_streamed: bool = False


# Fastest first. Measured at 512, 768 and 1024 pixels (reserved, with weights): 5.9, 8.6 and
# 12.3 GB with three rows, 4.2, 5.0 and 6.2 with one, 3.9, 4.4 and 5.3 with groups, 1.3, 1.8 and 2.8
# with streamed weights.
MODES: tuple[Mode, ...] = (
    Mode("batched", 3, GroupSizes(), 9.5 * MB_PER_GB),
    Mode("row by row", 1, GroupSizes(widest=2**27), 3.1 * MB_PER_GB),
    Mode("grouped", 1, GroupSizes(5, 4096, 2**26), 2.2 * MB_PER_GB),
    Mode("streamed", 1, GroupSizes(5, 4096, 2**26), 2.1 * MB_PER_GB, is_streamed=True),
)

# Of a chunk of keyframes: all at once, or one in space and tiles along time.
DECODINGS: tuple[GroupSizes, ...] = (GroupSizes(), GroupSizes(1, 65_536))


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
        decode_sizes: how much of a chunk is worked on at once; no part of the result.
        device_mb: peak on the card, or in main memory where there is none.
        fits: whether `device_mb` is within the memory that was free.
    """

    mode: Mode
    decode_chunk: int
    decode_sizes: GroupSizes
    device_mb: float
    fits: bool

    @property
    def words(self) -> str:
        """For logs and measurements."""
        tiles = "" if self.decode_sizes == DECODINGS[0] else " in tiles"
        return f"{self.mode.name}; {self.decode_chunk} decoded together{tiles}"


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
    decodings = [(decode_chunk, sizes) for sizes in DECODINGS]
    decodings += [(chunk, DECODINGS[-1]) for chunk in (4, 2, 1) if chunk < decode_chunk]
    decoding = _first_that_fits(decodings, machine.decoding_mb, machine)
    # Where there is no card the weights are in main memory anyway.
    modes = [mode for mode in MODES if on_card or not mode.is_streamed]
    mode = _first_that_fits(modes, machine.denoising_mb, machine)
    peak_mb = max(machine.decoding_mb(decoding), machine.denoising_mb(mode))
    return MemoryPlan(mode, *decoding, peak_mb, machine.has_room(peak_mb))


Choice = TypeVar("Choice")
Decoding = tuple[int, GroupSizes]


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
        weights_mb = STREAMED_UNET_MB if mode.is_streamed else UNET_MB
        return self._total(weights_mb, mode.mb_per_megapixel)

    def decoding_mb(self, decoding: Decoding) -> float:
        chunk, sizes = decoding
        rest_mb, keyframe_mb = INTERPOLATION_MB_PER_MEGAPIXEL, DECODER_MB_PER_KEYFRAME
        if sizes != DECODINGS[0]:
            rest_mb += TILED_DECODER_MB_PER_MEGAPIXEL
            keyframe_mb = TILED_DECODER_MB_PER_KEYFRAME
        return self._total(DECODER_MB, keyframe_mb * chunk + rest_mb)

    def _total(self, fixed_mb: float, mb_per_megapixel: float) -> float:
        return self._base_mb + self._factor * (fixed_mb + mb_per_megapixel * self._megapixels)


def clip_mb(width_px: int, height_px: int, num_keyframes: int) -> float:
    """Main memory that a clip's own data takes: latents, noise and sums, tokens, hearing.

    Per keyframe three float32 latents (4 channels at an eighth of each side), 32 tokens of 1024
    and 4 states of 5 layers of 384 channels.
    """
    latent_bytes = 3 * 4 * (width_px // 8) * (height_px // 8) * 4
    return num_keyframes * (latent_bytes + 32 * 1024 * 4 + 4 * 5 * 384 * 4) / 2**20
