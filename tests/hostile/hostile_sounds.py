"""Recordings that mean harm, each built in code: name -> bytes."""

import io
import struct
import tempfile
from collections.abc import Callable
from pathlib import Path

import av
import numpy as np
import soundfile as sf

from tests.hostile.hostile_pictures import NEIGHBOUR, box, photo
from tests.media_files import base_speech, encode_sound


def riff(*chunks: tuple[bytes, bytes, int | None]) -> bytes:
    """A RIFF WAVE file; a chunk is name, content, claimed length (None = true)."""
    body = b"".join(
        name + struct.pack("<I", len(data) if claimed is None else claimed) + data
        for name, data, claimed in chunks
    )
    return b"RIFF" + struct.pack("<I", 4 + len(body)) + b"WAVE" + body


def wav_format(channels: int = 1, rate_hz: int = 16_000, tag: int = 1, bits: int = 16) -> bytes:
    align = channels * bits // 8 % 65_536
    return struct.pack("<HHIIHH", tag, channels, rate_hz, rate_hz * align % 2**32, align, bits)


def wav(data: bytes, claimed: int | None = None, **fields: int) -> bytes:
    return riff((b"fmt ", wav_format(**fields), None), (b"data", data, claimed))


def float_wav(value: float) -> bytes:
    return wav(np.full(32_000, value, "<f4").tobytes(), tag=3, bits=32)


def encoded(container: str, codec: str, rate_hz: int = 16_000, seconds: float = 1.0) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sound"
        samples = base_speech()[: round(seconds * 16_000)]
        encode_sound(path, container, codec, samples, rate_hz)
        return path.read_bytes()


def silent_film() -> bytes:
    buffer = io.BytesIO()
    with av.open(buffer, "w", format="mp4") as film:
        stream = film.add_stream("libx264", rate=25)
        stream.width = stream.height = 64
        stream.pix_fmt = "yuv420p"
        for _ in range(25):
            film.mux(stream.encode(av.VideoFrame(64, 64, "yuv420p")))
        film.mux(stream.encode(None))
    return buffer.getvalue()


def endless_silence() -> bytes:
    """Three hours of silence in a few hundred kilobytes."""
    buffer = io.BytesIO()
    with sf.SoundFile(buffer, "w", 8_000, 1, format="FLAC") as file:
        for _ in range(3 * 60):
            file.write(np.zeros(60 * 8_000, np.int16))
    return buffer.getvalue()


def mp4(*boxes: bytes) -> bytes:
    return box(b"ftyp", b"M4A \0\0\0\0M4A mp42isom") + b"".join(boxes)


def mp4_with_table(entries: int) -> bytes:
    """A track whose table of sample sizes claims any number of entries."""
    whole = encoded("ipod", "aac")
    at = whole.index(b"stsz") + 12
    return whole[:at] + struct.pack(">I", entries) + whole[at + 4 :]


def mp4_elsewhere() -> bytes:
    """A track whose sound lies in another file."""
    whole = bytearray(encoded("ipod", "aac"))
    at = whole.index(b"url ")
    whole[at + 4 : at + 8] = b"\0\0\0\0"  # no "in this file" flag any more
    sound = whole.index(b"mdat") + 4
    length = int.from_bytes(whole[sound - 8 : sound - 4], "big") - 8
    whole[sound : sound + length] = bytes(length)
    return bytes(whole)


def aiff(channels: int, frames: int) -> bytes:
    rate = b"\x40\x0c\xfa\x00" + bytes(6)
    common = struct.pack(">hIh", channels, frames, 16) + rate
    sound = struct.pack(">II", 0, 0)
    body = b"AIFF" + b"COMM" + struct.pack(">I", 18) + common
    body += b"SSND" + struct.pack(">I", len(sound)) + sound
    return b"FORM" + struct.pack(">I", len(body)) + body


def au(channels: int, rate_hz: int, data: bytes) -> bytes:
    return b".snd" + struct.pack(">IIIII", 24, 2**32 - 1, 3, rate_hz, channels) + data


def flac(*blocks: tuple[int, int, bytes]) -> bytes:
    """A FLAC file of metadata only; a block is type, claimed length, content."""
    body = b""
    for index, (kind, claimed, data) in enumerate(blocks):
        last = 0x80 if index == len(blocks) - 1 else 0
        body += bytes([kind | last]) + claimed.to_bytes(3, "big") + data
    return b"fLaC" + body


STREAM_INFO = struct.pack(">HH", 4096, 4096) + bytes(6) + bytes.fromhex("0fa00470") + bytes(20)

ASF = bytes.fromhex("3026b2758e66cf11a6d900aa0062ce6c")

PLAYLIST = f"#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\n{NEIGHBOUR}\n#EXT-X-ENDLIST\n"

DASH = f"""<?xml version="1.0"?><MPD type="static" mediaPresentationDuration="PT9S"
 xmlns="urn:mpeg:dash:schema:mpd:2011"><Period><AdaptationSet mimeType="audio/mp4">
 <Representation id="1" bandwidth="1"><BaseURL>{NEIGHBOUR}</BaseURL></Representation>
 </AdaptationSet></Period></MPD>"""

SOUNDS: dict[str, Callable[[], bytes]] = {
    "concat_list": f"ffconcat version 1.0\nfile {NEIGHBOUR}\n".encode,
    "concat_list_absolute": lambda: b"ffconcat version 1.0\nfile '/etc/passwd'\n",
    "concat_list_behind_a_tag": lambda: b"ID3\x04\0\0\0\0\0\0ffconcat version 1.0\nfile x\n",
    "playlist_of_files": PLAYLIST.encode,
    "playlist_of_addresses": lambda: b"#EXTM3U\n#EXTINF:9,\nhttp://127.0.0.1:9/a.ts\n",
    "playlist_behind_a_tag": lambda: b"ID3\x04\0\0\0\0\0\0" + PLAYLIST.encode(),
    "playlist_in_a_wav": lambda: wav(PLAYLIST.encode()),
    "dash_manifest": DASH.encode,
    "session_description": lambda: b"v=0\no=- 0 0 IN IP4 127.0.0.1\nm=audio 9 RTP/AVP 0\n",
    "window_media_list": lambda: b'<asx><entry><ref href="file:///etc/passwd"/></entry></asx>',
    "metadata_list": lambda: b";FFMETADATA1\ntitle=x\n",
    "text": lambda: b"this is not a recording " * 99,
    "midi": lambda: b"MThd\0\0\0\x06\0\0\0\x01\0\x60MTrk\0\0\0\x04\0\xff\x2f\0",
    "zip": lambda: b"PK\x03\x04" + bytes(500),
    "picture": lambda: photo("JPEG"),
    "program": lambda: b"MZ" + bytes(500),
    "noise": lambda: np.random.default_rng(2).bytes(30_000),
    "wav_not_a_number": lambda: float_wav(float("nan")),
    "wav_infinite": lambda: float_wav(float("inf")),
    "wav_without_samples": lambda: wav(b""),
    "wav_without_data": lambda: riff((b"fmt ", wav_format(), None)),
    "wav_without_format": lambda: riff((b"data", bytes(9_999), None)),
    "wav_65535_channels": lambda: wav(bytes(200_000), channels=65_535),
    "wav_no_channels": lambda: wav(bytes(9_999), channels=0),
    "wav_rate_0": lambda: wav(bytes(9_999), rate_hz=0),
    "wav_rate_four_gigahertz": lambda: wav(bytes(9_999), rate_hz=2**32 - 1),
    "wav_unknown_codec": lambda: wav(bytes(9_999), tag=0x7777),
    "wav_claims_four_gigabytes": lambda: wav(bytes(900), claimed=2**32 - 2),
    "wav_tags_claim_gigabytes": lambda: riff(
        (b"fmt ", wav_format(), None), (b"LIST", b"INFO", 1_400_000_000)
    ),
    "wav_of_empty_pieces": lambda: riff(*[(b"junk", b"", None)] * 100_000),
    "rf64_lies": lambda: b"RF64\xff\xff\xff\xffWAVEds64\x1c\0\0\0" + b"\xff" * 28 + bytes(99),
    "w64_lies": lambda: b"riff\x2e\x91\xcf\x11" + b"\xff" * 60,
    "avi_lies": lambda: b"RIFF\xff\xff\xff\xffAVI LIST\xff\xff\xff\x7fhdrlavih" + b"\xff" * 99,
    "aiff_without_frames": lambda: aiff(1, 0),
    "aiff_32767_channels": lambda: aiff(32_767, 2**32 - 1),
    "au_million_channels": lambda: au(10**6, 16_000, bytes(9_999)),
    "au_rate_0": lambda: au(1, 0, bytes(9_999)),
    "caf_lies": lambda: b"caff\0\x01\0\0desc" + b"\x7f" * 8 + b"\xff" * 60,
    "flac_without_frames": lambda: flac((0, 34, STREAM_INFO)),
    "flac_picture_of_16_megabytes": lambda: flac((0, 34, STREAM_INFO), (6, 2**24 - 1, b"\xff")),
    "flac_block_before_its_header": lambda: flac((4, 2**24 - 1, b"\xff" * 999)),
    "flac_three_hours_of_silence": endless_silence,
    "ogg_one_page": lambda: encoded("ogg", "libopus", 48_000)[:60],
    "ogg_comment_of_four_gigabytes": lambda: b"OggS\0\x02" + bytes(20) + b"\x01\x1e\x01vorbis" * 40,
    "ogg_page_without_end": lambda: (b"OggS\0\0" + bytes(20) + b"\xff" + b"\xff" * 255) * 50,
    "mp3_tag_of_256_megabytes": lambda: b"ID3\x04\0\0\x7f\x7f\x7f\x7f" + bytes(500),
    "mp3_two_frames_of_nothing": lambda: (b"\xff\xfb\x90\0" + b"\xff" * 413) * 2,
    "aac_frames_of_noise": lambda: (b"\xff\xf1\x50\x80\x02\x1f\xfc" + b"\xa5" * 9) * 50,
    "amr_of_noise": lambda: b"#!AMR\n" + b"\xff" * 9_999,
    "asf_lies": lambda: ASF + b"\xff" * 200,
    "mp4_without_a_table": lambda: mp4(box(b"mdat", bytes(9_999))),
    "mp4_without_tracks": lambda: mp4(box(b"moov", box(b"mvhd", bytes(100)))),
    "mp4_boxes_in_boxes": lambda: mp4(box(b"moov", (b"\0\0\x10\0trak") * 5_000)),
    "mp4_box_of_an_exabyte": lambda: mp4(b"\0\0\0\x01moov\x0f" + b"\xff" * 7 + bytes(99)),
    "mp4_four_billion_samples": lambda: mp4_with_table(2**32 - 1)[:-2_000],
    "mp4_sound_in_another_file": mp4_elsewhere,
    "mp4_cut": lambda: encoded("ipod", "aac")[:300],
    "film_without_sound": silent_film,
    "matroska_lies": lambda: b"\x1aE\xdf\xa3\x01" + b"\xff" * 6 + b"\xfe" + bytes(99),
    "matroska_without_tracks": lambda: b"\x1aE\xdf\xa3\x80\x18S\x80g\x80" + bytes(99),
    "matroska_cut": lambda: encoded("webm", "libopus", 48_000)[:200],
    "empty": lambda: b"",
}  # fmt: skip
