"""The bytes decide what a file is; the name never does."""

import io
import os

import numpy as np
import pillow_heif
import pytest
import soundfile as sf
from PIL import Image

from engine.errors import ErrorCode, InputError
from engine.media.probe import Medium, identify, sniff
from tests.media_files import base_speech, encode_sound

HOSTILE_TEXTS = {
    "concat script": "ffconcat version 1.0\nfile other.wav\n",
    "play list": "#EXTM3U\n#EXTINF:10,\n/etc/hostname\n",
    "dash manifest": '<?xml version="1.0"?><MPD><Period/></MPD>',
    "web page": "<!doctype html><html><body>404</body></html>",
    "subtitles": "1\n00:00:00,000 --> 00:00:01,000\nhello\n",
    "plain words": "Im free to say BM or II in a text. " * 40,
    "a short table": "لغة,نص\nar,صباح الخير",
}


def picture_bytes(pillow_format):
    data = io.BytesIO()
    Image.new("RGB", (64, 64), "teal").save(data, pillow_format)
    return data.getvalue()


@pytest.mark.parametrize("name", ["JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF", "AVIF", "HEIF"])
def test_each_picture_format_is_told_from_its_bytes(name, tmp_path):
    pillow_heif.register_heif_opener()
    path = tmp_path / "holiday.txt"
    path.write_bytes(picture_bytes(name))

    kind = sniff(path)

    assert (kind.medium, kind.pillow_format, kind.demuxer) == (Medium.IMAGE, name, None)


@pytest.mark.parametrize(
    ("container", "codec", "demuxer"),
    [
        ("mp3", "libmp3lame", "mp3"),
        ("adts", "aac", "aac"),
        ("mp4", "aac", "mov"),
        ("mov", "pcm_s16le", "mov"),
        ("webm", "libopus", "matroska"),
        ("ogg", "libopus", "ogg"),
        ("asf", "wmav2", "asf"),
        ("flac", "flac", "flac"),
        ("aiff", "pcm_s16be", "aiff"),
        ("caf", "pcm_s16le", "caf"),
        ("au", "pcm_s16be", "au"),
        ("wav", "pcm_s16le", "wav"),
        ("w64", "pcm_s16le", "w64"),
        ("avi", "pcm_s16le", "avi"),
        ("amr", "libopencore_amrnb", "amr"),
    ],
)
def test_each_container_gets_its_own_demuxer_under_any_name(container, codec, demuxer, tmp_path):
    rate_hz = {"libopencore_amrnb": 8000, "wmav2": 16000}.get(codec, 48000)
    path = encode_sound(tmp_path / "picture.jpg", container, codec, base_speech()[:8000], rate_hz)

    kind = sniff(path)

    assert (kind.medium, kind.demuxer, kind.pillow_format) == (Medium.SOUND, demuxer, None)


def test_mp3_without_a_tag_is_found_by_its_frames(tmp_path):
    path = encode_sound(
        tmp_path / "a",
        "mp3",
        "libmp3lame",
        base_speech()[:16000],
        16000,
        options={"id3v2_version": "0", "write_xing": "0"},
    )

    assert path.read_bytes()[:3] != b"ID3"
    assert sniff(path).demuxer == "mp3"


def test_tag_in_front_does_not_hide_flac(tmp_path):
    data = io.BytesIO()
    sf.write(data, np.zeros(1000, np.float32), 16000, format="FLAC")
    path = tmp_path / "a.mp3"
    path.write_bytes(b"ID3\x03\x00\x00\x00\x00\x00\x05hello" + data.getvalue())

    assert sniff(path).demuxer == "flac"


@pytest.mark.parametrize("text", HOSTILE_TEXTS.values(), ids=HOSTILE_TEXTS.keys())
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_text_of_any_kind_reaches_no_decoder(text, encoding, tmp_path):
    path = tmp_path / "voice.wav"
    path.write_bytes(text.encode(encoding))

    kind = sniff(path)

    assert kind.medium is Medium.OTHER
    assert kind.demuxer is None
    assert kind.pillow_format is None


def test_vector_picture_is_a_picture_that_cannot_be_read():
    kind = identify(b'<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg"></svg>')

    assert (kind.medium, kind.name, kind.pillow_format) == (Medium.IMAGE, "SVG", None)


def test_film_that_lists_a_picture_brand_stays_a_film():
    head = b"\x00\x00\x00\x18ftypmp42\x00\x00\x00\x00mp42mif1"

    assert identify(head).demuxer == "mov"


@pytest.mark.parametrize("head", [b"PK\x03\x04rest", b"%PDF-1.7", b"\x7fELF\x02", b"\x1f\x8b\x08"])
def test_archives_and_programs_are_neither_picture_nor_sound(head):
    assert identify(head + bytes(64)).medium is Medium.OTHER


def test_random_bytes_are_unknown():
    noise = np.random.default_rng(5).integers(0, 256, 5000, dtype=np.uint8).tobytes()

    assert identify(noise).medium is Medium.UNKNOWN


def test_empty_file_is_refused(tmp_path):
    path = tmp_path / "a.png"
    path.touch()

    with pytest.raises(InputError) as caught:
        sniff(path)

    assert caught.value.code is ErrorCode.EMPTY_FILE


def test_file_over_the_limit_is_refused_with_both_sizes(tmp_path):
    path = tmp_path / "a.png"
    path.write_bytes(bytes(3_000_000))

    with pytest.raises(InputError) as caught:
        sniff(path, max_bytes=1_000_000)

    assert caught.value.code is ErrorCode.FILE_TOO_LARGE
    assert caught.value.values == {"size_mb": 3.0, "limit_mb": 1.0}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_pipe_is_refused_without_waiting_for_it(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)

    with pytest.raises(InputError) as caught:
        sniff(path)

    assert caught.value.code is ErrorCode.FILE_NOT_FOUND


@pytest.mark.parametrize("name", ["missing.wav", "nul\0byte.wav"])
def test_missing_file_is_named_without_its_folder(name, tmp_path):
    with pytest.raises(InputError) as caught:
        sniff(tmp_path / name)

    assert caught.value.code is ErrorCode.FILE_NOT_FOUND
    assert caught.value.values == {"name": name}
