"""Speed, memory and equality of Sonic's stages on a card, with made-up weights of full size.

`python -m benchmarks.sonic calls|decode [--sizes 512 768 1024] [--out FILE.json]`

`calls` times one call of the denoiser (a window and a step: 3 rows of 25 frames) in the plain way
(`sonic_plain`) and in each of the product's ways; `decode` times the decoder. Every line is
written as it is measured.
"""

import argparse
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import torch

from benchmarks.sonic_plain import decode_plainly, predict_plainly
from benchmarks.sonic_table import GB, Table
from benchmarks.sonic_tree import make_unet, make_vae
from engine.animators.sonic.attention import AudioContext, mask_levels
from engine.animators.sonic.decode import decode_chunks
from engine.animators.sonic.decoder import prepare_decoder
from engine.animators.sonic.memory import DECODINGS, MODES, Mode
from engine.animators.sonic.unet import SonicUNet

FRAMES, ROWS = 25, 3
FACE_SHARE = 0.55
"""Of each side that the face box takes."""

DTYPES = {"fp16": torch.float16, "bf16": torch.bfloat16}


class Call:
    """The inputs of one call at one size."""

    def __init__(self, size_px: int, dtype: torch.dtype) -> None:
        generator = torch.Generator("cpu").manual_seed(1)

        def noise(*shape: int) -> torch.Tensor:
            return torch.randn(shape, generator=generator).to("cuda", dtype)

        side = size_px // 8
        mask = torch.zeros(1, 1, size_px, size_px)
        start, end = (
            round(size_px * (0.5 - FACE_SHARE / 2)),
            round(size_px * (0.5 + FACE_SHARE / 2)),
        )
        mask[..., start:end, start:end] = 1
        picture = noise(1, 1024).expand(FRAMES, -1)
        silent = noise(32, 1024).expand(FRAMES, -1, -1)
        self.sample = noise(ROWS, FRAMES, 8, side, side)
        self.time_ids = torch.tensor([[12.5, 40.0, 35.0]]).expand(ROWS, -1)
        self.context = AudioContext(
            torch.stack([torch.zeros_like(picture), picture, picture]),
            torch.stack([silent, silent, noise(FRAMES, 32, 1024)]),
            mask_levels(mask, 4, torch.device("cuda"), dtype),
        )

    def plain(self, unet: SonicUNet) -> torch.Tensor:
        """The long way."""
        return predict_plainly(unet, self.sample, 1.2, self.time_ids, self.context)

    def ours(self, unet: SonicUNet, mode: Mode) -> torch.Tensor:
        """The product's way."""
        unet.sizes = mode.sizes
        parts = []
        for start in range(0, ROWS, mode.rows_at_once):
            span = slice(start, start + mode.rows_at_once)
            context = self.context.rows(span)
            parts.append(unet.predict(self.sample[span], 1.2, self.time_ids[span], context))
        return torch.cat(parts)


def measure(
    work: Callable[[], torch.Tensor], repeats: int
) -> tuple[torch.Tensor, dict[str, float]]:
    """Result, seconds of the first call, median of the others, peak memory in GB."""
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    torch.cuda.synchronize()
    started = time.monotonic()
    result = work()
    torch.cuda.synchronize()
    first_s = time.monotonic() - started
    seconds = []
    for _ in range(repeats):
        started = time.monotonic()
        work()
        torch.cuda.synchronize()
        seconds.append(time.monotonic() - started)
    return result, {
        "first_s": round(first_s, 3),
        "median_s": round(statistics.median(seconds), 4),
        "spread_s": round(max(seconds) - min(seconds), 4),
        "allocated_gb": round(torch.cuda.max_memory_allocated() / GB, 2),
        "reserved_gb": round(torch.cuda.max_memory_reserved() / GB, 2),
    }


def difference(made: torch.Tensor, expected: torch.Tensor) -> dict[str, float]:
    """Largest and relative difference."""
    away = made.float() - expected.float()
    return {
        "max_difference": float(f"{float(away.abs().max()):.3g}"),
        "relative": float(f"{float(away.norm() / expected.float().norm()):.3g}"),
        "largest_value": round(float(expected.abs().max()), 2),
    }


def run_calls(
    table: Table, sizes: list[int], dtype: torch.dtype, repeats: int, modes: list[str]
) -> None:
    """Time one call of the denoiser."""
    unet = make_unet("cuda", dtype)
    plain: dict[int, torch.Tensor] = {}
    calls = {size: Call(size, dtype) for size in sizes}
    for size, call in calls.items():
        # First, while the weights lie as they were made.
        plain[size], figures = measure(lambda c=call: c.plain(unet), repeats)
        table.add(stage="call", size=size, way="plain", dtype=str(dtype), **figures)
    for mode in MODES:
        if modes and mode.name not in modes:
            continue
        if mode.is_streamed:
            unet.stream_weights(torch.device("cuda"))
        for size, call in calls.items():
            made, figures = measure(lambda c=call, m=mode: c.ours(unet, m), repeats)
            away = difference(made, plain[size])
            table.add(stage="call", size=size, way=mode.name, dtype=str(dtype), **figures, **away)


def run_decode(table: Table, sizes: list[int], dtype: torch.dtype, repeats: int) -> None:
    """Time the decoding of eight keyframes together, and of fewer."""
    vae = make_vae("cuda", dtype)
    given = {size: torch.randn(8, 4, size // 8, size // 8) for size in sizes}
    plain: dict[int, torch.Tensor] = {}
    for size, latents in given.items():
        plain[size], figures = measure(lambda x=latents: decode_plainly(vae, x.cuda(), 8), repeats)
        table.add(stage="decode", size=size, way="plain", chunk=8, **figures)
    prepare_decoder(vae)
    for size, latents in given.items():
        for chunk, groups in ((8, DECODINGS[0]), *((n, DECODINGS[-1]) for n in (8, 4, 2, 1))):
            made, figures = measure(
                lambda x=latents, c=chunk, g=groups: torch.cat(list(decode_chunks(vae, x, c, g))),
                repeats,
            )
            away = difference(made, plain[size])
            table.add(stage="decode", size=size, way=str(groups), chunk=chunk, **figures, **away)


def main() -> None:
    """Read the command line and measure."""
    parser = argparse.ArgumentParser(description="Measure Sonic on a card.")
    parser.add_argument("stage", choices=("calls", "decode"))
    parser.add_argument("--sizes", type=int, nargs="+", default=[512, 768, 1024])
    parser.add_argument("--dtype", choices=tuple(DTYPES), default="fp16")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--modes", nargs="*", default=[], help="only these ways of working")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    table = Table(given.out)
    table.add(card=torch.cuda.get_device_name(), torch=torch.__version__)
    if given.stage == "calls":
        run_calls(table, given.sizes, DTYPES[given.dtype], given.repeats, given.modes)
    else:
        run_decode(table, given.sizes, DTYPES[given.dtype], given.repeats)


if __name__ == "__main__":
    main()
