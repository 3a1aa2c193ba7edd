"""A cut-out picture is laid on a colour without a dark or bright line around the hair."""

import cv2
import numpy as np
from numpy.typing import NDArray

EDGE_REACHES_PX = (2, 4, 9)
"""The subject's colour is looked up this far inside: near where possible, further behind a wide
soft edge."""

BAND_ROWS = 512
"""Rows looked at together, so that memory does not grow with the picture."""

MIN_EDGE_PIXELS = 64
"""With fewer half-transparent pixels there is nothing to learn and little to see."""

MATTE_SHARE = (0.7, 1.3)
"""A matte is believed when about all of it, neither half nor double, is found in the edge."""

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
    reach = EDGE_REACHES_PX[-1]
    sums = np.zeros(9)
    for top in range(0, colour.shape[0], BAND_ROWS):
        rows = slice(max(top - reach, 0), top + BAND_ROWS + reach)
        sums += _edge_sums(colour[rows], alpha[rows])
    count = sums[0]
    if count < MIN_EDGE_PIXELS:
        return None
    plain_error = sums[1:3].min() / count
    candidates = []
    for matte, (error, found, full) in ((0.0, sums[3:6]), (255.0, sums[6:9])):
        is_whole = MATTE_SHARE[0] <= found / max(full, 1.0) <= MATTE_SHARE[1]
        if is_whole and error / count < plain_error:
            candidates.append((error, matte))
    return min(candidates)[1] if candidates and plain_error > MIN_ERROR_LEVELS else None


def _edge_sums(colour: NDArray[np.uint8], alpha: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Statistics of the half-transparent pixels, to add up over bands.

    Returns:
        How many there are; the absolute errors of two plain readings (the colour of the opaque
        pixels near it; a colour of its own, as in an outlined drawing); then for black and for
        white: the absolute error of the reading "the first, mixed with it by alpha", and the
        two sums whose ratio is the share of it that is really there.
    """
    is_soft = (alpha > 25) & (alpha < 230)
    inside, usable = _colour_inside(colour, alpha)
    usable &= is_soft
    if not usable.any():
        return np.zeros(9)
    subject = inside[usable]
    outline = _mean_near(colour, is_soft, EDGE_REACHES_PX[-1])[0][usable]
    seen = colour[usable].astype(np.float32)
    sums = [float(usable.sum()), _distance(seen, subject), _distance(seen, outline)]
    clear = 1.0 - alpha[usable].astype(np.float32)[:, None] / 255.0
    for matte in (0.0, 255.0):
        pull = (matte - subject) * clear
        sums.append(_distance(seen, subject + pull))
        sums.append(float(((seen - subject) * pull).sum()))
        sums.append(float((pull * pull).sum()))
    return np.array(sums)


def _distance(left: NDArray[np.float32], right: NDArray[np.float32]) -> float:
    return float(np.abs(left - right).mean(axis=1).sum())


def _colour_inside(
    colour: NDArray[np.uint8], alpha: NDArray[np.uint8]
) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """Mean colour of the nearest opaque pixels, and where there are any within reach."""
    is_solid = alpha >= 250
    inside, is_known = _mean_near(colour, is_solid, EDGE_REACHES_PX[0])
    for reach in EDGE_REACHES_PX[1:]:
        further, is_near = _mean_near(colour, is_solid, reach)
        inside = np.where(is_known[..., None], inside, further)
        is_known |= is_near
    return inside, is_known


def _mean_near(
    colour: NDArray[np.uint8], chosen: NDArray[np.bool_], reach: int
) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """Mean colour of the chosen pixels around each pixel, and where there are any."""
    window = (2 * reach + 1, 2 * reach + 1)
    weight = cv2.blur(chosen.astype(np.float32), window, borderType=cv2.BORDER_CONSTANT)
    total = cv2.blur(
        colour * chosen[..., None].astype(np.float32), window, borderType=cv2.BORDER_CONSTANT
    )
    return np.asarray(total / np.maximum(weight, 1e-6)[..., None]), weight > 1e-3
