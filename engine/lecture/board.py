"""What stands still behind the presenter: background, slide, and the frame around the presenter."""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from engine.lecture.layout import Layout, Rect
from engine.lecture.options import LectureOptions
from engine.lecture.planes import presenter_mask
from engine.media.image import parse_background

BLUR_SHRINK = 8
BLUR_SIGMA = 11.0
BLUR_BRIGHTNESS = 0.45
"""A blurred copy of the slide is darkened, so that the slide stands out."""

RING = 0.02
WIDEST_RING = 0.006
"""Width of the line around a presenter, as a share of the shorter side of their rectangle, and at
most of the picture."""

RING_COLOUR = (245, 246, 248)


@dataclass(frozen=True)
class Board:
    """The still pictures of one section.

    Attributes:
        empty: H x W x 3, uint8, RGB: without the slide.
        full: the same with the slide.
    """

    empty: NDArray[np.uint8]
    full: NDArray[np.uint8]

    def at(self, share: float) -> NDArray[np.uint8]:
        """The slide faded in by `share`, 0 .. 1."""
        if share >= 1:
            return self.full
        if share <= 0:
            return self.empty
        return np.asarray(cv2.addWeighted(self.full, share, self.empty, 1 - share, 0), np.uint8)


def draw_board(
    options: LectureOptions,
    layout: Layout,
    slide: NDArray[np.uint8],
    backdrop: NDArray[np.uint8] | None,
) -> Board:
    """Draw the pictures of one slide.

    Args:
        options: the background.
        layout: the places.
        slide: H x W x 3, uint8, RGB, of any size.
        backdrop: picture behind everything, for the background `picture`.
    """
    empty = _background(options, layout, slide, backdrop)
    full = empty.copy()
    rect = layout.slide_rect(slide.shape[1], slide.shape[0])
    full[rect.y : rect.bottom, rect.x : rect.right] = resized(slide, rect.width, rect.height)
    place = layout.presenter
    if place is not None and not place.is_alone:
        for picture in (empty, full):
            _draw_ring(picture, place.rect, is_round=place.is_round)
    return Board(empty, full)


def resized(picture: NDArray[np.uint8], width: int, height: int) -> NDArray[np.uint8]:
    """The picture in another size, sharp both ways."""
    is_smaller = width * height < picture.shape[0] * picture.shape[1]
    method = cv2.INTER_AREA if is_smaller else cv2.INTER_CUBIC
    return np.asarray(cv2.resize(picture, (width, height), interpolation=method), np.uint8)


def _background(
    options: LectureOptions,
    layout: Layout,
    slide: NDArray[np.uint8],
    backdrop: NDArray[np.uint8] | None,
) -> NDArray[np.uint8]:
    width, height = layout.width_px, layout.height_px
    if options.background == "picture" and backdrop is not None:
        return resized(_covering(backdrop, width / height), width, height)
    if options.background == "blurred":
        covering = _covering(slide, width / height)
        small = resized(covering, max(width // BLUR_SHRINK, 2), max(height // BLUR_SHRINK, 2))
        soft = cv2.GaussianBlur(small, (0, 0), BLUR_SIGMA)
        large = cv2.resize(soft, (width, height), interpolation=cv2.INTER_CUBIC)
        return np.asarray(cv2.convertScaleAbs(large, alpha=BLUR_BRIGHTNESS), np.uint8)
    colour = parse_background(options.colour)
    return np.full((height, width, 3), colour, np.uint8)


def _covering(picture: NDArray[np.uint8], ratio: float) -> NDArray[np.uint8]:
    """The largest middle part of a picture with a shape."""
    height, width = picture.shape[:2]
    part_width, part_height = min(width, round(height * ratio)), min(height, round(width / ratio))
    left, top = (width - part_width) // 2, (height - part_height) // 2
    return picture[top : top + max(part_height, 1), left : left + max(part_width, 1)]


def _draw_ring(picture: NDArray[np.uint8], rect: Rect, *, is_round: bool) -> None:
    """A light line around the presenter, so that a dark suit stands out from a dark slide."""
    height, width = picture.shape[:2]
    widest = min(width, height) * WIDEST_RING
    line = max(round(min(min(rect.width, rect.height) * RING, widest)), 2)
    outer = Rect(rect.x - line, rect.y - line, rect.width + 2 * line, rect.height + 2 * line)
    mask = presenter_mask(outer.width, outer.height, is_round=is_round)
    left, top = max(outer.x, 0), max(outer.y, 0)
    right, bottom = min(outer.right, width), min(outer.bottom, height)
    share = mask[top - outer.y : bottom - outer.y, left - outer.x : right - outer.x, None]
    part = picture[top:bottom, left:right]
    part[...] = np.rint(part * (1 - share) + np.array(RING_COLOUR) * share).astype(np.uint8)
