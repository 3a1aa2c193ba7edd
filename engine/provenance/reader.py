"""Reading the visible label back from pixels, also from a copy that was scaled or encoded anew."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from engine.provenance.visible import letter_heights_px
from engine.provenance.words import label_languages, words_in

MIN_LIKENESS = 0.6
"""Of the letters and what is seen, -1..1: 43 photos without a label stay below .37, a label encoded
at a quarter of our rate is above .7."""

MIN_CONTRAST = 45.0
"""How much brighter (0-255) letters are than their background."""

MAX_SIDE_PX = 540
"""Larger frames are made smaller first; the small letters stay 16 pixels high."""

CORNER_SHARE = (0.8, 0.3)
"""Width and height of the corners that are searched, as shares of the short side."""

_SEARCHED = (0.0485, 0.0545), (0.0295, 0.042)
"""Heights of letters as shares of the short side, large and small. In a copy that was scaled
they are what they were in the original, rounded to its pixels, and 10 pixels at least there."""

_STEP = 1.025
"""A larger step would miss letters between two sizes: the last one lies 20 letters away."""


@dataclass(frozen=True)
class SeenLabel:
    """A label found in a frame.

    Attributes:
        language: of its words.
        is_large: whether its letters are as high as the first seconds need.
        likeness: 0-1.
    """

    language: str
    is_large: bool
    likeness: float


def find_label(frame: NDArray[np.uint8]) -> SeenLabel | None:
    """The label in a frame (H x W x 3, uint8, RGB); None when there is none."""
    grey = np.asarray(cv2.cvtColor(frame, cv2.COLOR_RGB2GRAY), np.uint8)
    short = min(grey.shape)
    if short > MAX_SIDE_PX:
        scale = MAX_SIDE_PX / short
        size = (round(grey.shape[1] * scale), round(grey.shape[0] * scale))
        grey = np.asarray(cv2.resize(grey, size, interpolation=cv2.INTER_AREA), np.uint8)
    height, width = grey.shape
    own = letter_heights_px(width, height)
    found = _best(grey, [(float(own[0]), True), (float(own[1]), False)])
    if found is None:
        short = min(height, width)
        searched = [
            (share * short, is_large)
            for bounds, is_large in zip(_SEARCHED, (True, False), strict=True)
            for share in _steps(*bounds)
        ]
        found = _best(grey, searched)
    return found


def _steps(first: float, last: float) -> Iterator[float]:
    while first <= last:
        yield first
        first *= _STEP


def _best(grey: NDArray[np.uint8], sizes: Sequence[tuple[float, bool]]) -> SeenLabel | None:
    """The label that is seen best in one of these heights of letters, large or not."""
    found: SeenLabel | None = None
    for letter_px, is_large in sizes:
        for language in label_languages():
            letters = words_in(language).scaled(letter_px)
            likeness = max((_likeness(part, letters) for part in _corners(grey)), default=0.0)
            if likeness >= MIN_LIKENESS and (found is None or likeness > found.likeness):
                found = SeenLabel(language, is_large, round(likeness, 3))
    return found


def _corners(grey: NDArray[np.uint8]) -> Iterator[NDArray[np.uint8]]:
    height, width = grey.shape
    short = min(height, width)
    w, h = round(short * CORNER_SHARE[0]), round(short * CORNER_SHARE[1])
    for rows in (slice(height - h, height), slice(0, h)):
        for columns in (slice(width - w, width), slice(0, w)):
            yield grey[rows, columns]


def _likeness(part: NDArray[np.uint8], letters: NDArray[np.uint8]) -> float:
    """How well the letters are seen at their best place; 0 where they hardly stand out."""
    height, width = letters.shape
    if part.shape[0] < height or part.shape[1] < width:
        return 0.0
    scores = cv2.matchTemplate(part, letters, cv2.TM_CCOEFF_NORMED)
    _, best, _, (left, top) = cv2.minMaxLoc(scores)
    seen = part[top : top + height, left : left + width]
    contrast = float(seen[letters > 200].mean() - seen[letters < 50].mean())
    return float(best) if contrast >= MIN_CONTRAST else 0.0
