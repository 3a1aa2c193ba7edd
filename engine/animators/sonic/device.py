"""The device: which one, what it computes in, what is free on it, and giving memory back."""

import gc

import psutil
import torch

from engine.animators.sonic.memory import CONTEXT_MB

BYTES_PER_MB = 2**20


def pick_device() -> torch.device:
    """The best device of this machine: a card through CUDA or ROCm, Intel, Apple, else the CPU."""
    if torch.cuda.is_available():
        return torch.device("cuda")
    if hasattr(torch, "xpu") and torch.xpu.is_available():
        return torch.device("xpu")
    if torch.backends.mps.is_available():
        return torch.device("mps")
    return torch.device("cpu")


def pick_dtype(device: torch.device, name: str = "auto") -> torch.dtype:
    """The number format called `name`.

    `auto` is half precision, as published, where the device is made for it; a CPU is not.
    """
    if name == "auto":
        return torch.float32 if device.type == "cpu" else torch.float16
    return {"bf16": torch.bfloat16, "fp16": torch.float16, "fp32": torch.float32}[name]


def free_memory_mb(device: torch.device, limit_mb: float | None = None) -> float:
    """What a run may use: of a card, or of main memory where the device shares it.

    Args:
        device: where it runs.
        limit_mb: most that this process may take of a card in all, its context included; torch
            is held to it from then on.
    """
    if device.type == "cuda":
        free_b, total_b = torch.cuda.mem_get_info()
        if limit_mb is None:
            return free_b / BYTES_PER_MB
        allowed_mb = max(limit_mb - CONTEXT_MB, 1.0)
        share = min(allowed_mb * BYTES_PER_MB / total_b, 1.0)
        torch.cuda.set_per_process_memory_fraction(share)
        return min(free_b / BYTES_PER_MB, limit_mb)
    if device.type == "xpu":
        return torch.xpu.mem_get_info()[0] / BYTES_PER_MB
    return psutil.virtual_memory().available / BYTES_PER_MB


def repeat_exactly(device: torch.device) -> None:
    """The same work gives the same numbers from now on, also where a faster way would not."""
    if device.type == "cuda":
        torch.backends.cudnn.deterministic = True


def forget_peak(device: torch.device) -> None:
    """Begin a new measurement of `engine.pipeline.sonic.peak_vram_mb`."""
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)


def release_memory(device: torch.device, *, is_thorough: bool = False) -> None:
    """Give the memory of what is no longer used back to the device.

    Args:
        device: which.
        is_thorough: look for what only refers to itself first, which takes a quarter of a second.
    """
    if is_thorough:
        gc.collect()
    if device.type in ("cuda", "xpu", "mps"):
        getattr(torch, device.type).empty_cache()
