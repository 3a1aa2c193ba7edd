"""Captions drawn into frames: white letters with a dark outline on a soft dark box.

The box of a cue is drawn once and blended into every frame it stands in, so that nothing grows
with the length of the video. Which scripts can be drawn, `engine.media.typefaces` knows.
"""

import math
from collections.abc import Sequence
from fractions import Fraction

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFilter

from engine.media.captions import Cue
from engine.media.lettering import Line, lay_out
from engine.media.patch import Patch

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


def _draw_cue(cue: Cue, width_px: int, height_px: int, lit: int | None = None) -> Patch:
    lines = _fitting_lines(cue.lines, width_px, height_px)
    size_px = lines[0].size_px
    line_px = round(size_px * _LINE_HEIGHT)
    padding = round(size_px * _PADDING)
    soft = max(1, round(size_px * _SOFTNESS))
    text_width = math.ceil(max(line.width_px for line in lines))
    box = (text_width + 2 * padding, line_px * len(lines) + padding)
    patch_size = (min(box[0] + 4 * soft, width_px), min(box[1] + 4 * soft, height_px))
    left, top = (patch_size[0] - box[0]) // 2, (patch_size[1] - box[1]) // 2
    shade = Image.new("L", patch_size, 0)
    ImageDraw.Draw(shade).rounded_rectangle(
        (left, top, left + box[0], top + box[1]), round(size_px * _RADIUS), _BOX_ALPHA
    )
    image = Image.new("RGBA", patch_size, (*_DARK[:3], 0))
    image.putalpha(shade.filter(ImageFilter.GaussianBlur(soft)))
    places = [
        (patch_size[0] / 2, top + padding / 2 + (index + 0.5) * line_px)
        for index in range(len(lines))
    ]
    _write(image, lines, places)
    if lit is not None:
        word = cue.words[lit]
        line, place = lines[word.line], places[word.line]
        _paste(image, line.mask(0, word.first, word.last), line.middle_px(0), place, _LIT)
    below_px = round(size_px * _BOTTOM)
    return Patch.of(
        np.asarray(image, np.uint8),
        top=max(0, height_px - patch_size[1] - below_px + 2 * soft),
        left=(width_px - patch_size[0]) // 2,
    )


_Place = tuple[float, float]
"""Of the middle of a line: from the left and from the top."""


def _write(image: Image.Image, lines: Sequence[Line], places: Sequence[_Place]) -> None:
    """Draw white letters on their outlines; all of these first, since lines may touch."""
    stroke_px = max(1, round(lines[0].size_px * _OUTLINE))
    brush = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * stroke_px + 1, 2 * stroke_px + 1))
    for line, place in zip(lines, places, strict=True):
        outline = cv2.dilate(line.mask(stroke_px), brush)
        _paste(image, outline, line.middle_px(stroke_px), place, _DARK)
    for line, place in zip(lines, places, strict=True):
        _paste(image, line.mask(0), line.middle_px(0), place, _WHITE)


def _paste(
    image: Image.Image,
    mask: NDArray[np.uint8] | cv2.typing.MatLike,
    middle_px: float,
    place: _Place,
    colour: tuple[int, int, int, int],
) -> None:
    """Put a colour where the mask covers, its middle at a place."""
    corner = (round(place[0] - mask.shape[1] / 2), round(place[1] - middle_px))
    image.paste(colour, corner, Image.fromarray(np.asarray(mask, np.uint8)))


def _fitting_lines(texts: Sequence[str], width_px: int, height_px: int) -> list[Line]:
    """The lines in the usual size, or smaller where one of wide letters would not fit."""
    size_px = _font_size(width_px, height_px)
    whole = "\n".join(texts)
    lines = [lay_out(text, size_px, whole) for text in texts]
    longest = max(line.width_px for line in lines)
    room = width_px * _WIDTH_OF_FRAME
    if longest <= room:
        return lines
    smaller_px = max(1, math.floor(size_px * room / longest))
    return [lay_out(text, smaller_px, whole) for text in texts]
