"""The visible label: "AI-generated" in a corner of every frame, large at first, then small.

    label = VisibleLabel(1920, 1080, Fraction(25), "fr", keep_free=[Box(400, 700, 500, 200)])
    for index, frame in enumerate(frames):
        writer.write(label.draw(frame, index))

It takes the corner in which it covers least of what must be seen, and stays there.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import cv2
import numpy as np
from numpy.typing import NDArray

from engine.face.geometry import Face
from engine.media.patch import Patch
from engine.provenance.words import Words, words_in

LARGE_S = 3.0
"""How long it is large; the Chinese measures ask for two seconds, ours keeps one in reserve."""

LARGE_SHARE = 0.05
"""Height of its letters as a share of the short side; not less is allowed for the large one."""

SMALL_SHARE = 0.03
MIN_LETTER_PX = 10
MARGIN_SHARE = 0.025

# Shares of the height of a letter.
_PADDING = 0.55
_RADIUS = 0.45

_DARK = (16, 16, 20)
_LARGE_BOX_ALPHA, _LARGE_LETTER_ALPHA = 200, 255
_SMALL_BOX_ALPHA, _SMALL_LETTER_ALPHA = 140, 235

# How far a mouth moves and opens around where it is in the photo, in widths of the mouth.
_MOUTH_ROOM = 0.7
_OUTER_LIPS = (61, 291, 0, 17, 37, 267, 84, 314)
"""Landmarks on the outline of the lips: corners, middle above and below, and between them."""


@dataclass(frozen=True)
class Box:
    """A rectangle in pixels of a frame."""

    x: float
    y: float
    width: float
    height: float

    def shared_with(self, other: "Box") -> float:
        """The area both cover, in square pixels."""
        width = min(self.x + self.width, other.x + other.width) - max(self.x, other.x)
        height = min(self.y + self.height, other.y + other.height) - max(self.y, other.y)
        return max(0.0, width) * max(0.0, height)


def mouth_room(face: Face) -> Box:
    """Where the mouth of this face will be while it speaks and the head sways."""
    lips = face.landmarks[list(_OUTER_LIPS), :2]
    (left, top), (right, bottom) = lips.min(axis=0), lips.max(axis=0)
    room = float(right - left) * _MOUTH_ROOM
    return Box(
        float(left) - room,
        float(top) - room,
        float(right - left) + 2 * room,
        float(bottom - top) + 2 * room,
    )


def letter_heights_px(width_px: int, height_px: int) -> tuple[int, int]:
    """Height of a letter of the large and of the small label in a video of this size."""
    short = min(width_px, height_px)
    large, small = math.ceil(short * LARGE_SHARE), math.ceil(short * SMALL_SHARE)
    return max(MIN_LETTER_PX, large), max(MIN_LETTER_PX, small)


class VisibleLabel:
    """Draws the label into the frames of one video, in any order.

    Args:
        width_px: of a frame.
        height_px: of a frame.
        fps: frames a second.
        language: of the words, such as `zh`; another one than there is gives English.
        keep_free: what it must not cover, most important first: mouths, captions, faces.
    """

    def __init__(
        self,
        width_px: int,
        height_px: int,
        fps: Fraction,
        language: str = "en",
        keep_free: Sequence[Box] = (),
    ) -> None:
        self.words = words_in(language)
        self._large_frames = math.ceil(LARGE_S * fps)
        self._frame_size = (width_px, height_px)
        large_px, small_px = letter_heights_px(width_px, height_px)
        large = _drawn(self.words, large_px, _LARGE_BOX_ALPHA, _LARGE_LETTER_ALPHA)
        small = _drawn(self.words, small_px, _SMALL_BOX_ALPHA, _SMALL_LETTER_ALPHA)
        right, low = self._corner(large, keep_free)
        self._large = self._placed(large, right=right, low=low)
        self._small = self._placed(small, right=right, low=low)

    def draw(self, frame: NDArray[np.uint8], frame_index: int) -> NDArray[np.uint8]:
        """A copy of a frame with the label.

        Args:
            frame: H x W x 3, uint8, RGB.
            frame_index: of the video, from 0.
        """
        patch = self._large if frame_index < self._large_frames else self._small
        return patch.blended(frame)

    @property
    def box(self) -> Box:
        """What the large label covers; the small one lies inside it or in the same corner."""
        return Box(self._large.left, self._large.top, *self._large.size)

    def _corner(self, drawn: NDArray[np.uint8], keep_free: Sequence[Box]) -> tuple[bool, bool]:
        """Whether to take the right side, and the lower one."""
        sides = ((True, True), (False, True), (True, False), (False, False))

        def covered(side: tuple[bool, bool]) -> tuple[float, ...]:
            patch = self._placed(drawn, right=side[0], low=side[1])
            box = Box(patch.left, patch.top, *patch.size)
            return tuple(round(box.shared_with(other)) for other in keep_free)

        return min(sides, key=covered)

    def _placed(self, drawn: NDArray[np.uint8], *, right: bool, low: bool) -> Patch:
        frame_width, frame_height = self._frame_size
        height, width = drawn.shape[:2]
        margin = round(min(self._frame_size) * MARGIN_SHARE)
        left = max(0, frame_width - width - margin) if right else min(margin, frame_width - width)
        top = max(0, frame_height - height - margin) if low else min(margin, frame_height - height)
        return Patch.of(drawn, max(0, top), max(0, left))


def _drawn(words: Words, letter_px: int, box_alpha: int, letter_alpha: int) -> NDArray[np.uint8]:
    """White letters on a dark rounded box, H x W x 4, RGBA."""
    letters = words.scaled(letter_px)
    padding = round(letter_px * _PADDING)
    height, width = letters.shape[0] + 2 * padding, letters.shape[1] + 2 * padding
    weight = np.zeros((height, width), np.float32)
    inside = slice(padding, padding + letters.shape[0]), slice(padding, padding + letters.shape[1])
    weight[inside] = letters.astype(np.float32) / 255 * (letter_alpha / 255)
    box = _rounded(height, width, round(letter_px * _RADIUS)) * (box_alpha / 255)
    alpha = weight + box * (1 - weight)
    colour = np.array(_DARK, np.float32) * (box * (1 - weight))[..., None] + 255 * weight[..., None]
    colour /= np.maximum(alpha, 1e-6)[..., None]
    rgba = np.concatenate([colour, alpha[..., None] * 255], axis=-1)
    return np.asarray(np.clip(np.rint(rgba), 0, 255), np.uint8)


def _rounded(height: int, width: int, radius: int) -> NDArray[np.float32]:
    """A box with round corners, 0-1."""
    sharp = 4  # drawn larger, then shrunk: smooth edges
    size = (height * sharp, width * sharp)
    mask = np.zeros(size, np.uint8)
    r = radius * sharp
    cv2.rectangle(mask, (r, 0), (size[1] - r - 1, size[0] - 1), 255, -1)
    cv2.rectangle(mask, (0, r), (size[1] - 1, size[0] - r - 1), 255, -1)
    for x in (r, size[1] - r - 1):
        for y in (r, size[0] - r - 1):
            cv2.circle(mask, (x, y), r, 255, -1)
    small = cv2.resize(mask, (width, height), interpolation=cv2.INTER_AREA)
    return np.asarray(small, np.float32) / np.float32(255)
