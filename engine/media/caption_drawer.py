# ruff: noqa: RUF001 - signs that look like others
"""Captions drawn into frames: white letters with a dark outline on a soft dark box.

The box of a cue is drawn once and blended into every frame it stands in, so that nothing grows
with the length of the video. The bundled font has Latin, Greek and Cyrillic letters; other
scripts need shaping or large fonts and are refused by `find_undrawable` before anything starts.
"""

import math
import unicodedata
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFilter, ImageFont

from engine.media.captions import Cue
from engine.media.patch import Patch

_FONT_PATH = (
    Path(__file__).resolve().parents[2] / "assets" / "fonts" / "NotoSans-SemiBold-subset.ttf"
)
# First and last character of what the font draws.
_DRAWN = (
    (0x20, 0x7E), (0xA0, 0x24F), (0x300, 0x36F), (0x370, 0x3E1), (0x3F0, 0x3FF),
    (0x400, 0x52F), (0x1E00, 0x1EFF), (0x2010, 0x2027), (0x2030, 0x203A), (0x20A0, 0x20BF),
)  # fmt: skip
_DRAWN_SINGLY = frozenset("№™−≠")

# Shares of the font's size, but for the first two.
_SIZE_OF_SHORT_SIDE = 1 / 19
_WIDTH_OF_FRAME = 0.88
_LETTER_WIDTH = 0.53  # a mean letter of running text
_LINE_HEIGHT = 1.24
_OUTLINE = 0.07
_PADDING = 0.42
_SOFTNESS = 0.22
_RADIUS = 0.35
_BOTTOM = 0.75  # free below the box
_BOX_ALPHA = 150
_SMALLEST_PX = 12

_WHITE, _DARK = (255, 255, 255, 255), (16, 16, 20, 255)
_LIT = (255, 216, 77, 255)  # 12:1 against the box, and unlike white for the colour-blind


def caption_zone(width_px: int, height_px: int) -> tuple[int, int, int, int]:
    """Where captions of up to two lines may stand: x, y, width and height in pixels."""
    size_px = _font_size(width_px, height_px)
    room_px = math.ceil(size_px * (2 * _LINE_HEIGHT + 3 * _PADDING + _BOTTOM + 2 * _SOFTNESS))
    top = max(0, height_px - room_px)
    return 0, top, width_px, height_px - top


def columns_for(width_px: int, height_px: int) -> int:
    """How many letters of running text fit into a line of a frame; never more than are usual."""
    size_px = _font_size(width_px, height_px)
    return max(12, min(42, math.floor(width_px * _WIDTH_OF_FRAME / (size_px * _LETTER_WIDTH))))


def find_undrawable(text: str) -> str:
    """Letters and digits of a text that the bundled font does not have, each once, in order."""
    composed = unicodedata.normalize("NFC", text)
    missing = (
        character
        for character in composed
        if unicodedata.category(character)[0] in "LMN" and not _is_drawn(character)
    )
    return "".join(dict.fromkeys(missing))


class CaptionDrawer:
    """Draws cues into the frames of one video, in order.

    Args:
        cues: built with `columns_for` the frame's size.
        width_px: of a frame.
        height_px: of a frame.
        fps: frames a second.
        highlights: whether the word that is said has another colour.
    """

    def __init__(
        self,
        cues: Sequence[Cue],
        width_px: int,
        height_px: int,
        fps: Fraction,
        *,
        highlights: bool = False,
    ) -> None:
        self._spans = [
            (math.ceil(cue.start_s * fps), math.ceil(cue.end_s * fps), cue) for cue in cues
        ]
        self._width_px, self._height_px = width_px, height_px
        self._next = 0
        self._fps, self._highlights = fps, highlights
        self._drawn: tuple[Cue, int | None, Patch] | None = None

    def draw(self, frame: NDArray[np.uint8], frame_index: int) -> NDArray[np.uint8]:
        """A frame with the caption of its time.

        Args:
            frame: H x W x 3, uint8, RGB; not changed.
            frame_index: of the video, never smaller than before.

        Returns:
            A new frame, or `frame` itself where no caption stands.
        """
        while self._next < len(self._spans) and self._spans[self._next][1] <= frame_index:
            self._next += 1
        if self._next == len(self._spans) or self._spans[self._next][0] > frame_index:
            return frame
        cue = self._spans[self._next][2]
        return self._patch(cue, self._lit(cue, frame_index)).blended(frame)

    def _lit(self, cue: Cue, frame_index: int) -> int | None:
        """Which word is said now; None when none should look different."""
        if not self._highlights or not cue.words:
            return None
        now_s = frame_index / self._fps
        begun = sum(word.start_s <= now_s for word in cue.words)
        return max(0, begun - 1)

    def _patch(self, cue: Cue, lit: int | None) -> Patch:
        """The cue as it is blended; only the last one is kept."""
        if self._drawn is None or self._drawn[0] is not cue or self._drawn[1] != lit:
            self._drawn = (cue, lit, _draw_cue(cue, self._width_px, self._height_px, lit))
        return self._drawn[2]


def _font_size(width_px: int, height_px: int) -> int:
    return max(_SMALLEST_PX, round(min(width_px, height_px) * _SIZE_OF_SHORT_SIDE))


def _is_drawn(character: str) -> bool:
    code = ord(character)
    return character in _DRAWN_SINGLY or any(first <= code <= last for first, last in _DRAWN)


def _drawable(line: str) -> str:
    """The line without signs that the font does not have."""
    return "".join(filter(_is_drawn, unicodedata.normalize("NFC", line)))


def _draw_cue(cue: Cue, width_px: int, height_px: int, lit: int | None = None) -> Patch:
    lines = [_drawable(line) for line in cue.lines]
    font = _fitting_font(lines, width_px, height_px)
    size_px = font.size
    line_px = round(size_px * _LINE_HEIGHT)
    padding = round(size_px * _PADDING)
    soft = max(1, round(size_px * _SOFTNESS))
    text_width = math.ceil(max(font.getlength(line) for line in lines))
    box = (text_width + 2 * padding, line_px * len(lines) + padding)
    patch_size = (min(box[0] + 4 * soft, width_px), min(box[1] + 4 * soft, height_px))
    left, top = (patch_size[0] - box[0]) // 2, (patch_size[1] - box[1]) // 2
    shade = Image.new("L", patch_size, 0)
    ImageDraw.Draw(shade).rounded_rectangle(
        (left, top, left + box[0], top + box[1]), round(size_px * _RADIUS), _BOX_ALPHA
    )
    image = Image.new("RGBA", patch_size, (*_DARK[:3], 0))
    image.putalpha(shade.filter(ImageFilter.GaussianBlur(soft)))
    letters = Image.new("RGBA", patch_size, (*_DARK[:3], 0))
    pen = ImageDraw.Draw(letters)
    outline: dict[str, Any] = {
        "font": font,
        "stroke_width": max(1, round(size_px * _OUTLINE)),
        "stroke_fill": _DARK,
    }
    middle = patch_size[0] / 2
    heights = [top + padding / 2 + (index + 0.5) * line_px for index in range(len(lines))]
    for line, height in zip(lines, heights, strict=True):
        pen.text((middle, height), line, fill=_WHITE, anchor="mm", **outline)
    if lit is not None:
        word = cue.words[lit]
        text, line = cue.lines[word.line], lines[word.line]
        before = font.getlength(_drawable(text[: word.first]))
        place = (middle - font.getlength(line) / 2 + before, heights[word.line])
        said = _drawable(text[word.first : word.last])
        pen.text(place, said, fill=_LIT, anchor="lm", **outline)
    image.alpha_composite(letters)
    below_px = round(size_px * _BOTTOM)
    return Patch.of(
        np.asarray(image, np.uint8),
        top=max(0, height_px - patch_size[1] - below_px + 2 * soft),
        left=(width_px - patch_size[0]) // 2,
    )


def _fitting_font(lines: Sequence[str], width_px: int, height_px: int) -> ImageFont.FreeTypeFont:
    """The font in its usual size, or smaller where a line of wide letters would not fit."""
    size_px = _font_size(width_px, height_px)
    font = ImageFont.truetype(_FONT_PATH, size_px)
    longest = max(font.getlength(line) for line in lines)
    room = width_px * _WIDTH_OF_FRAME
    if longest <= room:
        return font
    return ImageFont.truetype(_FONT_PATH, max(1, math.floor(size_px * room / longest)))
