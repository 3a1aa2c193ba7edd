"""The title at the start of a lecture: two lines at the bottom left, faded in and out."""

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from engine.lecture.layout import Layout
from engine.lecture.options import LectureOptions
from engine.media.lettering import lay_out
from engine.media.patch import Patch

START_S, FADE_S, HOLD_S = 0.6, 0.4, 4.5
"""The title comes after a moment, within a blink, and stays long enough to be read twice."""

# Shares of the shorter side of the picture, but for the last three.
_TITLE_SIZE, _SUBTITLE_SIZE = 1 / 18, 1 / 27
_MARGIN = 0.05
_PADDING = 0.55  # of the title's size
_BAR = 0.16
_WIDEST = 0.8  # of the picture's width
_DARK, _LIGHT, _SOFT = (18, 20, 26, 215), (255, 255, 255, 255), (208, 212, 222, 255)
_ACCENT = (79, 140, 255, 255)


class LowerThird:
    """Draws the title of one lecture.

    Args:
        options: the two lines; at least one is not empty.
        layout: where the presenter stands; the title keeps clear of them.
        fps: frames a second.
        bottom_px: kept free at the bottom, for captions.
    """

    def __init__(
        self, options: LectureOptions, layout: Layout, fps: Fraction, bottom_px: int = 0
    ) -> None:
        lines = _draw(options, min(layout.width_px, layout.height_px), layout.width_px)
        self._picture = lines
        self._fps = fps
        margin = round(min(layout.width_px, layout.height_px) * _MARGIN)
        self._top = max(layout.height_px - bottom_px - margin - lines.shape[0], 0)
        place = layout.presenter
        is_left = place is not None and not place.is_alone and place.rect.x < layout.width_px // 3
        is_low = place is not None and place.rect.bottom > self._top
        beside = place.rect.right if place is not None and is_left and is_low else 0
        self._left = max(min(beside + margin, layout.width_px - lines.shape[1]), 0)

    def share(self, frame_index: int) -> float:
        """How much of it is seen in a frame, 0 .. 1."""
        at_s = float(frame_index / self._fps) - START_S
        rising = at_s / FADE_S
        falling = (FADE_S + HOLD_S + FADE_S - at_s) / FADE_S
        return max(0.0, min(1.0, rising, falling))

    def patch(self, share: float) -> Patch:
        """The title, seen by `share`."""
        picture = self._picture.copy()
        picture[..., 3] = np.rint(picture[..., 3] * share).astype(np.uint8)
        return Patch.of(picture, self._top, self._left)


def _draw(options: LectureOptions, short_px: int, width_px: int) -> NDArray[np.uint8]:
    rows = [
        (text, size * short_px, colour)
        for text, size, colour in (
            (options.title, _TITLE_SIZE, _LIGHT),
            (options.subtitle, _SUBTITLE_SIZE, _SOFT),
        )
        if text
    ]
    shrink = min(1.0, *(width_px * _WIDEST / _length(text, size) for text, size, _ in rows))
    lines = [lay_out(text, max(round(size * shrink), 8)) for text, size, _ in rows]
    padding = round(short_px * _TITLE_SIZE * _PADDING)
    bar = max(round(short_px * _TITLE_SIZE * _BAR), 2)
    heights = [round(line.size_px * 1.3) for line in lines]
    size = (
        math.ceil(max(line.width_px for line in lines)) + 2 * padding + bar,
        sum(heights) + round(padding * 1.2),
    )
    image = Image.new("RGBA", size, _DARK)
    pen = ImageDraw.Draw(image)
    pen.rectangle((0, 0, bar - 1, size[1]), _ACCENT)
    top = round(padding * 0.6)
    for (_, _, colour), line, height in zip(rows, lines, heights, strict=True):
        corner = (bar + padding, round(top + height / 2 - line.middle_px(0)))
        image.paste(colour, corner, Image.fromarray(line.mask(0)))
        top += height
    return np.asarray(image, np.uint8)


def _length(text: str, size: float) -> float:
    return lay_out(text, max(round(size), 8)).width_px
