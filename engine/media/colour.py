"""Every pixel format Pillow can open becomes 8-bit sRGB and, where there is one, alpha."""

import io
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageCms

_DEEP_MODES = ("I;16", "I;16L", "I;16B", "I;16N", "I", "F")

BAND_ROWS = 512
"""Rows converted together, so that large pictures need no float copy of themselves."""

_PROFILE_MODES = {"RGB ": "RGB", "GRAY": "L", "CMYK": "CMYK", "Lab ": "LAB"}
"""Which Pillow mode an ICC profile's colour space belongs to."""


@dataclass(frozen=True)
class Layers:
    """A picture taken apart.

    Attributes:
        colour: H x W x 3, uint8, sRGB, not multiplied with alpha.
        alpha: H x W, uint8, 255 = opaque; None when every pixel is opaque.
    """

    colour: NDArray[np.uint8]
    alpha: NDArray[np.uint8] | None


def to_layers(image: Image.Image, size: tuple[int, int]) -> Layers:
    """Convert the current frame.

    Args:
        image: loaded, any mode.
        size: width and height of the result in pixels, at most those of `image`.
    """
    profile = image.info.get("icc_profile")
    if image.mode in _DEEP_MODES:
        image = Image.fromarray(_deep_grey_to_8_bit(np.asarray(image)))
    elif image.mode == "P":
        image = image.convert("RGBA" if "transparency" in image.info else "RGB")
    elif image.mode in ("PA", "La", "RGBa"):
        image = image.convert("RGBA")
    elif image.mode in ("1", "HSV", "YCbCr", "RGBX"):
        image = image.convert("L" if image.mode == "1" else "RGB")
    elif image.mode in ("L", "RGB") and "transparency" in image.info:
        image = image.convert("RGBA")
    if image.size != size:
        # Pillow multiplies colour with alpha before it scales, so edges keep their colour.
        image = image.resize(size, Image.Resampling.LANCZOS, reducing_gap=3.0)
    alpha: NDArray[np.uint8] | None = None
    if image.mode in ("RGBA", "LA"):
        values = np.asarray(image.getchannel("A"))
        alpha = values if values.min() < 255 else None
        image = _without_alpha(image)
    return Layers(colour=np.asarray(_to_srgb(image, profile)), alpha=alpha)


def _without_alpha(image: Image.Image) -> Image.Image:
    bands = image.split()[:-1]
    return bands[0] if len(bands) == 1 else Image.merge("RGB", bands)


def _deep_grey_to_8_bit(values: NDArray[np.generic]) -> NDArray[np.uint8]:
    """16-bit, 32-bit and float grey. Full scale is what the type or the picture uses."""
    bands = [values[top : top + BAND_ROWS] for top in range(0, values.shape[0], BAND_ROWS)]
    peak = max(float(_finite(band).max(initial=0.0)) for band in bands)
    if values.dtype == np.uint16 or 255 < peak <= 65535:
        full_scale = 65535.0
    elif peak <= 1.0:
        full_scale = 1.0
    else:
        full_scale = max(peak, 255.0)
    result = np.empty(values.shape, np.uint8)
    for index, band in enumerate(bands):
        scaled = _finite(band) * np.float32(255.0 / full_scale) + np.float32(0.5)
        result[index * BAND_ROWS :][: band.shape[0]] = np.clip(scaled, 0, 255)
    return result


def _finite(values: NDArray[np.generic]) -> NDArray[np.float32]:
    return np.nan_to_num(values.astype(np.float32), nan=0.0, posinf=0.0, neginf=0.0)


def _to_srgb(image: Image.Image, icc_profile: bytes | None) -> Image.Image:
    if icc_profile:
        converted = _through_profile(image, icc_profile)
        if converted is not None:
            return converted
    if image.mode == "LAB":
        lab = ImageCms.createProfile("LAB")
        srgb = ImageCms.createProfile("sRGB")
        result = ImageCms.profileToProfile(image, lab, srgb, outputMode="RGB")
        return result if result is not None else image
    return image.convert("RGB")


def _through_profile(image: Image.Image, icc_profile: bytes) -> Image.Image | None:
    """Convert with the picture's own profile; None when the profile does not fit it."""
    try:
        source = ImageCms.ImageCmsProfile(io.BytesIO(icc_profile))
        if _PROFILE_MODES.get(source.profile.xcolor_space) != image.mode:
            return None
        return ImageCms.profileToProfile(
            image, source, ImageCms.createProfile("sRGB"), outputMode="RGB"
        )
    except (ImageCms.PyCMSError, OSError, ValueError, TypeError):
        return None
