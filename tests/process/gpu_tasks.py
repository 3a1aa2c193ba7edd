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


TASKS = {"take": take, "climb_ladder": climb_ladder}
