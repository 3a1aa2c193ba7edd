"""The picture that flows through a network, with what is already known of its channels."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch

from engine.animators.sonic import layers
from engine.animators.sonic.layers import Statistics


@dataclass(frozen=True)
class Plane:
    """Images of one size.

    Attributes:
        x: images x pixels x channels.
        height: rows of an image.
        width: columns of an image.
        known: statistics of the channels, where the layer before gathered them in passing.
    """

    x: torch.Tensor
    height: int
    width: int
    known: Statistics | None = None

    @property
    def pixels(self) -> int:
        """Of one image."""
        return self.height * self.width

    @property
    def channels(self) -> int:
        """Of one pixel."""
        return self.x.shape[2]

    @classmethod
    def of_pictures(cls, pictures: torch.Tensor) -> "Plane":
        """From N x C x H x W."""
        height, width = pictures.shape[2:]
        return cls(pictures.permute(0, 2, 3, 1).contiguous().flatten(1, 2), height, width)

    def pictures(self) -> torch.Tensor:
        """N x C x H x W, a view."""
        return self.x.unflatten(1, (self.height, self.width)).permute(0, 3, 1, 2)

    def measured(self) -> "Plane":
        """The same with statistics."""
        return self if self.known else replace(self, known=layers.statistics(self.x))

    @property
    def statistics(self) -> Statistics:
        """Of the channels; looked at now when nobody did before."""
        return self.known or layers.statistics(self.x)


def spans(total: int, size: int | None) -> Iterator[slice]:
    """Neighbouring groups of at most `size`; None = one group."""
    step = size or total
    for start in range(0, total, step):
        yield slice(start, min(start + step, total))


def place(result: torch.Tensor | None, part: torch.Tensor, span: slice, total: int) -> torch.Tensor:
    """Put one group into the whole, which is made when the first group shows its shape."""
    if len(part) == total:
        return part
    if result is None:
        result = part.new_empty((total, *part.shape[1:]))
    result[span] = part
    return result


def made_of(result: torch.Tensor | None) -> torch.Tensor:
    """What the groups were put into.

    Raises:
        ValueError: there was no group.
    """
    if result is None:
        raise ValueError("there is nothing to work on")
    return result
