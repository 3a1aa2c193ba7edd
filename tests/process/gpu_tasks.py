"""Tasks that use a real card: they take memory, keep some of it, or run out of it."""

import os
from typing import Any

from engine.errors import EngineError, ErrorCode
from engine.gpu.cleanup import release_memory
from engine.gpu.ladder import Rung, Step, WorkMode, climb, rungs_after_failure
from engine.worker.task import TaskContext

MB = 2**20
KEPT: list[Any] = []


def take(payload: dict[str, Any], _context: TaskContext) -> dict[str, Any]:
    """Take memory of the card; `keep_mb` of it is never given back."""
    import torch  # noqa: PLC0415 - heavy, and this file is imported by a child alone

    block = torch.ones(int(payload["mb"]) * MB, dtype=torch.uint8, device="cuda")
    if payload.get("keep_mb"):
        KEPT.append(torch.ones(int(payload["keep_mb"]) * MB, dtype=torch.uint8, device="cuda"))
    return {"pid": os.getpid(), "sum": int(block[:9].sum())}


def draw_like(payload: dict[str, Any], _context: TaskContext) -> dict[str, Any]:
    """What an animator does to a card: products, convolutions and attention of one size."""
    import torch  # noqa: PLC0415 - heavy, and this file is imported by a child alone
    from torch.nn import functional  # noqa: PLC0415

    side = int(payload["side"])
    picture = torch.randn(8, 64, side, side, device="cuda", dtype=torch.float16)
    weight = torch.randn(64, 64, 3, 3, device="cuda", dtype=torch.float16) / 24
    for _ in range(4):
        picture = functional.silu(functional.conv2d(picture, weight, padding=1))
    tokens = picture.flatten(2).transpose(1, 2)[:, None, :4096]
    looked = functional.scaled_dot_product_attention(tokens, tokens, tokens)
    product = looked.flatten(0, 2) @ weight.flatten(1)[:, :64]
    return {"pid": os.getpid(), "finite": bool(product.isfinite().all())}


def speak_like(payload: dict[str, Any], _context: TaskContext) -> dict[str, Any]:
    """What a speaking network does: hundreds of small tensors that grow word by word."""
    import torch  # noqa: PLC0415 - heavy, and this file is imported by a child alone

    words = int(payload["words"])
    known: list[Any] = []
    state = torch.zeros(1, 512, device="cuda")
    weight = torch.randn(512, 512, device="cuda") / 23
    for word in range(words):
        known.append(torch.tanh(state @ weight + word))
        state = torch.cat(known).mean(dim=0, keepdim=True)
    sound = state.repeat(1, 24_000 // 512 * words)
    return {"pid": os.getpid(), "samples": sound.shape[1]}


def take_all(_payload: dict[str, Any], _context: TaskContext) -> dict[str, Any]:
    """Ask for more than the card has."""
    import torch  # noqa: PLC0415 - heavy, and this file is imported by a child alone

    total = torch.cuda.get_device_properties(0).total_memory
    held = torch.ones(total // 2, dtype=torch.uint8, device="cuda")
    try:
        torch.ones(total, dtype=torch.uint8, device="cuda")
    except torch.OutOfMemoryError:
        raise EngineError(ErrorCode.GPU_MEMORY) from None
    return {"sum": int(held[0])}


def climb_ladder(payload: dict[str, Any], _context: TaskContext) -> dict[str, Any]:
    """Work that needs less in its thriftier modes, under a limit of the allocator."""
    import torch  # noqa: PLC0415 - heavy, and this file is imported by a child alone

    total_mb = torch.cuda.get_device_properties(0).total_memory / MB
    torch.cuda.set_per_process_memory_fraction(float(payload["limit_mb"]) / total_mb)
    need_mb = {None: 3000, "halves": 1500, "tiles": 700}
    modes = (WorkMode("halves", Step.SMALLER_CHUNKS), WorkMode("tiles", Step.TILED_DECODE))

    def attempt(rung: Rung) -> float:
        try:
            held = torch.ones(need_mb[rung.mode] * MB, dtype=torch.uint8, device="cuda")
        except torch.OutOfMemoryError:
            raise EngineError(ErrorCode.GPU_MEMORY) from None
        return float(held[0])

    def after_failure() -> tuple[Rung, ...]:
        return rungs_after_failure(modes, 512, allow_smaller=False)

    try:
        climbed = climb(attempt, Rung(None, None, 512), after_failure, release_memory)
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)
    return {"steps": [rung.step for rung in climbed.rungs], "pid": os.getpid()}


TASKS = {
    "take": take,
    "draw_like": draw_like,
    "speak_like": speak_like,
    "take_all": take_all,
    "climb_ladder": climb_ladder,
}
