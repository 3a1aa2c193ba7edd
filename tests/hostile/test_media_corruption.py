"""Damaged files of every kind end in a picture, a recording or a code, and quickly."""

import random
import time

import numpy as np
import pillow_heif
import pytest
import soxr
from PIL import Image

from engine.errors import EngineError
from engine.media.audio import decode_speech
from engine.media.image import read_portrait
from engine.settings import EngineSettings
from tests.media_files import PORTRAIT, base_speech, encode_sound

pillow_heif.register_heif_opener()

LIMITS = EngineSettings()
VARIANTS = 12
LIMIT_S = 5.0


def flip(data, chance):
    for _ in range(chance.randint(1, 20)):
        data[chance.randrange(len(data))] = chance.randrange(256)


def break_header(data, chance):
    for _ in range(chance.randint(1, 6)):
        data[chance.randrange(min(200, len(data)))] = chance.choice((0, 127, 255))


def overwrite(data, chance):
    start, length = chance.randrange(len(data)), chance.randint(1, 2000)
    data[start : start + length] = chance.randbytes(len(data[start : start + length]))


def blank(data, chance):
    start, length = chance.randrange(len(data)), chance.randint(1, 20000)
    data[start : start + length] = bytes(len(data[start : start + length]))


def cut(data, chance):
    del data[chance.randrange(1, len(data)) :]


def repeat(data, chance):
    start = chance.randrange(len(data))
    data[start:start] = data[start : start + chance.randint(1, 5000)]


DAMAGES = (flip, break_header, overwrite, blank, cut, repeat)


def damaged_variants(whole, path, seed):
    """Write one damaged copy after the other to `path`."""
    chance = random.Random(seed)
    for number in range(VARIANTS):
        data = bytearray(whole)
        DAMAGES[number % len(DAMAGES)](data, chance)
        path.write_bytes(data)
        yield number


@pytest.mark.parametrize(
    "pillow_format", ["JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF", "HEIF", "AVIF"]
)
def test_damaged_pictures_are_read_or_refused(pillow_format, tmp_path):
    path = tmp_path / "upload"
    photo = Image.open(PORTRAIT).convert("RGB").resize((128, 128))
    photo.save(path, pillow_format)

    for number in damaged_variants(path.read_bytes(), path, pillow_format):
        started = time.monotonic()
        try:
            pixels = read_portrait(path, LIMITS).pixels
        except EngineError:
            pixels = None
        assert time.monotonic() - started < LIMIT_S, number
        if pixels is not None:
            assert pixels.dtype == np.uint8
            assert pixels.shape[2] == 3


@pytest.mark.parametrize(
    ("container", "codec", "rate_hz"),
    [
        ("mp3", "libmp3lame", 16000), ("ipod", "aac", 16000), ("adts", "aac", 16000),
        ("webm", "libopus", 48000), ("ogg", "libopus", 48000), ("flac", "flac", 16000),
        ("wav", "pcm_s16le", 16000), ("aiff", "pcm_s16be", 16000), ("asf", "wmav2", 16000),
        ("amr", "libopencore_amrnb", 8000), ("caf", "pcm_s16le", 16000),
        ("avi", "pcm_s16le", 16000),
    ],
)  # fmt: skip
def test_damaged_recordings_are_read_or_refused(container, codec, rate_hz, tmp_path):
    path = tmp_path / "upload"
    samples = soxr.resample(base_speech()[:48000], 16000, rate_hz)
    encode_sound(path, container, codec, samples, rate_hz)
    target = tmp_path / "speech.wav"

    for number in damaged_variants(path.read_bytes(), path, codec):
        target.unlink(missing_ok=True)
        started = time.monotonic()
        try:
            duration_s = decode_speech(path, target, LIMITS).duration_s
        except EngineError:
            duration_s = None
        assert time.monotonic() - started < LIMIT_S, number
        assert target.exists() is (duration_s is not None)
        # Time stamps that jump must not blow three seconds up to hours.
        assert duration_s is None or duration_s < 120, number
