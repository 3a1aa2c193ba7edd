"""Words as pictures: any script we have a font for, shaped, joined and in reading order.

HarfBuzz does both, the shaping and the drawing, on every system alike.
"""

import functools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import uharfbuzz
from numpy.typing import NDArray

from engine.media.reading_order import in_order, is_from_right
from engine.media.typefaces import Typeface, drawable, is_japanese, typeface_of

_FRACTION = 64
"""Places are counted in 64ths of a pixel."""

# Of the size. The room above and below the line on which letters stand, marks included.
ABOVE, BELOW = 1.3, 0.6
MIDDLE = 0.388
"""From the line on which letters stand up to the middle of a line of text."""


@dataclass(frozen=True)
class _Glyph:
    typeface: Typeface
    number: int
    x: float
    y: float
    index: int
    """Of its character in the line."""


@dataclass(frozen=True)
class Line:
    """A line of words, ready to be drawn.

    Attributes:
        size_px: of its letters.
        width_px: from the first letter to the end of the last.
        shown: for each character of the text as given, its place in the text as drawn.
    """

    size_px: int
    width_px: float
    glyphs: tuple[_Glyph, ...]
    shown: tuple[int, ...]

    def mask(self, margin_px: int, first: int = 0, last: int | None = None) -> NDArray[np.uint8]:
        """How much each pixel is covered; all lines of a size and margin stand at one height.

        Args:
            margin_px: left free on every side.
            first: draw only the characters of the text as given from this one on.
            last: and before this one; None = all of them.
        """
        end = len(self.shown) if last is None else last
        wanted = set(self.shown[first:end])
        width = math.ceil(self.width_px) + 2 * margin_px
        above, below = (math.ceil(self.size_px * share) for share in (ABOVE, BELOW))
        height = above + below + 2 * margin_px
        raster = uharfbuzz.RasterDraw()
        raster.scale_factor = (_FRACTION, _FRACTION)
        raster.extents = uharfbuzz.RasterExtents(-margin_px, -below - margin_px, width, height, 0)
        is_empty = True
        for glyph in self.glyphs:
            if last is None or glyph.index in wanted:
                font = _font(glyph.typeface, self.size_px)
                place = (glyph.x * _FRACTION, glyph.y * _FRACTION)
                raster.transform = (1.0, 0.0, 0.0, 1.0, *place)
                raster.draw_glyph(font, glyph.number)
                is_empty = False
        if is_empty:
            return np.zeros((height, width), np.uint8)
        image = raster.render()
        rows = np.frombuffer(image.buffer, np.uint8).reshape(height, -1)
        return np.ascontiguousarray(rows[::-1, :width])

    def middle_px(self, margin_px: int) -> float:
        """Where in its mask the middle of the line is, from the top."""
        return math.ceil(self.size_px * ABOVE) + margin_px - self.size_px * MIDDLE


def lay_out(text: str, size_px: int, whole: str | None = None) -> Line:
    """Shape one line.

    Args:
        text: what to draw; signs that no font has are left out.
        size_px: of the letters.
        whole: the caption it belongs to, which tells the direction and the kind of kanji.
    """
    whole = text if whole is None else whole
    kept, shown = _kept(text)
    glyphs: list[_Glyph] = []
    x = 0.0
    for stretch in in_order(kept, from_right=is_from_right(whole)):
        runs = list(_runs(kept, stretch.first, stretch.last, japanese=is_japanese(whole)))
        for first, last, typeface in runs if stretch.is_rightward else reversed(runs):
            for glyph, advance in _shaped(
                kept, first, last, typeface, size_px, stretch.is_rightward
            ):
                glyphs.append(_Glyph(typeface, glyph[0], x + glyph[1], glyph[2], glyph[3]))
                x += advance
    return Line(size_px, x, tuple(glyphs), shown)


def _kept(text: str) -> tuple[str, tuple[int, ...]]:
    """What can be drawn, and where each character of the text is in it."""
    kept, shown = "", []
    for character in text:
        shown.append(len(kept))
        kept += drawable(character)
    return kept, tuple(shown)


def _runs(
    text: str, first: int, last: int, *, japanese: bool
) -> Iterator[tuple[int, int, Typeface]]:
    """Parts of one font each; spaces, marks and joiners stay with the letters before them."""
    start, current = first, None
    for index in range(first, last):
        own = typeface_of(text[index], japanese=japanese)
        if current is not None and (own is None or _stays(text[index], current, own)):
            continue
        if current is not None:
            yield start, index, current
            start = index
        current = own
    if current is not None:
        yield start, last, current


def _stays(character: str, current: Typeface, own: Typeface) -> bool:
    """Whether a character is drawn by the font before it."""
    return own is current or (not character.isalnum() and ord(character) in current.codes)


def _shaped(
    text: str, first: int, last: int, typeface: Typeface, size_px: int, is_rightward: bool
) -> Iterator[tuple[tuple[int, float, float, int], float]]:
    """Number, place and character of each glyph from left to right, and how far it moves on."""
    buffer = uharfbuzz.Buffer()
    buffer.add_codepoints([ord(character) for character in text[first:last]])
    buffer.direction = "ltr" if is_rightward else "rtl"
    buffer.guess_segment_properties()
    uharfbuzz.shape(_font(typeface, size_px), buffer)
    for info, position in zip(buffer.glyph_infos, buffer.glyph_positions, strict=True):
        place = (position.x_offset / _FRACTION, position.y_offset / _FRACTION)
        yield (info.codepoint, *place, first + info.cluster), position.x_advance / _FRACTION


@functools.lru_cache(maxsize=32)
def _font(typeface: Typeface, size_px: int) -> Any:  # noqa: ANN401 - of uharfbuzz
    font = uharfbuzz.Font(typeface.face)
    font.scale = (size_px * _FRACTION, size_px * _FRACTION)
    return font
