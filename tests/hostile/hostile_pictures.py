"""Pictures that mean harm, each built in code: name -> bytes."""

import gzip
import io
import struct
import zlib
from collections.abc import Callable
from functools import cache

import numpy as np
import pillow_heif
from PIL import Image

from tests.media_files import PORTRAIT, png_with_size, webp_with_canvas

PNG_MAGIC = b"\x89PNG\r\n\x1a\n"
NEIGHBOUR = "neighbour.wav"
"""A file beside every hostile one; nothing may ever open it."""


@cache
def photo(pillow_format: str, side_px: int = 160, **options: object) -> bytes:
    pillow_heif.register_heif_opener()
    buffer = io.BytesIO()
    image = Image.open(PORTRAIT).convert("RGB").resize((side_px, side_px))
    image.save(buffer, pillow_format, **options)
    return buffer.getvalue()


def chunk(name: bytes, data: bytes, crc: int | None = None) -> bytes:
    body = name + data
    return struct.pack(">I", len(data)) + body + struct.pack(">I", crc or zlib.crc32(body))


def png(*chunks: bytes, side_px: int = 64, colour: int = 2) -> bytes:
    header = struct.pack(">IIBBBBB", side_px, side_px, 8, colour, 0, 0, 0)
    return PNG_MAGIC + chunk(b"IHDR", header) + b"".join(chunks) + chunk(b"IEND", b"")


def solid_png(side_px: int) -> bytes:
    """A picture of one colour: 1,000 times smaller than its pixels."""
    packer = zlib.compressobj(9)
    row = bytes(1 + 3 * side_px)
    data = b"".join(packer.compress(row) for _ in range(side_px)) + packer.flush()
    return png(chunk(b"IDAT", data), side_px=side_px)


def zeros_packed(megabytes: int) -> bytes:
    packer = zlib.compressobj(9)
    block = bytes(2**20)
    return b"".join(packer.compress(block) for _ in range(megabytes)) + packer.flush()


def scan_bomb(side_px: int, repeats: int) -> bytes:
    """A progressive JPEG whose smallest scan comes again and again; each is a pass over all."""
    buffer = io.BytesIO()
    Image.new("L", (side_px, side_px), 99).save(buffer, "JPEG", progressive=True)
    head, *scans = buffer.getvalue()[:-2].split(b"\xff\xda")
    smallest = min(scans, key=len)
    return b"\xff\xda".join([head, *scans, *[smallest] * repeats]) + b"\xff\xd9"


def webp_transparent(width_px: int, height_px: int) -> bytes:
    buffer = io.BytesIO()
    pixels = np.zeros((height_px, width_px, 4), np.uint8)
    pixels[:, : width_px // 2, 3] = 200
    Image.fromarray(pixels).save(buffer, "WEBP", lossless=True, quality=0, method=0)
    return buffer.getvalue()


def tiff(*entries: tuple[int, int, int, int], next_ifd: int = 0, count: int | None = None) -> bytes:
    """A little-endian TIFF with one directory; an entry is tag, type, number, value."""
    body = b"".join(struct.pack("<HHII", *entry) for entry in entries)
    header = b"II*\x00" + struct.pack("<IH", 8, count or len(entries))
    return header + body + struct.pack("<I", next_ifd)


def bmp(width_px: int, height_px: int, bits: int = 24, compression: int = 0) -> bytes:
    info = struct.pack("<IiiHHIIiiII", 40, width_px, height_px, 1, bits, compression, 0, 1, 1, 0, 0)
    return b"BM" + struct.pack("<IHHI", 54 + 12, 0, 0, 54) + info + bytes(12)


def gif(width_px: int, height_px: int, body: bytes = b"") -> bytes:
    return b"GIF89a" + struct.pack("<HHBBB", width_px, height_px, 0, 0, 0) + body + b";"


def gif_frame(width_px: int, height_px: int) -> bytes:
    block = struct.pack("<BHHHHB", 0x2C, 0, 0, width_px, height_px, 0)
    return block + b"\x02\x02\x4c\x01\x00"


def jpeg_size(whole: bytes, width_px: int, height_px: int) -> bytes:
    """The same JPEG with another size in its frame header."""
    at = whole.index(b"\xff\xc0") + 5
    return whole[:at] + struct.pack(">HH", height_px, width_px) + whole[at + 4 :]


def with_exif(whole: bytes, segments: int) -> bytes:
    """Many full EXIF segments of nonsense right behind the start."""
    segment = b"\xff\xe1" + struct.pack(">H", 65535) + b"Exif\0\0" + b"\xa5" * 65527
    return whole[:2] + segment * segments + whole[2:]


def box(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", 8 + len(body)) + name + body


def heif_claiming(width_px: int, height_px: int) -> bytes:
    whole = photo("HEIF")
    at = whole.index(b"ispe") + 8
    return whole[:at] + struct.pack(">II", width_px, height_px) + whole[at + 8 :]


def svg(body: str) -> bytes:
    return f'<svg xmlns="http://www.w3.org/2000/svg" width="99" height="99">{body}</svg>'.encode()


ENTITY = b'<?xml version="1.0"?><!DOCTYPE svg [<!ENTITY x SYSTEM "file:///etc/passwd">]>' + svg(
    "<text>&x;</text>"
)

PICTURES: dict[str, Callable[[], bytes]] = {
    "png_bomb_144_megapixels": lambda: solid_png(12_000),
    "png_claims_400_megapixels": lambda: png_with_size(20_000, 20_000),
    "png_claims_two_billion_wide": lambda: png_with_size(2**31 - 1, 1),
    "png_one_pixel": lambda: png_with_size(1, 1),
    "png_without_size": lambda: png_with_size(0, 0),
    "png_without_pixels": png,
    "png_cut_in_half": lambda: photo("PNG")[: len(photo("PNG")) // 2],
    "png_wrong_checksum": lambda: PNG_MAGIC + chunk(b"IHDR", bytes(13), crc=1),
    "png_text_bomb": lambda: png(chunk(b"zTXt", b"a\0\0" + zeros_packed(600))),
    "png_many_text_bombs": lambda: png(*[chunk(b"zTXt", b"a\0\0" + zeros_packed(1))] * 500),
    "png_profile_bomb": lambda: png(chunk(b"iCCP", b"a\0\0" + zeros_packed(600))),
    "png_with_a_third_of_its_pixels": lambda: png(chunk(b"IDAT", zeros_packed(60)), side_px=8_000),
    "png_colour_type_unknown": lambda: png(chunk(b"IDAT", zlib.compress(bytes(9))), colour=9),
    "png_animation_of_a_million": lambda: png(chunk(b"acTL", struct.pack(">II", 10**6, 0))),
    "jpeg_magic_only": lambda: b"\xff\xd8\xff",
    "jpeg_cut_in_half": lambda: photo("JPEG")[: len(photo("JPEG")) // 2],
    "jpeg_claims_four_gigapixels": lambda: jpeg_size(photo("JPEG"), 65_500, 65_500),
    "jpeg_claims_to_be_larger": lambda: jpeg_size(photo("JPEG"), 8_000, 8_000)[:3_000],
    "jpeg_huge_exif_and_nothing": lambda: with_exif(photo("JPEG"), 700)[:-9_000],
    "jpeg_scan_bomb": lambda: scan_bomb(8_800, 20_000),
    "gif_claims_four_gigapixels": lambda: gif(65_535, 65_535, gif_frame(65_535, 65_535)),
    "gif_without_frames": lambda: gif(99, 99),
    "gif_without_size": lambda: gif(0, 0, gif_frame(0, 0)),
    "gif_that_is_a_script": lambda: b"GIF89a/*" + b"\x00" * 9 + b"*/=1;alert(1);" + bytes(99),
    "gif_frame_of_another_size": lambda: gif(64, 64, gif_frame(65_000, 65_000)),
    "webp_canvas_of_268_megapixels": lambda: webp_with_canvas(16_384, 16_384, photo("WEBP")),
    "webp_cut": lambda: photo("WEBP")[:300],
    "webp_length_lies": lambda: b"RIFF\xff\xff\xff\xffWEBPVP8 \xff\xff\xff\xff" + bytes(99),
    "webp_transparent_80_megapixels": lambda: webp_transparent(8_900, 8_900),
    "tiff_directory_of_65535": lambda: tiff((256, 3, 1, 64), count=65_535),
    "tiff_directory_in_a_circle": lambda: tiff((256, 3, 1, 64), (257, 3, 1, 64), next_ifd=8),
    "tiff_claims_four_gigapixels": lambda: tiff((256, 4, 1, 65_535), (257, 4, 1, 65_535)),
    "tiff_value_of_four_gigabytes": lambda: tiff((256, 3, 2**32 - 1, 8), (257, 3, 1, 64)),
    "bigtiff_offset_to_nowhere": lambda: b"II+\x00\x08\x00\x00\x00" + b"\xff" * 8 + bytes(99),
    "bmp_claims_four_gigapixels": lambda: bmp(65_000, 65_000),
    "bmp_upside_down_to_nowhere": lambda: bmp(5_000, -5_000),
    "bmp_negative_width": lambda: bmp(-64, 64),
    "bmp_runs_without_end": lambda: bmp(7_000, 7_000, bits=8, compression=1),
    "heif_of_noise": lambda: box(b"ftyp", b"heic\0\0\0\0mif1heic") + b"\xa5" * 4_000,
    "heif_claims_four_gigapixels": lambda: heif_claiming(65_000, 65_000),
    "heif_cut": lambda: photo("HEIF")[:700],
    "avif_of_noise": lambda: box(b"ftyp", b"avif\0\0\0\0mif1avif") + b"\xa5" * 4_000,
    "avif_cut": lambda: photo("AVIF")[:500],
    "svg_reads_a_file": lambda: ENTITY,
    "svg_asks_the_network": lambda: svg('<image href="http://127.0.0.1:9/x.png"/>'),
    "svg_billion_laughs": lambda: b'<!DOCTYPE l [<!ENTITY a "ha">]>' + svg("&a;" * 9_000),
    "svg_packed": lambda: gzip.compress(svg("")),
    "icon": lambda: b"\x00\x00\x01\x00\x01\x00" + bytes(99),
    "photoshop": lambda: b"8BPS\x00\x01" + bytes(99),
    "jpeg_2000": lambda: b"\x00\x00\x00\x0cjP  \r\n\x87\n" + bytes(99),
    "jpeg_xl": lambda: b"\xff\x0a" + bytes(99),
    "fits": lambda: b"SIMPLE  =                    T" + b" " * 2_850,
    "postscript": lambda: b"%!PS-Adobe-3.0 EPSF-3.0\n(/etc/passwd) (r) file\n",
    "pdf_with_a_jpeg_inside": lambda: b"%PDF-1.7\n" + photo("JPEG"),
    "zip_with_a_jpeg_behind": lambda: b"PK\x03\x04" + bytes(26) + photo("JPEG"),
    "drawing_script": lambda: b"push graphic-context\nimage over 0,0 0,0 'https://x/x'\n",
    "web_page": lambda: b"<html><img src=file:///etc/passwd></html>",
    "program": lambda: b"\x7fELF\x02\x01\x01" + bytes(99),
    "noise": lambda: np.random.default_rng(1).bytes(30_000),
    "sound_instead_of_a_picture": lambda: b"RIFF\x24\0\0\0WAVEfmt " + bytes(40),
    "empty": lambda: b"",
}  # fmt: skip
