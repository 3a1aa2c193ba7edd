"""Small pictures for the page: what the engine sees of a photo, and a video in the making."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from engine.contracts import RenderOptions
from engine.media.atomic import replace_when_done
from engine.pipeline.decode import received_portrait
from engine.pipeline.tools import Tools

# Sharp on a page's photo box at twice the pixel density, about 100 kB.
LONG_SIDE_PX = 960
JPEG_QUALITY = 85

# The page asks once a second; 3 ms and 15 kB each time.
LIVE_EVERY_S = 0.7
LIVE_SIDE_PX = 400
LIVE_QUALITY = 75


def preview_portrait(payload: dict[str, Any], tools: Tools) -> None:
    """Write a decoded picture as our own JPEG, turned the way `check` measures it.

    Args:
        payload: `portrait` as the decode lane answered, `options`, and `target` where the JPEG
            goes. A picture whose face was placed by hand is not turned.
        tools: models of this process.
    """
    portrait = received_portrait(payload["portrait"])
    options = RenderOptions.model_validate(payload.get("options") or {})
    pixels = portrait.pixels
    if options.face_points is None:
        pixels = tools.finder.find_upright(pixels).pixels
    Path(payload["target"]).write_bytes(small_jpeg(pixels, LONG_SIDE_PX, JPEG_QUALITY))


def small_jpeg(pixels: NDArray[np.uint8], long_side_px: int, quality: int) -> bytes:
    """A picture (H x W x 3, uint8, RGB) as JPEG, made smaller where it is larger."""
    scale = min(long_side_px / max(pixels.shape[:2]), 1.0)
    size = (max(round(pixels.shape[1] * scale), 1), max(round(pixels.shape[0] * scale), 1))
    small = cv2.resize(pixels, size, interpolation=cv2.INTER_AREA)
    _, encoded = cv2.imencode(
        ".jpg", cv2.cvtColor(small, cv2.COLOR_RGB2BGR), [cv2.IMWRITE_JPEG_QUALITY, quality]
    )
    return encoded.tobytes()


class LivePicture:
    """The newest frame of a video in the making, as a small file beside it.

    Args:
        path: the JPEG; replaced at once as a whole.
        clock: seconds that never go back.
    """

    def __init__(self, path: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self._path = path
        self._clock = clock
        self._written_at: float | None = None

    def offer(self, frame: NDArray[np.uint8]) -> None:
        """Show a frame (H x W x 3, uint8, RGB); most are passed over, so it costs nothing."""
        now = self._clock()
        if self._written_at is not None and now - self._written_at < LIVE_EVERY_S:
            return
        self._written_at = now
        with replace_when_done(self._path) as part:
            part.write_bytes(small_jpeg(frame, LIVE_SIDE_PX, LIVE_QUALITY))

    def remove(self) -> None:
        """Take the file away; the video itself has come."""
        self._path.unlink(missing_ok=True)
