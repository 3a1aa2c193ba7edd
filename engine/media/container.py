"""Opening sound and video files of unknown origin with exactly one demuxer.

FFmpeg follows what a file says: a text named `voice.wav` can be a play list that opens other
files. Three walls stop that: the demuxer comes from our own look at the bytes, only decoders
we name may start, and the library is handed an open file and refused every other one.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import av
from av.container import InputContainer

MAX_RIFF_CHUNKS = 1000
"""More pieces at the top level of a file than any program writes."""

_DEMUXER_NAMES = {"mov": "mov,mp4,m4a,3gp,3g2,mj2", "matroska": "matroska,webm"}
"""What FFmpeg calls the demuxers that have several names; its white list wants all of them."""

_SOUND_DECODERS = (
    "aac", "aac_fixed", "aac_latm", "ac3", "eac3", "alac", "amrnb", "amrwb", "libopencore_amrnb",
    "libopencore_amrwb", "flac", "gsm", "gsm_ms", "mp1", "mp1float", "mp2", "mp2float", "mp3",
    "mp3float", "opus", "libopus", "speex", "libspeex", "vorbis", "libvorbis", "wmalossless",
    "wmapro", "wmav1", "wmav2", "wmavoice", "qdm2", "mace3", "mace6",
)  # fmt: skip

VIDEO_DECODERS = ("h264",)
"""What our own results hold; the pictures of other films are never decoded."""


def may_decode(codec_name: str) -> bool:
    """Whether a decoder for sound may be started."""
    return codec_name in _SOUND_DECODERS or codec_name.startswith(("pcm_", "adpcm_"))


@contextmanager
def open_container(path: Path, demuxer: str, *, video: bool = False) -> Iterator[InputContainer]:
    """Open a file for reading.

    Args:
        path: the file; nothing beside it is ever opened.
        demuxer: from `probe.sniff`.
        video: whether pictures may be decoded as well.

    Raises:
        av.FFmpegError: when the demuxer cannot make sense of it.
        ValueError: when it would make the demuxer ask for memory the file cannot fill.
    """
    decoders = {name for name in av.codecs_available if may_decode(name)}
    if video:
        decoders.update(VIDEO_DECODERS)
    if demuxer in ("wav", "avi"):
        _refuse_lying_lists(path)
    options = {
        "format_whitelist": _DEMUXER_NAMES.get(demuxer, demuxer),
        "codec_whitelist": ",".join(sorted(decoders)),
        "protocol_whitelist": "file",
    }
    with (
        path.open("rb") as file,
        av.open(
            file,
            "r",
            format=demuxer,
            options=options,
            io_open=_refuse,
            metadata_errors="replace",
        ) as container,
    ):
        yield container


def _refuse_lying_lists(path: Path) -> None:
    """Refuse a RIFF file whose list of tags claims more bytes than follow.

    FFmpeg sets the claimed size aside and blanks it before it reads: half a megabyte of file
    took 1.4 GB of memory.
    """
    size_bytes = path.stat().st_size
    with path.open("rb") as file:
        file.seek(12)
        for _ in range(MAX_RIFF_CHUNKS):
            header = file.read(12)
            if len(header) < 12:
                return
            claimed = int.from_bytes(header[4:8], "little")
            rest = size_bytes - file.tell() + 4
            if header[:4] == b"LIST" and header[8:] == b"INFO" and claimed > rest:
                raise ValueError("a list of tags is longer than its file")
            file.seek(claimed - 4 + claimed % 2, 1)


def _refuse(url: str, _flags: int, _options: dict[str, str]) -> object:
    raise PermissionError("a media file asked for another file")
