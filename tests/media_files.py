"""Builds sound and picture files for tests: what strangers upload, made small and in code."""

import struct
import zlib
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import soundfile as sf

SPEECH = Path(__file__).parent / "data" / "speech" / "en_librivox_austen_0870.wav"
PORTRAIT = Path(__file__).parent / "data" / "portraits" / "astronaut_collins.jpg"


def base_speech():
    """The 7.1 s clip as mono float32 at 16 kHz."""
    samples, rate_hz = sf.read(SPEECH, dtype="float32")
    assert rate_hz == 16000
    return samples


def encode_sound(path, container, codec, samples, rate_hz, *, options=None, start_s=0.0):
    """Write channels x samples with one of FFmpeg's encoders.

    Args:
        path: target.
        container: FFmpeg's muxer name.
        codec: FFmpeg's encoder name.
        samples: float32, (channels, samples) or (samples,).
        rate_hz: must be one the encoder takes.
        options: of the muxer.
        start_s: time stamp of the first sample.
    """
    planes = np.atleast_2d(np.asarray(samples, np.float32))
    layout = {1: "mono", 2: "stereo", 6: "5.1"}[planes.shape[0]]
    with av.open(str(path), "w", format=container, options=options or {}) as output:
        stream = output.add_stream(codec, rate=rate_hz, layout=layout)
        if codec == "wmav2":
            stream.bit_rate = 64_000
        for start in range(0, planes.shape[1], 4096):
            piece = np.ascontiguousarray(planes[:, start : start + 4096])
            frame = av.AudioFrame.from_ndarray(piece, format="fltp", layout=layout)
            frame.sample_rate = rate_hz
            frame.time_base = Fraction(1, rate_hz)
            frame.pts = start + round(start_s * rate_hz)
            output.mux(stream.encode(frame))
        output.mux(stream.encode(None))
    return path


def png_with_size(width_px, height_px):
    """A PNG whose header claims any size; it holds hardly any data."""

    def chunk(name, data):
        body = name + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    header = struct.pack(">IIBBBBB", width_px, height_px, 8, 2, 0, 0, 0)
    return b"".join(
        (
            b"\x89PNG\r\n\x1a\n",
            chunk(b"IHDR", header),
            chunk(b"IDAT", zlib.compress(bytes(1000))),
            chunk(b"IEND", b""),
        )
    )


def icc_profile(red_xyz, green_xyz, blue_xyz):
    """A minimal ICC v2 display profile: three primaries (PCS XYZ, D50), linear curves."""

    def xyz(values):
        return b"XYZ \0\0\0\0" + b"".join(struct.pack(">i", round(v * 65536)) for v in values)

    curve = b"curv\0\0\0\0" + struct.pack(">IHH", 1, round(2.2 * 256), 0)
    text = b"desc\0\0\0\0" + struct.pack(">I", 5) + b"test\0" + bytes(78)
    text += bytes(-len(text) % 4)
    copyright_text = b"text\0\0\0\0CC0\0"
    blocks = {
        b"desc": text,
        b"cprt": copyright_text,
        b"wtpt": xyz((0.9642, 1.0, 0.8249)),
        b"rXYZ": xyz(red_xyz),
        b"gXYZ": xyz(green_xyz),
        b"bXYZ": xyz(blue_xyz),
        b"rTRC": curve,
        b"gTRC": curve,
        b"bTRC": curve,
    }
    table, data, offset = b"", b"", 128 + 4 + 12 * len(blocks)
    for name, block in blocks.items():
        table += name + struct.pack(">II", offset + len(data), len(block))
        data += block
    header = bytearray(128)
    header[4:8] = b"lcms"
    header[8:12] = bytes((2, 0x40, 0, 0))
    header[12:24] = b"mntrRGB XYZ "
    header[24:36] = struct.pack(">6H", 2020, 1, 1, 0, 0, 0)
    header[36:40] = b"acsp"
    header[68:80] = struct.pack(">3i", 63190, 65536, 54061)
    body = struct.pack(">I", len(blocks)) + table + data
    header[0:4] = struct.pack(">I", 128 + len(body))
    return bytes(header) + body


def webp_with_canvas(width_px, height_px, still):
    """An animated WebP that claims any canvas around one small still WebP."""

    def three_bytes(value):
        return struct.pack("<I", value)[:3]

    def chunk(name, data):
        return name + struct.pack("<I", len(data)) + data

    frame = bytes(6) + three_bytes(63) * 2 + bytes(4) + still[12:]
    body = b"WEBP" + chunk(
        b"VP8X", bytes((2, 0, 0, 0)) + three_bytes(width_px - 1) + three_bytes(height_px - 1)
    )
    body += chunk(b"ANIM", bytes(6)) + chunk(b"ANMF", frame)
    return b"RIFF" + struct.pack("<I", len(body)) + body
