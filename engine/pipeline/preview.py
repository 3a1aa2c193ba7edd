"""A small picture of what the engine sees: decoded, upright, on the chosen background."""

from pathlib import Path
from typing import Any

import cv2

from engine.pipeline.decode import received_portrait
from engine.pipeline.tools import Tools

# Sharp on a page's photo box at twice the pixel density, about 100 kB.
LONG_SIDE_PX = 960
JPEG_QUALITY = 85


def preview_portrait(payload: dict[str, Any], tools: Tools) -> None:
    """Write a decoded picture as our own JPEG, turned the way `check` measures it.

    Args:
        payload: `portrait` as the decode lane answered, and `target` where the JPEG goes.
        tools: models of this process.
    """
    portrait = received_portrait(payload["portrait"])
    pixels = tools.finder.find_upright(portrait.pixels).pixels
    scale = min(LONG_SIDE_PX / max(pixels.shape[:2]), 1.0)
    size = (max(round(pixels.shape[1] * scale), 1), max(round(pixels.shape[0] * scale), 1))
    small = cv2.resize(pixels, size, interpolation=cv2.INTER_AREA)
    _, encoded = cv2.imencode(
        ".jpg", cv2.cvtColor(small, cv2.COLOR_RGB2BGR), [cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY]
    )
    Path(payload["target"]).write_bytes(encoded.tobytes())
