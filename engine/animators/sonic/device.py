"""The device: which one, what it computes in, what is free on it, and giving memory back."""

import gc

import psutil
import torch

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


def free_memory_mb(device: torch.device) -> float:
    """What a run may use: of a card, or of main memory where the device shares it."""
    if device.type == "cuda":
        return torch.cuda.mem_get_info()[0] / BYTES_PER_MB
    if device.type == "xpu":
        return torch.xpu.mem_get_info()[0] / BYTES_PER_MB
    return psutil.virtual_memory().available / BYTES_PER_MB


def forget_peak(device: torch.device) -> None:
    """Begin a new measurement of `engine.pipeline.sonic.peak_vram_mb`."""
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)


def release_memory(device: torch.device) -> None:
    """Give the memory of what is no longer used back to the device."""
    gc.collect()
    if device.type in ("cuda", "xpu", "mps"):
        getattr(torch, device.type).empty_cache()
