"""Weights kept in main memory between the jobs of one process.

A network is on the card only while its stage runs, so that between jobs the card is free for
others. From the second job on its weights wait in main memory, as long as there is plenty.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import psutil
import torch

Tensors = dict[str, torch.Tensor]

SPARE_BYTES = 4 * 2**30
"""Main memory that must stay available beside what is kept."""


@dataclass(frozen=True)
class _Edition:
    """One content of one file, in one format."""

    path: Path
    changed_ns: int
    dtype: torch.dtype


class WeightShelf:
    """Keeps the tensors of files that were asked for before."""

    def __init__(self) -> None:
        self._asked: set[_Edition] = set()
        self._kept: dict[_Edition, Tensors] = {}

    def tensors(self, path: Path, dtype: torch.dtype, read: Callable[[], Tensors]) -> Tensors:
        """The content of a file.

        Args:
            path: of the file.
            dtype: what floating-point tensors are kept as.
            read: reads it; its result may be mapped from the disk.
        """
        edition = _Edition(path, path.stat().st_mtime_ns, dtype)
        if edition in self._kept:
            return dict(self._kept[edition])
        tensors = read()
        if edition in self._asked and _has_room(tensors, dtype):
            self._kept[edition] = {
                name: tensor.to(dtype if tensor.is_floating_point() else tensor.dtype, copy=True)
                for name, tensor in tensors.items()
            }
            return dict(self._kept[edition])
        self._asked.add(edition)
        return tensors

    def make_room(self) -> None:
        """Give everything up when main memory is short."""
        if psutil.virtual_memory().available < SPARE_BYTES:
            self._kept.clear()

    @property
    def kept_bytes(self) -> int:
        """What is kept now."""
        return sum(t.nbytes for tensors in self._kept.values() for t in tensors.values())


def _has_room(tensors: Tensors, dtype: torch.dtype) -> bool:
    size = sum(tensor.numel() for tensor in tensors.values()) * dtype.itemsize
    return psutil.virtual_memory().available >= size + SPARE_BYTES
