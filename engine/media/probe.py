"""What a file really is, told from its first bytes and never from its name.

Decides which decoder may touch a file: a picture format for Pillow or the one demuxer that
FFmpeg is forced to use. Text of any kind (play lists, concat scripts, web pages) is never
handed to a decoder. Nothing is decoded here.
"""

import codecs
import stat
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from engine.errors import ErrorCode, InputError

HEAD_BYTES = 16384
"""Enough for every signature and for three frames of the longest MPEG audio (1,441 bytes each)."""

FRAMES_IN_A_ROW = 3
"""Sync words that must follow each other before headerless sound is believed."""


class Medium(StrEnum):
    """What kind of thing a file is."""

    IMAGE = "image"
    SOUND = "sound"
    OTHER = "other"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class FileKind:
    """What the first bytes say.

    Attributes:
        medium: `sound` includes videos; `other` is known and neither (text, archives,
            programs); `unknown` is binary without any known signature.
        name: short name such as `JPEG`, `wav`, `text`; shown in messages.
        pillow_format: the only format Pillow may try; None = not readable.
        demuxer: the only FFmpeg demuxer that may be used; None = not readable.
    """

    medium: Medium
    name: str
    pillow_format: str | None = None
    demuxer: str | None = None


def _image(name: str, *, readable: bool = True) -> FileKind:
    return FileKind(Medium.IMAGE, name, pillow_format=name if readable else None)


def _sound(name: str, demuxer: str | None = None) -> FileKind:
    return FileKind(Medium.SOUND, name, demuxer=demuxer or name)


UNKNOWN = FileKind(Medium.UNKNOWN, "unknown")
TEXT = FileKind(Medium.OTHER, "text")

_SIGNATURES: tuple[tuple[int, bytes, FileKind], ...] = (
    (0, b"\xff\xd8\xff", _image("JPEG")),
    (0, b"\x89PNG\r\n\x1a\n", _image("PNG")),
    (0, b"GIF87a", _image("GIF")),
    (0, b"GIF89a", _image("GIF")),
    (8, b"CR\x02\x00", _image("camera raw", readable=False)),
    (0, b"II*\x00", _image("TIFF")),
    (0, b"MM\x00*", _image("TIFF")),
    (0, b"II+\x00", _image("TIFF")),
    (0, b"MM\x00+", _image("TIFF")),
    (0, b"\x00\x00\x00\x0cJXL \r\n", _image("JPEG XL", readable=False)),
    (0, b"\xff\x0a", _image("JPEG XL", readable=False)),
    (0, b"\x00\x00\x00\x0cjP  \r\n", _image("JPEG 2000", readable=False)),
    (0, b"\xff\x4f\xff\x51", _image("JPEG 2000", readable=False)),
    (0, b"8BPS", _image("Photoshop", readable=False)),
    (0, b"gimp xcf", _image("GIMP", readable=False)),
    (0, b"\x00\x00\x01\x00", _image("icon", readable=False)),
    (0, b"FUJIFILM", _image("camera raw", readable=False)),
    (0, b"IIRO", _image("camera raw", readable=False)),
    (0, b"IIU\x00", _image("camera raw", readable=False)),
    (0, b"fLaC", _sound("flac")),
    (0, b"OggS", _sound("ogg")),
    (0, b"#!AMR", _sound("amr")),
    (0, b".snd", _sound("au")),
    (0, b"caff", _sound("caf")),
    (0, b"\x1aE\xdf\xa3", _sound("matroska")),
    (0, b"\x30\x26\xb2\x75\x8e\x66\xcf\x11", _sound("asf")),
    (0, b"riff\x2e\x91\xcf\x11", _sound("w64")),
    (0, b"PK\x03\x04", FileKind(Medium.OTHER, "zip")),
    (0, b"PK\x05\x06", FileKind(Medium.OTHER, "zip")),
    (0, b"\x1f\x8b", FileKind(Medium.OTHER, "gzip")),
    (0, b"7z\xbc\xaf\x27\x1c", FileKind(Medium.OTHER, "7z")),
    (0, b"Rar!", FileKind(Medium.OTHER, "rar")),
    (0, b"%PDF", FileKind(Medium.OTHER, "pdf")),
    (0, b"\x7fELF", FileKind(Medium.OTHER, "program")),
    (0, b"MZ", FileKind(Medium.OTHER, "program")),
    (0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", FileKind(Medium.OTHER, "office document")),
)

_CHUNKED: dict[tuple[bytes, bytes], FileKind] = {
    (b"RIFF", b"WAVE"): _sound("wav"),
    (b"RF64", b"WAVE"): _sound("wav"),
    (b"BW64", b"WAVE"): _sound("wav"),
    (b"RIFF", b"WEBP"): _image("WEBP"),
    (b"RIFF", b"AVI "): _sound("avi"),
    (b"FORM", b"AIFF"): _sound("aiff"),
    (b"FORM", b"AIFC"): _sound("aiff"),
}
"""IFF-style files: container tag at byte 0, content tag at byte 8."""

_AVIF_BRANDS = {b"avif", b"avis"}
_HEIF_BRANDS = {b"heic", b"heix", b"hevc", b"hevx", b"heim", b"heis", b"mif1", b"msf1"}
_QUICKTIME_BOXES = {b"moov", b"mdat", b"wide", b"free", b"skip", b"pnot"}


def sniff(path: Path, max_bytes: int | None = None) -> FileKind:
    """Tell what `path` is from its bytes.

    Args:
        path: a file of unknown origin.
        max_bytes: largest file taken; None = any.

    Raises:
        InputError: FILE_NOT_FOUND, EMPTY_FILE or FILE_TOO_LARGE.
    """
    try:
        info = path.stat()
        if not stat.S_ISREG(info.st_mode):
            raise InputError(ErrorCode.FILE_NOT_FOUND, name=path.name)
        _check_size(info.st_size, max_bytes)
        with path.open("rb") as file:
            head = file.read(HEAD_BYTES)
            tag_bytes = _id3_bytes(head)
            if tag_bytes:
                file.seek(tag_bytes)
                return _behind_id3(file.read(HEAD_BYTES))
    except (OSError, ValueError) as error:
        raise InputError(ErrorCode.FILE_NOT_FOUND, name=path.name) from error
    return identify(head)


def identify(head: bytes) -> FileKind:
    """Tell what a file is from its first `HEAD_BYTES` bytes (all of it if shorter)."""
    for offset, magic, kind in _SIGNATURES:
        if head.startswith(magic, offset):
            return kind
    kind_found = _CHUNKED.get((head[:4], head[8:12])) or _iso_media(head) or _bitmap(head)
    if kind_found:
        return kind_found
    if _is_text(head):
        return _image("SVG", readable=False) if b"<svg" in head.lower() else TEXT
    return _headerless_sound(head) or UNKNOWN


def _check_size(size_bytes: int, max_bytes: int | None) -> None:
    if size_bytes == 0:
        raise InputError(ErrorCode.EMPTY_FILE)
    if max_bytes is not None and size_bytes > max_bytes:
        raise InputError(
            ErrorCode.FILE_TOO_LARGE,
            size_mb=round(size_bytes / 1e6, 1),
            limit_mb=round(max_bytes / 1e6, 1),
        )


def _iso_media(head: bytes) -> FileKind | None:
    """MP4, QuickTime, HEIC and AVIF share one box format; the brands tell them apart."""
    box = head[4:8]
    if box == b"ftyp":
        end = min(max(int.from_bytes(head[:4], "big"), 16), len(head))
        brands = {head[8:12]} | {head[i : i + 4] for i in range(16, end - 3, 4)}
        if brands & _AVIF_BRANDS:
            return _image("AVIF")
        # A film may list mif1 among its brands; a picture has it first.
        if head[8:12] in _HEIF_BRANDS:
            return _image("HEIF")
        return _sound("mov")
    # QuickTime files from before 2001 start without ftyp. A text can have these letters
    # here too, but never a zero byte before them.
    if box in _QUICKTIME_BOXES and (head[0] == 0 or b"\0" in head[:4]):
        return _sound("mov")
    return None


def _bitmap(head: bytes) -> FileKind | None:
    # "BM" alone also starts many a text; the reserved bytes and a known header size do not.
    header_sizes = {12, 40, 52, 56, 64, 108, 124}
    is_bitmap = (
        head.startswith(b"BM")
        and head[6:10] == bytes(4)
        and int.from_bytes(head[14:18], "little") in header_sizes
    )
    return _image("BMP") if is_bitmap else None


def _id3_bytes(head: bytes) -> int:
    """Length in bytes of an ID3v2 tag at the start of `head`, 0 when there is none."""
    is_tag = len(head) > 10 and head.startswith(b"ID3") and max(head[6:10]) < 0x80
    if not is_tag:
        return 0
    size = 0
    for byte in head[6:10]:
        size = size << 7 | byte
    has_footer = head[5] & 0x10
    return 10 + size + (10 if has_footer else 0)


def _behind_id3(rest: bytes) -> FileKind:
    if rest.startswith(b"fLaC"):
        return _sound("flac")
    if _has_frame_chain(rest, _adts_frame_bytes):
        return _sound("aac")
    return _sound("mp3")


def _headerless_sound(head: bytes) -> FileKind | None:
    if _has_frame_chain(head, _adts_frame_bytes):
        return _sound("aac")
    if _has_frame_chain(head, _mpeg_frame_bytes):
        return _sound("mp3")
    return None


def _has_frame_chain(data: bytes, frame_bytes: Callable[[bytes], int | None]) -> bool:
    """Whether sync words follow each other at the distances they announce."""
    start = data.find(b"\xff")
    while 0 <= start < len(data) // 2:
        position, count = start, 0
        while count < FRAMES_IN_A_ROW and position + 7 <= len(data):
            length = frame_bytes(data[position : position + 7])
            if not length:
                break
            position += length
            count += 1
        ended_with_data = count >= 2 and position >= len(data)
        if count >= FRAMES_IN_A_ROW or ended_with_data:
            return True
        start = data.find(b"\xff", start + 1)
    return False


def _adts_frame_bytes(header: bytes) -> int | None:
    if header[0] != 0xFF or header[1] & 0xF6 != 0xF0:
        return None
    rate_index = header[2] >> 2 & 15
    length = (header[3] & 3) << 11 | header[4] << 3 | header[5] >> 5
    return length if length > 7 and rate_index < 13 else None


_BITRATES_KBPS: dict[tuple[bool, int], tuple[int, ...]] = {
    (True, 3): (0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320),
    (True, 2): (0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384),
    (False, 3): (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160),
    (False, 2): (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160),
}
"""ISO 11172-3 and 13818-3: (MPEG-1?, layer) -> bit rate by index; index 0 is free format."""

_RATES_HZ = {3: (44100, 48000, 32000), 2: (22050, 24000, 16000), 0: (11025, 12000, 8000)}
"""Sampling rate by version bits: 3 = MPEG-1, 2 = MPEG-2, 0 = MPEG-2.5."""


def _mpeg_frame_bytes(header: bytes) -> int | None:
    if header[0] != 0xFF or header[1] & 0xE0 != 0xE0:
        return None
    version, layer = header[1] >> 3 & 3, 4 - (header[1] >> 1 & 3)
    bitrate_index, rate_index = header[2] >> 4, header[2] >> 2 & 3
    if version == 1 or layer not in (2, 3) or bitrate_index in (0, 15) or rate_index == 3:
        return None
    bitrate = _BITRATES_KBPS[version == 3, layer][bitrate_index] * 1000
    samples_by_eight = 72 if layer == 3 and version != 3 else 144
    return samples_by_eight * bitrate // _RATES_HZ[version][rate_index] + (header[2] >> 1 & 1)


def _is_text(head: bytes) -> bool:
    """UTF-8, UTF-16 with its mark, or an 8-bit code page with hardly any control bytes."""
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return True
    if b"\0" in head:
        return False
    printable = sum(byte >= 32 or byte in (9, 10, 13) for byte in head)
    if printable < 0.98 * len(head):
        return False
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)  # the last letter may be cut off
    except UnicodeDecodeError as error:
        # A code page has few bytes above 127; compressed data has half of them there.
        return error.start > 0 and sum(byte > 127 for byte in head) < 0.2 * len(head)
    return True
