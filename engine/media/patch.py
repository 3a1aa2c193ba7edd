"""A picture with transparency, made ready to be blended into many frames cheaply."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_WHOLE = 256
"""Weights are in 256ths, so that a shift divides by them."""


@dataclass(frozen=True)
class Patch:
    """What is blended into a frame: where, and the colour and weight of each pixel.

    Attributes:
        top, left: of its first pixel in the frame.
        colour: H x W x 3, uint16, 0-255 times the weight in 256ths, and a half for rounding.
        rest: H x W x 3, uint16, weight of the frame in 256ths.
    """

    top: int
    left: int
    colour: NDArray[np.uint16]
    rest: NDArray[np.uint16]

    @classmethod
    def of(cls, rgba: NDArray[np.uint8], top: int, left: int) -> "Patch":
        """Make ready H x W x 4, uint8, RGBA with straight alpha."""
        pixels = rgba.astype(np.uint16)
        weight = np.rint(pixels[..., 3:] * (_WHOLE / 255)).astype(np.uint16)
        rest = np.repeat(_WHOLE - weight, 3, axis=-1)
        return cls(top, left, pixels[..., :3] * weight + _WHOLE // 2, rest)

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels."""
        height, width = self.rest.shape[:2]
        return width, height

    def blended(self, frame: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """A copy of a frame (H x W x 3, uint8) with the patch; only its rectangle is computed."""
        width, height = self.size
        result = frame.copy()
        part = result[self.top : self.top + height, self.left : self.left + width]
        mixed = np.multiply(part, self.rest, dtype=np.uint16)  # at most 255 * 256 + 128
        mixed += self.colour
        mixed >>= 8
        part[...] = mixed
        return result
