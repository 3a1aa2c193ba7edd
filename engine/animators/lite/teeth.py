"""Bakes teeth and tongue for mouths whose photograph shows none."""

import cv2
import numpy as np
from numpy.typing import NDArray

from engine.animators.lite.frame import FaceFrame
from engine.animators.lite.interior import Layer
from engine.animators.lite.palette import MouthColours

UPPER_WIDTHS_MM = (8.5, 6.8, 7.6, 7.0, 6.8, 9.0)
LOWER_WIDTHS_MM = (5.4, 5.9, 6.8, 7.0, 7.0, 9.0)
"""Teeth from the middle outwards."""
ARCH_HALF_WIDTH_MM, ARCH_DEPTH_MM = 27.0, 36.0
UPPER_EDGE_MM = 2.2
"""The upper front teeth reach this far below the closed seam."""
LOWER_EDGE_MM = 1.0
LOWER_BRIGHTNESS = 0.78
LIGHT_DEPTH_MM = 22.0
TONGUE_HALF_MM, TONGUE_TOP_MM = 22.0, 2.2
SAMPLES_PER_MM, MAX_OVERSAMPLE = 7.0, 6
"""Parts are drawn this finely, then averaged down to the pixels of the picture."""


def bake_teeth(frame: FaceFrame, colours: MouthColours, seam_y: float, *, upper: bool) -> Layer:
    """A row of teeth around the arch, in the pixels of the picture.

    Args:
        frame: coordinates of the face.
        colours: of the portrait.
        seam_y: where the closed lips meet in the middle, mm of the plane.
        upper: upper or lower row.
    """
    box_mm = (-32.0, -14.0, 32.0, 16.0)
    layer_at, plane = _patch_grid(frame, box_mm)
    widths = UPPER_WIDTHS_MM if upper else LOWER_WIDTHS_MM
    half = ARCH_HALF_WIDTH_MM if upper else ARCH_HALF_WIDTH_MM - 2.5
    along, facing = _arch_position(frame, plane[..., 0], half)
    if upper:
        down = plane[..., 1] - (seam_y + UPPER_EDGE_MM)
    else:
        down = (seam_y + LOWER_EDGE_MM) - plane[..., 1]
    shade, cover, gum = _row(along, down, widths, upper=upper)
    light = facing * (1.0 if upper else LOWER_BRIGHTNESS)
    colour = colours.tooth * (shade * light)[..., None]
    pink = colours.gum * light[..., None]
    colour = colour + (pink - colour) * gum[..., None]
    rgba = np.concatenate([np.clip(colour, 0, 255), cover[..., None] * 255], axis=-1)
    return _shrink(rgba, layer_at)


def bake_tongue(frame: FaceFrame, colours: MouthColours, seam_y: float) -> Layer:
    """A soft tongue lying behind the lower teeth."""
    layer_at, plane = _patch_grid(frame, (-30.0, -4.0, 30.0, 26.0))
    x = plane[..., 0] / TONGUE_HALF_MM
    down = plane[..., 1] - (seam_y + TONGUE_TOP_MM)
    back = 3.2 * x**2  # its back is round, seen from the front
    cover = np.clip((down - back) / 2.6 + 0.5, 0, 1) * np.clip((1.05 - np.abs(x)) / 0.12, 0, 1)
    groove = 1 - 0.14 * np.exp(-((plane[..., 0] / 1.5) ** 2)) * np.clip(1 - down / 9, 0, 1)
    light = np.clip(0.42 + 0.065 * (down - back), 0.25, 0.95) * (1 - 0.35 * x**2)
    colour = colours.tongue * (light * groove)[..., None]
    rgba = np.concatenate([np.clip(colour, 0, 255), cover[..., None] * 255], axis=-1)
    return _shrink(rgba, layer_at)


def bake_flat_tongue(
    frame: FaceFrame, colour: NDArray[np.float32], lower: NDArray[np.float32]
) -> Layer:
    """One flat tone for a drawn mouth, lying on the middle of its lower lip.

    Args:
        frame: coordinates of the face.
        colour: 3, RGB.
        lower: N x 2, mm, plane: lower inner lip edge.
    """
    middle = lower[len(lower) // 2]
    half = float(lower[-1, 0] - lower[0, 0]) / 2
    x, y = float(middle[0]), float(middle[1])
    layer_at, plane = _patch_grid(frame, (x - half, y - 8.0, x + half, y + 12.0))
    across = (plane[..., 0] - x) / max(0.62 * half, 1.0)
    down = (plane[..., 1] - (y + 1.5)) / max(0.34 * half, 1.0)
    inside = (np.where(down > 0, 0.0, down) ** 2 + across**2 < 1.0) * 255.0
    rgba = np.dstack([np.broadcast_to(colour, (*inside.shape, 3)), inside])
    return _shrink(rgba, layer_at)


def _row(
    along: NDArray[np.float64], down: NDArray[np.float64], widths: tuple[float, ...], *, upper: bool
) -> tuple[NDArray[np.float64], ...]:
    """Shade, cover and gum (each 0..1) of a row of teeth.

    Args:
        along: mm around the arch from the middle.
        down: mm beyond the cutting edge of the middle teeth (negative: on the tooth).
        widths: of the teeth from the middle outwards, mm.
        upper: upper or lower row.
    """
    borders = np.concatenate([[0.0], np.cumsum(widths)])
    distance = np.abs(along)
    which = np.clip(np.searchsorted(borders, distance, side="right") - 1, 0, len(widths) - 1)
    centre = (borders[which] + borders[which + 1]) / 2
    half = np.asarray(widths)[which] / 2
    u = (distance - centre) / half  # -1 at the side of the middle, 1 outwards
    # cutting edges rise a little outwards; corners are rounded, the outer one more
    lift = np.interp(distance, [0, 6, 12, 19, 26, 34], [0, 0.15, 0.35, 0.7, 1.3, 2.2])
    round_off = 0.35 * np.abs(u) ** 4 + 0.12 * np.clip(u, 0, 1) ** 2
    edge = -(lift + round_off)
    cover = np.clip((edge - down) / 0.22 + 0.5, 0, 1)
    to_gap = (1 - np.abs(u)) * half
    gaps = 1 - 0.16 * np.exp(-((to_gap / 0.28) ** 2)) - 0.08 * np.exp(-to_gap / 0.9)
    height = np.clip((edge - down) / 9.0, 0, 1)
    body = 0.97 + 0.06 * np.sin(np.pi * np.clip(height * 1.4, 0, 1)) - 0.1 * height**2
    rim = 1 - 0.1 * np.exp(-(((edge - down) / 0.7) ** 2))
    gum_line = (9.2 if upper else 7.6) - 1.6 * np.abs(u) ** 2.5 + np.where(which == 1, -0.8, 0.0)
    gum = np.clip(((edge - down) - gum_line) / 0.5 + 0.5, 0, 1)
    return gaps * body * rim, cover, gum


def _arch_position(
    frame: FaceFrame, x_mm: NDArray[np.float64], half_width: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Arc length (mm from the middle) and facing (0..1) of the arch seen at x of the plane."""
    angle = np.linspace(-np.pi / 2, np.pi / 2, 721)
    local = np.stack(
        [half_width * np.sin(angle), np.zeros_like(angle), ARCH_DEPTH_MM * (np.cos(angle) - 1)],
        axis=1,
    )
    seen = frame.project(local.astype(np.float32))[:, 0].astype(np.float64)
    steps = np.linalg.norm(np.diff(local, axis=0), axis=1)
    length = np.concatenate([[0.0], np.cumsum(steps)])
    length -= length[len(length) // 2]
    # Keep the part that runs left to right in the picture; the far side hides behind it.
    middle = len(seen) // 2
    first, last = middle, middle
    while first > 0 and seen[first - 1] < seen[first]:
        first -= 1
    while last < len(seen) - 1 and seen[last + 1] > seen[last]:
        last += 1
    along = np.interp(x_mm, seen[first : last + 1], length[first : last + 1])
    # Less light reaches what lies deeper behind the lips or turns away.
    tilt = np.clip(np.gradient(seen, length), 0, 1)
    lit = (0.25 + 0.75 * tilt) * np.exp(local[:, 2] / LIGHT_DEPTH_MM)
    facing = np.interp(x_mm, seen[first : last + 1], lit[first : last + 1])
    return along, facing


def _patch_grid(
    frame: FaceFrame, box_mm: tuple[float, float, float, float]
) -> tuple[tuple[int, int, int, int], NDArray[np.float64]]:
    """An oversampled pixel grid covering a box of the plane.

    Returns:
        left, top, width, height in pixels of the picture, and plane positions
        (height*k x width*k x 2).
    """
    left, top, right, bottom = box_mm
    corners = np.array([[left, top], [right, top], [right, bottom], [left, bottom]], np.float32)
    corners = frame.to_picture(corners)
    low = np.floor(corners.min(axis=0)).astype(int)
    high = np.ceil(corners.max(axis=0)).astype(int)
    width, height = int(high[0] - low[0]), int(high[1] - low[1])
    fine = int(np.clip(np.ceil(SAMPLES_PER_MM / frame.px_per_mm), 1, MAX_OVERSAMPLE))
    offset = (np.arange(fine) + 0.5) / fine - 0.5
    xs = (low[0] + np.arange(width)[:, None] + offset).reshape(-1)
    ys = (low[1] + np.arange(height)[:, None] + offset).reshape(-1)
    pixels = np.stack(np.meshgrid(xs, ys), axis=-1).reshape(-1, 2).astype(np.float32)
    plane = frame.to_plane(pixels).reshape(len(ys), len(xs), 2).astype(np.float64)
    return (int(low[0]), int(low[1]), width, height), plane


def _shrink(rgba: NDArray[np.float64], at: tuple[int, int, int, int]) -> Layer:
    """Average the oversampled patch down to pixels."""
    left, top, width, height = at
    small = cv2.resize(rgba.astype(np.float32), (width, height), interpolation=cv2.INTER_AREA)
    return Layer(np.clip(np.rint(small), 0, 255).astype(np.uint8), left, top)
