"""The hook for a hidden watermark: none is shipped, one of a package of yours can be named.

`STUDIO_WATERMARK=package.module:NAME` names an object like `Watermark`. Why none is shipped says
docs/adr/0009-labels-and-provenance.md.
"""

import importlib
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from engine.errors import EngineError, ErrorCode


@runtime_checkable
class Watermark(Protocol):
    """Hides a mark in frames and finds it again.

    Attributes:
        name: with its version, written into the manifest.
    """

    name: str

    def embed(self, frame: NDArray[np.uint8], frame_index: int) -> NDArray[np.uint8]:
        """A frame (H x W x 3, uint8, RGB) with the mark; the given one is not changed."""

    def find(self, frame: NDArray[np.uint8]) -> bool:
        """Whether the mark is in a frame that may have been encoded anew."""


def load_watermark(place: str | None) -> Watermark | None:
    """The watermark of `module:NAME`; None when none was named.

    Raises:
        EngineError: BAD_OPTION when there is none of that name.
    """
    if place is None:
        return None
    module, _, name = place.partition(":")
    try:
        found = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise EngineError(
            ErrorCode.BAD_OPTION, option="watermark", reason="its package cannot be loaded"
        ) from error
    if not isinstance(found, Watermark):
        raise EngineError(
            ErrorCode.BAD_OPTION, option="watermark", reason="it cannot embed and find"
        )
    return found
