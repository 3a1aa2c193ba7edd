"""Frames between keyframes, one at a time, so that memory holds two keyframes and no more."""

from collections.abc import Callable, Generator, Iterator
from fractions import Fraction

import torch
from torch import nn
from torch.nn import functional

from engine.animators.sonic.frame_times import FrameTimes
from engine.animators.sonic.rife import SIDE_MULTIPLE_PX

Between = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


@torch.inference_mode()
def middle_frame(net: nn.Module, first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
    """The picture half-way between two.

    Args:
        net: `FlowNet`.
        first: 3 x H x W, float32, 0..1; any sides.
        second: the same, later.

    Returns:
        3 x H x W, 0..1.
    """
    height, width = first.shape[1:]
    margins = (0, -width % SIDE_MULTIPLE_PX, 0, -height % SIDE_MULTIPLE_PX)
    pair = torch.stack([first, second])
    if any(margins):
        pair = functional.pad(pair, margins, mode="replicate")
    middle = net(pair[:1], pair[1:])[0, :, :height, :width]
    return middle.clamp(0, 1)


def unit_range(decoded: torch.Tensor) -> torch.Tensor:
    """The decoder's -1..1 as 0..1, clamped."""
    return (decoded / 2 + 0.5).clamp(0, 1)


def at_rate(
    keyframes: Iterator[torch.Tensor], times: FrameTimes, between: Between
) -> Generator[torch.Tensor, None, None]:
    """The frames of a video from a stream of keyframes; the last one is held as long as needed.

    Args:
        keyframes: 3 x H x W each.
        times: of the frames wanted.
        between: makes the picture half-way between two.

    Yields:
        3 x H x W each, in order.
    """
    pair = _Pair(next(keyframes), between)
    number = 0
    for before, way in times.places():
        while number < before:
            pair = _Pair(_or_last(pair.after, keyframes, pair), between)
            number += 1
        if way and pair.after is None:
            pair.after = _or_last(None, keyframes, pair)
        yield pair.at(way)


def _or_last(
    known: torch.Tensor | None, keyframes: Iterator[torch.Tensor], pair: "_Pair"
) -> torch.Tensor:
    """The keyframe after a pair's first: known already, the next of the stream, or the last."""
    return known if known is not None else next(keyframes, pair.at(Fraction(0)))


class _Pair:
    """Two neighbouring keyframes and what was made between them."""

    def __init__(self, before: torch.Tensor, between: Between) -> None:
        self._made = {Fraction(0): before}
        self._between = between
        self._after: torch.Tensor | None = None

    @property
    def after(self) -> torch.Tensor | None:
        """The later keyframe, once it is known."""
        return self._after

    @after.setter
    def after(self, keyframe: torch.Tensor) -> None:
        self._after = keyframe
        self._made[Fraction(1)] = keyframe

    def at(self, way: Fraction) -> torch.Tensor:
        """The picture at a share of the way whose denominator is a power of two."""
        if way not in self._made:
            half_step = Fraction(1, way.denominator)
            first, second = self.at(way - half_step), self.at(way + half_step)
            self._made[way] = first if first is second else self._between(first, second)
        return self._made[way]
