"""Weights that stay in main memory and visit the card one block at a time.

While a block runs, the next one is copied. Two places on the card are enough, each as large as
the largest block; a card with 4 GB so runs a network whose weights alone take 3.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import nn

ALIGNMENT = 64
"""Elements; every weight starts at a multiple, as kernels and matrix products like it."""


@dataclass(frozen=True)
class _Slot:
    """Where a weight lies in the buffer of its block."""

    weight: nn.Parameter
    start: int
    shape: torch.Size
    strides: tuple[int, ...]

    def within(self, buffer: torch.Tensor) -> torch.Tensor:
        """Its view."""
        return buffer.as_strided(self.shape, self.strides, buffer.storage_offset() + self.start)


class _Block:
    """One block's weights in one piece of main memory.

    Args:
        module: whose weights are moved there; all of one dtype and without holes.
        is_pinned: whether the piece can be copied while the card computes.
    """

    def __init__(self, module: nn.Module, *, is_pinned: bool) -> None:
        weights = list(module.parameters())
        self.dtype = weights[0].dtype
        self._slots: list[_Slot] = []
        size = 0
        for weight in weights:
            self._slots.append(_Slot(weight, size, weight.shape, weight.stride()))
            size += weight.numel() + -weight.numel() % ALIGNMENT
        self.home = torch.empty(size, dtype=self.dtype, pin_memory=is_pinned)
        for slot in self._slots:
            slot.within(self.home).copy_(slot.weight.data)
        self.lie_in(self.home)

    def lie_in(self, buffer: torch.Tensor) -> None:
        """Let the module find its weights there."""
        for slot in self._slots:
            slot.weight.data = slot.within(buffer)


class WeightStream:
    """Lends blocks to a device.

    Args:
        modules: the blocks in the order they run, again and again.
        device: where they run.
    """

    def __init__(self, modules: list[nn.Module], device: torch.device) -> None:
        is_card = device.type == "cuda"
        self._blocks = [_Block(module, is_pinned=is_card) for module in modules]
        self._index = {id(module): index for index, module in enumerate(modules)}
        largest = max(len(block.home) for block in self._blocks)
        self._places = [
            torch.empty(largest, dtype=self._blocks[0].dtype, device=device) for _ in range(2)
        ]
        self._copies = torch.cuda.Stream(device) if is_card else None
        self._arrived: dict[int, torch.cuda.Event | None] = {}
        self._left: list[torch.cuda.Event | None] = [None, None]

    @contextmanager
    def lent(self, module: nn.Module) -> Iterator[None]:
        """The block's weights are on the device inside."""
        index = self._index[id(module)]
        following = (index + 1) % len(self._blocks)
        self._send(index)
        self._send(following)
        arrived = self._arrived.pop(index)
        if arrived is not None:
            torch.cuda.current_stream().wait_event(arrived)
        block, place = self._blocks[index], self._places[index % 2]
        block.lie_in(place)
        try:
            yield
        finally:
            block.lie_in(block.home)
            if self._copies is not None:
                self._left[index % 2] = torch.cuda.current_stream().record_event()

    def _send(self, index: int) -> None:
        """Begin to copy a block to its place, once what ran there has ended."""
        if index in self._arrived:
            return
        # A call that was stopped in the middle leaves a block that nobody waits for any more.
        for other in [known for known in self._arrived if known % 2 == index % 2]:
            del self._arrived[other]
        block, place = self._blocks[index], self._places[index % 2]
        if self._copies is None:
            place[: len(block.home)].copy_(block.home)
            self._arrived[index] = None
            return
        left = self._left[index % 2]
        with torch.cuda.stream(self._copies):
            if left is not None:
                self._copies.wait_event(left)
            place[: len(block.home)].copy_(block.home, non_blocking=True)
            self._arrived[index] = self._copies.record_event()
