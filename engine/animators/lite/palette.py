"""Reads a portrait's colours and manner: skin, lips, teeth, grey or coloured, photo or drawing."""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from engine.animators.lite.frame import FaceFrame
from engine.face import topology as topo

DRAWING_FLAT_SHARE, DRAWING_COLOURS = 0.45, 9
"""A drawn face is flat in more than this share and made of no more colours than this.

Measured on 26 portraits: drawings .58-.81 and 2-6 colours, photographs and paintings below .08
(with a mask .33); an overexposed photograph reaches .62, but with 11 colours.
"""
COVERED_FLAT_SHARE = 0.85
USUAL_CONTRAST = 120.0
DETAIL_SHARES, DETAIL_SIZES = (0.31, 0.33, 0.36, 0.39, 0.44, 0.50), (7.0, 5.0, 3.6, 2.8, 2.0, 1.1)
SOFT_SHARE = 0.45
GREY_SATURATION = 6.0
TOOTH_OF_BRIGHTEST = 0.6
"""Teeth behind lips, against the face's lit parts; of 19 portraits it moves those of one, a dark
man with a white beard in hard light."""
LUMA = np.array([0.299, 0.587, 0.114], np.float32)


@dataclass(frozen=True)
class MouthColours:
    """Colours of one portrait, RGB 0..255, float32."""

    lip: NDArray[np.float32]
    skin: NDArray[np.float32]
    tooth: NDArray[np.float32]
    tongue: NDArray[np.float32]
    cavity: NDArray[np.float32]
    gum: NDArray[np.float32]


def is_drawing(photo: NDArray[np.uint8], frame: FaceFrame) -> bool:
    """Whether the face is made of a few flat colours."""
    mask = polygon_mask(photo.shape[:2], frame, topo.FACE_OVAL) > 0
    if not mask.any():
        return False
    low, high = np.percentile(photo[mask] @ LUMA, [2, 98])
    contrast = max(float(high - low), 20.0)
    shades = np.clip((photo[mask] - low) * (200 / contrast), 0, 255).astype(int) // 24
    counts = np.sort(np.bincount(shades @ np.array([121, 11, 1])))[::-1]
    num_colours = int(np.searchsorted(np.cumsum(counts), 0.9 * counts.sum())) + 1
    return num_colours <= DRAWING_COLOURS and _flat_share(photo, mask) > DRAWING_FLAT_SHARE


def is_mouth_covered(photo: NDArray[np.uint8], frame: FaceFrame) -> bool:
    """Whether nothing can be seen where the lips should be: a mask, or blown-out light."""
    mask = polygon_mask(photo.shape[:2], frame, topo.OUTER_LIPS) > 0
    return bool(mask.any()) and _flat_share(photo, mask) > COVERED_FLAT_SHARE


def _flat_share(photo: NDArray[np.uint8], mask: NDArray[np.bool_]) -> float:
    """Share of the masked pixels whose surroundings (5 x 5) vary by less than one grey level.

    A dim picture is judged as if it had the contrast of a usual one.
    """
    grey = cv2.cvtColor(photo, cv2.COLOR_RGB2GRAY).astype(np.float32)
    low, high = np.percentile(grey[mask], [2, 98])
    mean = cv2.blur(grey, (5, 5))
    variance = np.maximum(cv2.blur(grey * grey, (5, 5)) - mean * mean, 0)
    limit = min(1.0, max(float(high - low), 20.0) / USUAL_CONTRAST)
    return float((variance[mask] < limit * limit).mean())


def detail_px(photo: NDArray[np.uint8], frame: FaceFrame) -> float:
    """Size of the smallest detail of the face in pixels: 1 when sharp, k when enlarged k-fold.

    Read from the share of fine against coarser contrast, from fine to coarse scales; the table
    was measured on portraits shrunk and enlarged again.
    """
    points = frame.to_picture(frame.plane[list(topo.FACE_OVAL)])
    low = np.clip(points.min(axis=0), 0, None).astype(int)
    high = points.max(axis=0).astype(int)
    face = photo[low[1] : high[1], low[0] : high[0]]
    if min(face.shape[:2]) < 8:
        return 1.1
    grey = cv2.cvtColor(face, cv2.COLOR_RGB2GRAY).astype(np.float32)
    found = 1.1
    for scale in (1.0, 2.0, 4.0):
        fine = grey - cv2.GaussianBlur(grey, (0, 0), scale)
        coarse = grey - cv2.GaussianBlur(grey, (0, 0), 2 * scale)
        share = float(np.sqrt((fine**2).mean() / max(float((coarse**2).mean()), 1e-6)))
        if scale == 1.0 or share < SOFT_SHARE:
            found = max(found, scale * float(np.interp(share, DETAIL_SHARES, DETAIL_SIZES)))
    return found


def polygon_mask(
    size: tuple[int, int], frame: FaceFrame, vertices: tuple[int, ...]
) -> NDArray[np.uint8]:
    """H x W mask (0 or 255) of the polygon through landmarks."""
    mask = np.zeros(size, np.uint8)
    points = frame.to_picture(frame.plane[list(vertices)])
    cv2.fillPoly(mask, [np.rint(points).astype(np.int32)], 255)
    return mask


def measure_colours(photo: NDArray[np.uint8], frame: FaceFrame) -> MouthColours:
    """Colours for the inside of the mouth, in the light and manner of the picture."""
    size = photo.shape[:2]
    skin = _median(photo, _cheeks(size, frame), np.array([190.0, 150.0, 130.0]))
    lips = polygon_mask(size, frame, topo.OUTER_LIPS)
    lips[polygon_mask(size, frame, topo.INNER_LIPS) > 0] = 0
    lip = _median(photo, lips, skin * (0.8, 0.65, 0.65))
    skin_luma = float(skin @ LUMA)
    tooth = _tooth(skin, _eye_white(photo, frame), _brightest(photo, frame))
    tongue = 0.45 * lip + 0.45 * skin * np.array([0.92, 0.55, 0.55])
    gum = lip * 0.7
    cavity = (0.25 * lip + 0.1 * skin_luma * np.array([1.0, 0.45, 0.42])) * 0.42
    colours = [lip, skin, tooth, tongue, cavity, gum]
    if is_grey(photo):
        colours = [np.full(3, float(colour @ LUMA)) for colour in colours]
    return MouthColours(*(colour.astype(np.float32) for colour in colours))


def _tooth(
    skin: NDArray[np.float64], white: NDArray[np.float64] | None, brightest: float
) -> NDArray[np.float64]:
    """Tooth colour: as bright as the eyes' white, skin and light allow, tinted by the light.

    Teeth do not darken with the complexion: what the light does to the brightest part of the
    face (0..255) it does to them.
    """
    skin_luma = float(skin @ LUMA)
    luma = skin_luma * 1.1
    tint = np.array([1.03, 1.0, 0.90])
    skin_tint = skin / max(skin_luma, 1.0)
    if white is not None:
        white_luma = float(white @ LUMA)
        luma = max(0.45 * luma + 0.55 * white_luma, 1.15 * skin_luma)
        tint = 0.5 * tint + 0.5 * white / max(white_luma, 1.0)
    tint = 0.85 * tint + 0.15 * skin_tint
    return float(np.clip(max(luma, TOOTH_OF_BRIGHTEST * brightest), 55, 215)) * tint


def _brightest(photo: NDArray[np.uint8], frame: FaceFrame) -> float:
    """Brightness of the face's lit parts, 0..255."""
    mask = polygon_mask(photo.shape[:2], frame, topo.FACE_OVAL) > 0
    return float(np.percentile(photo[mask] @ LUMA, 95)) if mask.any() else 0.0


def is_grey(photo: NDArray[np.uint8]) -> bool:
    """Whether the picture has no colour."""
    small = cv2.resize(photo, (64, 64), interpolation=cv2.INTER_AREA).astype(np.float32)
    return bool(np.percentile(small.max(axis=-1) - small.min(axis=-1), 95) < GREY_SATURATION)


def _cheeks(size: tuple[int, int], frame: FaceFrame) -> NDArray[np.uint8]:
    mask = np.zeros(size, np.uint8)
    for vertex in (50, 280, 205, 425):
        x, y = frame.to_picture(frame.plane[[vertex]])[0]
        radius = max(2, round(6 * frame.px_per_mm))
        cv2.circle(mask, (round(float(x)), round(float(y))), radius, 255, -1)
    return mask


def _median(
    photo: NDArray[np.uint8], mask: NDArray[np.uint8], fallback: NDArray[np.float64]
) -> NDArray[np.float64]:
    inside = photo[mask > 0]
    if len(inside) == 0:
        return fallback
    middle: NDArray[np.float64] = np.median(inside.reshape(-1, 3), axis=0)
    return middle


def _eye_white(photo: NDArray[np.uint8], frame: FaceFrame) -> NDArray[np.float64] | None:
    """Colour of the brighter part of the eyes, or None when too small to tell."""
    size = photo.shape[:2]
    left = topo.LEFT_UPPER_LID + topo.LEFT_LOWER_LID[-2:0:-1]
    right = topo.RIGHT_UPPER_LID + topo.RIGHT_LOWER_LID[-2:0:-1]
    mask = polygon_mask(size, frame, left) | polygon_mask(size, frame, right)
    inside = photo[mask > 0].astype(np.float64)
    if len(inside) < 24:
        return None
    luma = inside @ LUMA
    bright = inside[luma >= np.percentile(luma, 80)]
    middle: NDArray[np.float64] = np.median(bright, axis=0)
    return middle


def redness(colours: NDArray[np.float32]) -> NDArray[np.float32]:
    """How much red outweighs green and blue (... x 3), as a share of the brightness."""
    red = colours @ np.array([1.0, -0.5, -0.5], np.float32)
    return np.asarray(red / np.maximum(colours @ LUMA, 8.0), np.float32)
