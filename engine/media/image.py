"""Portraits from strangers become upright 8-bit sRGB pixels, or a refusal with a code.

Owns decoding of pictures: size limits before any pixel is decoded, orientation, colour,
transparency. Never looks for faces and never writes.
"""

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pillow_heif
from numpy.typing import NDArray
from PIL import ExifTags, Image, ImageColor, ImageFile, UnidentifiedImageError

from engine.errors import EngineError, ErrorCode, InputError
from engine.media.colour import Layers, to_layers
from engine.media.matte import compose
from engine.media.probe import FileKind, Medium, sniff
from engine.settings import EngineSettings

WORKING_SIDE_PX = 4096
"""Longest side kept. The largest output is 1024 on the short side, so more is only slower."""

GREY_TOLERANCE = 10
"""Channels this close count as grey: JPEG and colour profiles leave a few levels of tint."""

UNFILLED_BYTES = 512
"""A tail of zeros this long means that the file was never completely written."""

MAX_JPEG_SCANS = 500
BYTES_PER_FALSE_SCAN = 20_000
"""Encoders write about ten scans; each may cost a pass over all pixels. The mark of a scan also
occurs by chance, once in 65,536 bytes, in the film behind a motion photo."""

MAX_JPEG_BLOCKS = 16
"""EXIF blocks; one is the rule. Pillow joins them, at a cost that grows with their square."""

WEBP_BYTES_PER_PIXEL = {"RGB": 17.0, "RGBA": 21.5}
"""Peak while decoding, measured at 41-48 MP; its decoder does not survive a failed allocation."""

DECODER_MB = 205
"""What a process with the decoders loaded has allocated before it opens a file."""

_TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
"""What makes a picture upright, by EXIF orientation."""

# What Pillow's decoders raise on broken bytes, found by feeding them damaged files.
_DECODE_ERRORS = (OSError, ValueError, SyntaxError, EOFError, IndexError, TypeError, RuntimeError)


@dataclass(frozen=True)
class Portrait:
    """A decoded picture.

    Attributes:
        pixels: H x W x 3, uint8, sRGB, upright, at most `WORKING_SIDE_PX` on the long side.
        notes: what was done to it: `first_frame_used`, `had_transparency`, `edges_cleaned`,
            `scaled_down`. `first_frame_used` is also an `ErrorCode` worth telling.
        is_grey: whether there is no colour in it.
        bit_depth: bits a channel in the file, as far as it can be told.
        source_width_px, source_height_px: of the upright picture before scaling.
    """

    pixels: NDArray[np.uint8]
    notes: tuple[str, ...]
    is_grey: bool
    bit_depth: int
    source_width_px: int
    source_height_px: int


def read_portrait(path: Path, limits: EngineSettings, background: str = "white") -> Portrait:
    """Decode a picture of unknown origin.

    Args:
        path: the file; its name is not trusted.
        limits: largest file and picture, smallest side.
        background: colour behind transparent parts, `#rrggbb` or a colour name.

    Raises:
        InputError: BAD_OPTION, FILE_NOT_FOUND, EMPTY_FILE, FILE_TOO_LARGE, NOT_AN_IMAGE,
            IMAGE_FORMAT_UNSUPPORTED, IMAGE_TOO_LARGE, IMAGE_TOO_SMALL, IMAGE_TOO_HEAVY or
            DAMAGED_IMAGE.
        EngineError: OUT_OF_MEMORY.
    """
    backdrop = parse_background(background)
    kind = sniff(path, limits.max_image_bytes)
    if kind.medium is not Medium.IMAGE:
        raise InputError(ErrorCode.NOT_AN_IMAGE)
    if kind.pillow_format is None:
        raise InputError(ErrorCode.IMAGE_FORMAT_UNSUPPORTED, format=kind.name)
    try:
        _refuse_unfilled(path, kind)
        _refuse_endless_jpeg(path, kind)
        with _opened(path, kind.pillow_format) as image:
            _check_dimensions(image.size, limits)
            _check_memory(image, limits)
            return _decode(image, limits, backdrop)
    except UnidentifiedImageError as error:
        raise _unopened(kind) from error
    except MemoryError as error:
        raise EngineError(ErrorCode.OUT_OF_MEMORY) from error
    except _DECODE_ERRORS as error:
        raise InputError(ErrorCode.DAMAGED_IMAGE) from error


def parse_background(text: str) -> tuple[int, int, int]:
    """Read `#rrggbb` or a CSS colour name.

    Returns:
        Red, green, blue, 0-255.

    Raises:
        InputError: BAD_OPTION.
    """
    word = text.strip().lower()
    is_hex = len(word) == 7 and word[0] == "#" and set(word[1:]) <= set("0123456789abcdef")
    if not is_hex and word not in ImageColor.colormap:
        raise InputError(
            ErrorCode.BAD_OPTION,
            option="background",
            reason="it is neither a colour such as #336699 nor a colour name",
        )
    red, green, blue = ImageColor.getrgb(word)[:3]
    return red, green, blue


@contextmanager
def _opened(path: Path, pillow_format: str) -> Iterator[ImageFile.ImageFile]:
    """Open with one decoder only; the header is read, no pixel is decoded.

    Pillow's own pixel limit is lifted while the header is read, because our limit comes from
    the settings and the refusal names the number of megapixels.
    """
    pillow_heif.register_heif_opener()
    pillow_limit = Image.MAX_IMAGE_PIXELS
    Image.MAX_IMAGE_PIXELS = None
    try:
        with warnings.catch_warnings(), path.open("rb") as file:
            warnings.simplefilter("ignore")
            with Image.open(file, formats=(pillow_format,)) as image:
                yield image
    finally:
        Image.MAX_IMAGE_PIXELS = pillow_limit


def _refuse_unfilled(path: Path, kind: FileKind) -> None:
    """Refuse a download that stopped early inside a file made full length beforehand.

    These decoders fill the missing part with grey without a word; the others notice. Their
    compressed data never ends in half a kilobyte of zeros.
    """
    if kind.pillow_format not in ("WEBP", "HEIF", "AVIF"):
        return
    with path.open("rb") as file:
        file.seek(-min(UNFILLED_BYTES, path.stat().st_size), os.SEEK_END)
        if not any(file.read()):
            raise InputError(ErrorCode.DAMAGED_IMAGE)


def _refuse_endless_jpeg(path: Path, kind: FileKind) -> None:
    """Refuse a JPEG made to keep its decoder busy."""
    if kind.pillow_format != "JPEG":
        return
    data = path.read_bytes()
    max_scans = MAX_JPEG_SCANS + len(data) // BYTES_PER_FALSE_SCAN
    if data.count(b"\xff\xda") > max_scans or data.count(b"Exif\0\0") > MAX_JPEG_BLOCKS:
        raise InputError(ErrorCode.DAMAGED_IMAGE)


def _check_memory(image: ImageFile.ImageFile, limits: EngineSettings) -> None:
    if image.format != "WEBP":
        return
    bytes_per_pixel = WEBP_BYTES_PER_PIXEL.get(image.mode, WEBP_BYTES_PER_PIXEL["RGBA"])
    need_mb = image.width * image.height * bytes_per_pixel / 2**20 + DECODER_MB
    if need_mb > limits.decode_memory_mb:
        raise InputError(ErrorCode.IMAGE_TOO_HEAVY, limit_mb=limits.decode_memory_mb)


def _unopened(kind: FileKind) -> InputError:
    # TIFF is a family: a healthy file may hold samples that nobody else writes.
    if kind.name == "TIFF":
        return InputError(ErrorCode.IMAGE_FORMAT_UNSUPPORTED, format=kind.name)
    return InputError(ErrorCode.DAMAGED_IMAGE)


def _check_dimensions(size: tuple[int, int], limits: EngineSettings) -> None:
    width_px, height_px = size
    if width_px * height_px > limits.max_image_megapixels * 1e6:
        raise InputError(
            ErrorCode.IMAGE_TOO_LARGE,
            megapixels=round(width_px * height_px / 1e6, 1),
            limit_megapixels=round(limits.max_image_megapixels, 1),
        )
    # A strip so long that the working size leaves nothing of its short side is too small too.
    shrink = min(1.0, WORKING_SIDE_PX / max(size))
    if min(size) * shrink < limits.min_image_px:
        raise InputError(
            ErrorCode.IMAGE_TOO_SMALL,
            width_px=width_px,
            height_px=height_px,
            need_px=limits.min_image_px,
        )


def _decode(
    image: ImageFile.ImageFile, limits: EngineSettings, backdrop: tuple[int, int, int]
) -> Portrait:
    notes: list[str] = []
    # A JPEG may hold more pictures behind the first (depth, gain map); nobody sees those.
    if image.format not in ("JPEG", "MPO") and getattr(image, "n_frames", 1) > 1:
        notes.append(ErrorCode.FIRST_FRAME_USED.value)
    bit_depth = _bit_depth(image)
    full_size = image.size
    working_size = _working_size(full_size)
    image.draft(None, working_size)
    image.load()
    _check_dimensions(image.size, limits)
    turn = _TURNS.get(_orientation(image))
    layers = to_layers(image, working_size)
    if working_size != full_size:
        notes.append("scaled_down")
    is_grey = _is_grey(layers)
    pixels = layers.colour
    if layers.alpha is not None:
        pixels, was_cleaned = compose(layers.colour, layers.alpha, backdrop)
        notes += ["had_transparency", "edges_cleaned"] if was_cleaned else ["had_transparency"]
    if turn is not None:
        pixels = np.asarray(Image.fromarray(pixels).transpose(turn))
    height_px, width_px = pixels.shape[:2]
    is_turned_over = (width_px > height_px) != (full_size[0] > full_size[1])
    source = full_size[::-1] if is_turned_over else full_size
    return Portrait(
        pixels=np.ascontiguousarray(pixels),
        notes=tuple(notes),
        is_grey=is_grey,
        bit_depth=bit_depth,
        source_width_px=source[0],
        source_height_px=source[1],
    )


def _working_size(size: tuple[int, int]) -> tuple[int, int]:
    shrink = min(1.0, WORKING_SIDE_PX / max(size))
    return max(round(size[0] * shrink), 1), max(round(size[1] * shrink), 1)


def _orientation(image: ImageFile.ImageFile) -> int:
    """EXIF orientation 1-8; a broken EXIF block is no reason to refuse a picture."""
    try:
        value = image.getexif().get(ExifTags.Base.Orientation, 1)
    except (*_DECODE_ERRORS, KeyError):
        return 1
    return value if isinstance(value, int) else 1


def _bit_depth(image: ImageFile.ImageFile) -> int:
    if image.mode == "1":
        return 1
    if image.mode in ("I", "F"):
        return 32
    stored = " ".join(str(tile[3]) for tile in image.tile)
    is_deep = image.mode.startswith("I;16") or ";16" in stored
    return 16 if is_deep else int(image.info.get("bit_depth", 8))


def _is_grey(layers: Layers) -> bool:
    step = max(1, max(layers.colour.shape[:2]) // 512)
    sample = layers.colour[::step, ::step].astype(np.int16)
    spread = sample.max(axis=2) - sample.min(axis=2)
    if layers.alpha is not None:
        spread = spread[layers.alpha[::step, ::step] > 0]
    # One pixel in two hundred may be a stamp, a scratch or noise.
    return spread.size == 0 or bool(np.percentile(spread, 99.5) <= GREY_TOLERANCE)
