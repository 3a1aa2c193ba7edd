"""Giving memory back after a task, and what the task's peak on the card was.

Runs inside a child. It never imports torch: a process that did no work on a card has nothing to
give back there.
"""

import ctypes
import gc
import sys
from types import ModuleType

BYTES_PER_MB = 2**20


def release_memory() -> None:
    """Drop what nothing refers to any more, on the card and in main memory.

    Must be called outside of `except`: the traceback there keeps the tensors of its frames.
    """
    gc.collect()
    torch = _torch_on_card()
    if torch is not None:
        torch.cuda.empty_cache()
        torch.cuda.ipc_collect()
    if sys.platform == "linux":
        _trim_heap()


def set_aside_what_stays() -> None:
    """Look at what is loaded now no more when memory is released.

    Modules and models stay until the process ends. Looking through them after every task took
    90 ms of processor time, which whoever waited for the answer waited for, too.
    """
    gc.collect()
    gc.freeze()


def start_card_peak() -> None:
    """Begin to look for a new peak on the card."""
    torch = _torch_on_card()
    if torch is not None:
        torch.cuda.reset_peak_memory_stats()


def card_peak_mb() -> float | None:
    """Most memory this process reserved on its card since `start_card_peak`; None without one.

    What the driver itself keeps for the process (about 620 MB on an H200) comes on top.
    """
    torch = _torch_on_card()
    if torch is None:
        return None
    return round(float(torch.cuda.max_memory_reserved()) / BYTES_PER_MB, 1)


def _torch_on_card() -> ModuleType | None:
    """torch, if this process loaded it and used a card of the CUDA or ROCm kind."""
    torch = sys.modules.get("torch")
    if torch is None or not hasattr(torch, "cuda") or not torch.cuda.is_initialized():
        return None
    return torch


def _trim_heap() -> None:
    """Hand freed memory back, which glibc keeps; between two tasks others may need it more."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
