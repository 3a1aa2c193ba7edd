"""Preparing the photo: crop rule, face mask, sizes on the 64 grid, pixels for CLIP.

Pure numpy and Pillow; nothing here knows torch.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from engine.animators.sonic.options import GRID_PX

FACE_AREA_FACTOR = 1.1
CLIP_SIZE_PX = 224
CLIP_MEAN = (0.48145466, 0.4578275, 0.40821073)
CLIP_STD = (0.26862954, 0.26130258, 0.27577711)

Box = tuple[float, float, float, float]


@dataclass(frozen=True)
class SonicPicture:
    """The photo and its face mask at the size that is denoised.

    Attributes:
        pixels: H x W x 3, uint8, RGB; both sides multiples of 64.
        mask: H x W, uint8, 255 where the face is.
    """

    pixels: NDArray[np.uint8]
    mask: NDArray[np.uint8]


def crop_square(
    face_box: Box, width_px: int, height_px: int, expand_ratio: float
) -> tuple[int, int, int, int]:
    """The square around a face that Sonic's demonstration crops to.

    Args:
        face_box: x, y, width, height in pixels.
        width_px: of the picture.
        height_px: of the picture.
        expand_ratio: room added on every side, as a share of the box's own side.

    Returns:
        x1, y1, x2, y2: rows y1:y2 and columns x1:x2 are kept.
    """
    x, y, w, h = face_box
    left, right = max(x - expand_ratio * w, 0.0), min(x + w + expand_ratio * w, float(width_px))
    top, bottom = max(y - expand_ratio * h, 0.0), min(y + h + expand_ratio * h, float(height_px))
    side = min(right - left, bottom - top)
    x1, x2 = _side_within(left, right, x + w / 2, side)
    y1, y2 = _side_within(top, bottom, y + h / 2, side)
    return x1, y1, x2, y2


def _side_within(low: float, high: float, wanted_centre: float, side: float) -> tuple[int, int]:
    """A stretch of `side` inside low..high, as near to `wanted_centre` as it can lie."""
    slack = (high - low - side) / 2
    centre = (low + high) / 2
    centre += min(max(wanted_centre - centre, -slack), slack)
    return round(centre - side / 2), round(centre + side / 2)


def face_mask(face_box: Box, width_px: int, height_px: int) -> NDArray[np.uint8]:
    """H x W, uint8: 255 in the face box enlarged by a tenth, 0 elsewhere."""
    x, y, w, h = face_box
    centre_x, centre_y = math.floor(x + w / 2), math.floor(y + h / 2)
    half_w = math.floor(FACE_AREA_FACTOR * w / 2)
    half_h = math.floor(FACE_AREA_FACTOR * h / 2)
    mask = np.zeros((height_px, width_px), dtype=np.uint8)
    rows = slice(max(centre_y - half_h, 0), min(centre_y + half_h, height_px))
    columns = slice(max(centre_x - half_w, 0), min(centre_x + half_w, width_px))
    mask[rows, columns] = 255
    return mask


def grid_size(width_px: int, height_px: int, target_px: int) -> tuple[int, int]:
    """Width and height on the 64 grid whose short side is about `target_px`."""
    scale = target_px / min(width_px, height_px)
    return _on_grid(width_px * scale), _on_grid(height_px * scale)


def _on_grid(side_px: float) -> int:
    return max(round(side_px / GRID_PX), 1) * GRID_PX


def resize_picture(pixels: NDArray[np.uint8], face_box: Box, target_px: int) -> SonicPicture:
    """The published preparation: each side stretched to the grid on its own.

    Args:
        pixels: H x W x 3, uint8, RGB.
        face_box: x, y, width, height in `pixels`.
        target_px: wanted short side.
    """
    height_px, width_px = pixels.shape[:2]
    mask = face_mask(face_box, width_px, height_px)
    size = grid_size(width_px, height_px, target_px)
    return SonicPicture(_lanczos(pixels, size), _lanczos(mask, size))


def _lanczos(pixels: NDArray[np.uint8], size: tuple[int, int]) -> NDArray[np.uint8]:
    """Resize by two passes in a fixed order; versions of Pillow choose it differently.

    Down the columns first where that throws away more than twice as many rows as columns: the
    order of Pillow 13, which moves single pixels by a few levels.
    """
    height, width = pixels.shape[:2]
    new_width, new_height = size
    image = Image.fromarray(pixels)
    if new_height < height and 2 * (width - new_width) < height - new_height:
        between = (width, new_height)
    else:
        between = (new_width, height)
    for step in (between, size):
        if image.size != step:
            image = image.resize(step, Image.Resampling.LANCZOS)
    return np.asarray(image)


@dataclass(frozen=True)
class GridMargins:
    """Pixels added around a picture to reach the grid: left, top, right, bottom."""

    left: int
    top: int
    right: int
    bottom: int

    def cut(self, frame: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """The frame (H x W x 3) without the margins."""
        height, width = frame.shape[:2]
        return frame[self.top : height - self.bottom, self.left : width - self.right]


def pad_picture(pixels: NDArray[np.uint8], face_box: Box) -> tuple[SonicPicture, GridMargins]:
    """Reach the grid by mirrored margins instead of stretching, so that no face is bent.

    Args:
        pixels: H x W x 3, uint8, RGB, already at the size wanted.
        face_box: x, y, width, height in `pixels`.

    Returns:
        The picture on the grid and the margins to cut from every frame.
    """
    height_px, width_px = pixels.shape[:2]
    extra_w, extra_h = -width_px % GRID_PX, -height_px % GRID_PX
    margins = GridMargins(
        extra_w // 2, extra_h // 2, extra_w - extra_w // 2, extra_h - extra_h // 2
    )
    padding = ((margins.top, margins.bottom), (margins.left, margins.right))
    padded = np.pad(pixels, (*padding, (0, 0)), mode="symmetric")
    x, y, w, h = face_box
    moved = (x + margins.left, y + margins.top, w, h)
    return SonicPicture(padded, face_mask(moved, padded.shape[1], padded.shape[0])), margins


def clip_pixels(pixels: NDArray[np.uint8]) -> NDArray[np.float32]:
    """The whole picture squeezed to 224 x 224 and normalised for CLIP.

    Args:
        pixels: H x W x 3, uint8, RGB.

    Returns:
        3 x 224 x 224, float32.
    """
    squeezed = _lanczos(pixels, (CLIP_SIZE_PX, CLIP_SIZE_PX)).astype(np.float32) / np.float32(255)
    mean, std = np.array(CLIP_MEAN, np.float32), np.array(CLIP_STD, np.float32)
    normalised: NDArray[np.float32] = ((squeezed - mean) / std).transpose(2, 0, 1)
    return np.ascontiguousarray(normalised)
