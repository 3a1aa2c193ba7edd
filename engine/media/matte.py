"""A cut-out picture is laid on a colour without a dark or bright line around the hair."""

import cv2
import numpy as np
from numpy.typing import NDArray

EDGE_REACH_PX = 9
"""Soft edges are a few pixels wide; the subject's colour is looked up this far inside."""

BAND_ROWS = 512
"""Rows looked at together, so that memory does not grow with the picture."""

MIN_EDGE_PIXELS = 64
"""With fewer half-transparent pixels there is nothing to learn and little to see."""

CLEAR_WIN = 0.6
"""A matte is believed when it explains the edge with this share of the plain reading's error."""

MIN_ERROR_LEVELS = 8.0
"""Below this mean difference (of 255) the edge fits as it is."""


def compose(
    colour: NDArray[np.uint8], alpha: NDArray[np.uint8], backdrop: tuple[int, int, int]
) -> tuple[NDArray[np.uint8], bool]:
    """Lay a picture on one colour.

    Edges cut out of a black or white picture often keep that colour in their half-transparent
    pixels. When they do, its share is taken out again.

    Args:
        colour: H x W x 3, uint8, RGB, not multiplied with alpha.
        alpha: H x W, uint8.
        backdrop: red, green, blue, 0-255.

    Returns:
        H x W x 3, uint8, and whether a matte was removed.
    """
    matte = _matte_of_edges(colour, alpha)
    result = np.empty_like(colour)
    back = np.array(backdrop, np.float32)
    for top in range(0, colour.shape[0], BAND_ROWS):
        rows = slice(top, top + BAND_ROWS)
        cover = alpha[rows].astype(np.float32)[..., None] / 255.0
        shade = colour[rows].astype(np.float32)
        if matte is None:
            laid = shade * cover + back * (1.0 - cover)
        else:
            # shade = cover * subject + (1 - cover) * matte; put the backdrop in its place.
            laid = shade + (back - matte) * (1.0 - cover)
            laid = np.where(cover == 0.0, back, laid)
        result[rows] = np.clip(laid + 0.5, 0, 255)
    return result, matte is not None


def _matte_of_edges(colour: NDArray[np.uint8], alpha: NDArray[np.uint8]) -> float | None:
    """Which grey level, 0 or 255, is mixed into the half-transparent pixels; None = none."""
    errors = np.zeros(4)
    count = 0
    for top in range(0, colour.shape[0], BAND_ROWS):
        rows = slice(max(top - EDGE_REACH_PX, 0), top + BAND_ROWS + EDGE_REACH_PX)
        band_errors, band_count = _edge_errors(colour[rows], alpha[rows])
        errors += band_errors
        count += band_count
    if count < MIN_EDGE_PIXELS:
        return None
    subject, outline, black, white = errors / count
    plain = min(subject, outline)
    best, matte = (black, 0.0) if black < white else (white, 255.0)
    return matte if plain > MIN_ERROR_LEVELS and best < CLEAR_WIN * plain else None


def _edge_errors(
    colour: NDArray[np.uint8], alpha: NDArray[np.uint8]
) -> tuple[NDArray[np.float64], int]:
    """How badly four readings of the half-transparent pixels fail.

    The readings: the colour of the opaque pixels near it; a colour of its own (the mean of the
    half-transparent ones near it, as in an outlined drawing); the first mixed with black by
    its alpha; the first mixed with white.

    Returns:
        Sums of absolute differences in the order above, and how many pixels were compared.
    """
    is_soft = (alpha > 25) & (alpha < 230)
    inside, has_inside = _mean_near(colour, alpha >= 250)
    usable = is_soft & has_inside
    if not usable.any():
        return np.zeros(4), 0
    outline = _mean_near(colour, is_soft)[0][usable]
    subject = inside[usable]
    seen = colour[usable].astype(np.float32)
    cover = alpha[usable].astype(np.float32)[:, None] / 255.0
    mixed = subject * cover
    readings = (subject, outline, mixed, mixed + 255.0 * (1.0 - cover))
    sums = [float(np.abs(seen - reading).mean(axis=1).sum()) for reading in readings]
    return np.array(sums), int(usable.sum())


def _mean_near(
    colour: NDArray[np.uint8], chosen: NDArray[np.bool_]
) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """Mean colour of the chosen pixels around each pixel, and where there are any."""
    window = (2 * EDGE_REACH_PX + 1, 2 * EDGE_REACH_PX + 1)
    weight = cv2.blur(chosen.astype(np.float32), window, borderType=cv2.BORDER_CONSTANT)
    total = cv2.blur(
        colour * chosen[..., None].astype(np.float32), window, borderType=cv2.BORDER_CONSTANT
    )
    return np.asarray(total / np.maximum(weight, 1e-6)[..., None]), weight > 0.02
