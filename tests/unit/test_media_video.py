"""Finished videos play everywhere, are exactly as long as their speech, and whole or absent."""

import errno
import os
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import av
import cv2
import numpy as np
import pytest
from PIL import Image

from engine.errors import Canceled, EngineError, ErrorCode, InputError
from engine.media import video as video_module
from engine.media.audio import write_wav
from engine.media.video import VideoWriter, frames_for, probe_video, read_frames, write_poster
from tests.media_files import PORTRAIT, SPEECH

FPS = Fraction(25)
BEEP_S = 0.1


def beeping_speech(folder, duration_s):
    """Silence with a click at the start and a 1 kHz beep in the last 100 ms."""
    samples = np.zeros(round(duration_s * 48000), np.float32)
    beep = np.arange(round(BEEP_S * 48000)) / 48000
    samples[:480] = 0.5 * np.sin(2 * np.pi * 3000 * beep[:480])
    samples[-beep.size :] = 0.5 * np.sin(2 * np.pi * 1000 * beep)
    write_wav(folder / "speech.wav", samples, 48000)
    return folder / "speech.wav"


def grey_frame(value, width_px=64, height_px=48):
    return np.full((height_px, width_px, 3), value, np.uint8)


def made_video(folder, duration_s=1.0, fps=FPS, **options):
    wav = beeping_speech(folder, duration_s)
    target = folder / "video.mp4"
    with VideoWriter(target, 64, 48, fps, wav, **options) as writer:
        for index in range(frames_for(duration_s, fps)):
            writer.write(grey_frame(20 + index % 200))
    wav.unlink()
    return target


def sound_of(path):
    """The sound as a player hears it: from time 0 of the file, at 48 kHz."""
    with av.open(str(path)) as container:
        stream = container.streams.audio[0]
        pieces = [(frame.time, frame.to_ndarray()[0]) for frame in container.decode(stream)]
    assert abs(pieces[0][0]) < 0.001
    return np.concatenate([piece for _, piece in pieces])


@pytest.mark.parametrize("duration_s", [0.3, 0.5, 1.0, 1.04, 3.33, 9.56])
@pytest.mark.parametrize("fps", [Fraction(25), Fraction(24), Fraction(60), Fraction(30000, 1001)])
def test_first_and_last_sample_of_the_speech_are_heard(duration_s, fps, tmp_path):
    path = made_video(tmp_path, duration_s, fps)

    info = probe_video(path)
    sound = sound_of(path)

    assert info.num_frames == frames_for(duration_s, fps)
    assert info.fps == fps
    assert abs(info.video_duration_s - info.audio_duration_s) <= 1 / fps
    assert 0 <= info.video_duration_s - duration_s < 1 / fps + 1e-3
    assert info.video_start_s == info.sound.start_s == 0
    loud = np.flatnonzero(np.abs(sound) > 0.1)
    assert loud[0] / 48000 < 0.005
    assert abs(loud[-1] / 48000 - duration_s) < 0.002


def test_video_plays_everywhere(tmp_path):
    info = probe_video(made_video(tmp_path, 2.0))

    assert (info.codec, info.profile, info.pix_fmt) == ("h264", "High", "yuv420p")
    assert (info.width_px, info.height_px, info.fps) == (64, 48, FPS)
    colours = {info.color_primaries, info.color_transfer, info.color_space}
    assert colours == {"bt709"}
    assert info.color_range == "limited"
    assert info.has_faststart
    assert (info.sound.codec, info.sound.sample_rate_hz, info.sound.channels) == ("aac", 48000, 1)


def test_every_frame_has_the_same_length(tmp_path):
    path = made_video(tmp_path, 2.0)

    with av.open(str(path)) as container:
        times = sorted(packet.pts for packet in container.demux(video=0) if packet.pts is not None)

    assert len(set(np.diff(times))) == 1


@pytest.mark.parametrize(
    ("rgb", "yuv"),
    [
        ((255, 0, 0), (63, 102, 240)),
        ((0, 255, 0), (173, 42, 26)),
        ((0, 0, 255), (32, 240, 118)),
        ((255, 255, 255), (235, 128, 128)),
        ((0, 0, 0), (16, 128, 128)),
    ],
)
def test_colours_are_stored_as_bt709_limited(rgb, yuv, tmp_path):
    wav = beeping_speech(tmp_path, 0.3)
    frame = np.zeros((48, 64, 3), np.uint8)
    frame[:] = rgb
    with VideoWriter(tmp_path / "v.mp4", 64, 48, FPS, wav, crf=1) as writer:
        for _ in range(8):
            writer.write(frame)

    with av.open(str(tmp_path / "v.mp4")) as container:
        stored = next(container.decode(video=0)).to_ndarray()
    luma, blue, red = stored[:48], stored[48:60], stored[60:]

    assert [int(np.median(plane)) for plane in (luma, blue, red)] == pytest.approx(yuv, abs=1)


def test_frames_come_back_as_they_went_in(tmp_path):
    photo = np.asarray(Image.open(PORTRAIT).convert("RGB").resize((256, 256)))
    wav = beeping_speech(tmp_path, 0.4)
    with VideoWriter(tmp_path / "v.mp4", 256, 256, FPS, wav) as writer:
        for shift in range(10):
            writer.write(np.roll(photo, shift, axis=1))

    frames = list(read_frames(tmp_path / "v.mp4", every=3))

    assert [index for index, _ in frames] == [0, 3, 6, 9]
    for index, pixels in frames:
        difference = pixels.astype(int) - np.roll(photo, index, axis=1)
        assert np.abs(difference.mean((0, 1))).max() < 0.7
        assert np.abs(difference).mean() < 5


def test_faint_grain_survives_encoding_while_it_moves(tmp_path):
    """Skin and canvas are as faint as this; x264 by itself keeps half of their fine contrast."""
    grain = np.random.default_rng(1).normal(0, 1, (120, 160)).astype(np.float32)
    grain = cv2.GaussianBlur(grain, (0, 0), 0.6)
    shade = 120 + 60 * np.sin(np.arange(160, dtype=np.float32) / 40)
    canvas = shade + 2 * grain / grain.std()
    moves = [np.array([[1, 0, 0.3 * i], [0, 1, 0.2 * i]], np.float32) for i in range(25)]
    drawn = [
        cv2.warpAffine(canvas, move, (160, 120), flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_WRAP)
        for move in moves
    ]
    frames = [np.rint(picture).astype(np.uint8)[..., None].repeat(3, axis=2) for picture in drawn]
    with VideoWriter(tmp_path / "v.mp4", 160, 120, FPS, beeping_speech(tmp_path, 1.0)) as writer:
        for frame in frames:
            writer.write(frame)

    def detail(frame):
        return cv2.Laplacian(frame[..., 1], cv2.CV_32F).var()

    shown = [frame for _, frame in read_frames(tmp_path / "v.mp4")]
    kept = [detail(after) / detail(before) for after, before in zip(shown, frames, strict=True)]

    assert np.median(kept) > 0.62


def test_picture_moves_with_its_sound(tmp_path):
    """A flash and a beep in the same frame are found in the same frame of the file."""
    samples = np.zeros(2 * 48000, np.float32)
    samples[48000 : 48000 + 1920] = np.sin(2 * np.pi * 1000 * np.arange(1920) / 48000) * 0.5
    write_wav(tmp_path / "s.wav", samples, 48000)
    with VideoWriter(tmp_path / "v.mp4", 64, 48, FPS, tmp_path / "s.wav") as writer:
        for index in range(50):
            writer.write(grey_frame(250 if index == 25 else 10))

    flash = [index for index, frame in read_frames(tmp_path / "v.mp4") if frame.mean() > 120]
    loud = np.flatnonzero(np.abs(sound_of(tmp_path / "v.mp4")) > 0.1) / 48000

    assert flash == [25]
    assert loud[0] == pytest.approx(1.0, abs=0.02)
    assert loud[-1] == pytest.approx(1.04, abs=0.02)


def test_more_frames_than_speech_end_in_silence(tmp_path):
    wav = beeping_speech(tmp_path, 0.5)
    with VideoWriter(tmp_path / "v.mp4", 64, 48, FPS, wav) as writer:
        for _ in range(50):
            writer.write(grey_frame(80))

    info = probe_video(tmp_path / "v.mp4")

    assert info.video_duration_s == pytest.approx(2.0)
    assert info.audio_duration_s == pytest.approx(2.0, abs=0.001)
    assert np.abs(sound_of(tmp_path / "v.mp4")[30000:]).max() < 0.01


def test_real_speech_is_kept(tmp_path):
    with VideoWriter(tmp_path / "v.mp4", 64, 48, FPS, SPEECH) as writer:
        for _ in range(frames_for(7.1, FPS)):
            writer.write(grey_frame(80))
        assert writer.num_frames == 178

    assert probe_video(tmp_path / "v.mp4").audio_duration_s == pytest.approx(7.12, abs=0.001)


@pytest.mark.parametrize(
    ("duration_s", "fps", "num_frames"),
    [
        (1.04, 25, 26), (0.5, 25, 13), (1.0, 60, 60), (0.001, 25, 1), (9.56, 25, 239),
        (7200.0, 25, 180_000), (1 / 3, 30, 10), (3.33, 50, 167), (1.0 + 1 / 48000, 25, 26),
    ],
)  # fmt: skip
def test_frames_cover_the_speech_and_no_more(duration_s, fps, num_frames):
    assert frames_for(duration_s, Fraction(fps)) == num_frames


def test_tags_of_any_name_are_kept(tmp_path):
    tags = {"title": "Täst", "AIGC": '{"label": "1"}'}

    assert tags.items() <= probe_video(made_video(tmp_path, metadata=tags)).metadata.items()


@pytest.mark.parametrize("size", [(63, 48), (64, 47), (0, 48)])
def test_odd_sizes_are_refused(size, tmp_path):
    with pytest.raises(ValueError, match="even"):
        VideoWriter(tmp_path / "v.mp4", *size, FPS, tmp_path / "s.wav")


@pytest.mark.parametrize(
    "frame", [np.zeros((48, 66, 3), np.uint8), np.zeros((48, 64, 3)), np.zeros((48, 64), np.uint8)]
)
def test_wrong_frames_are_refused_and_nothing_is_left(frame, tmp_path):
    wav = beeping_speech(tmp_path, 0.5)

    with (
        pytest.raises(ValueError, match="frame"),
        VideoWriter(tmp_path / "v.mp4", 64, 48, FPS, wav) as writer,
    ):
        writer.write(frame)

    assert sorted(path.name for path in tmp_path.iterdir()) == ["speech.wav"]


def test_cancel_leaves_the_old_video_and_no_partial_file(tmp_path):
    path = made_video(tmp_path)
    before = path.read_bytes()
    wav = beeping_speech(tmp_path, 1.0)

    def stop_half_way():
        with VideoWriter(path, 64, 48, FPS, wav) as writer:
            for _ in range(10):
                writer.write(grey_frame(90))
            raise Canceled

    with pytest.raises(Canceled):
        stop_half_way()

    assert path.read_bytes() == before
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["speech.wav", "video.mp4"]


def test_video_without_a_frame_is_a_failure(tmp_path):
    wav = beeping_speech(tmp_path, 0.5)

    with pytest.raises(EngineError) as caught, VideoWriter(tmp_path / "v.mp4", 64, 48, FPS, wav):
        pass

    assert caught.value.code is ErrorCode.ENCODING_FAILED
    assert not list(tmp_path.glob("v.mp4*"))


def test_full_disk_is_said_and_leaves_nothing(tmp_path, monkeypatch):
    wav = beeping_speech(tmp_path, 0.5)

    def full(_movie, _pixels):
        raise av.error.OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(video_module._Movie, "add", full)
    with (
        pytest.raises(EngineError) as caught,
        VideoWriter(tmp_path / "v.mp4", 64, 48, FPS, wav) as writer,
    ):
        writer.write(grey_frame(90))

    assert caught.value.code is ErrorCode.DISK_FULL
    assert not list(tmp_path.glob("v.mp4*"))


WRITE_UNTIL_THE_LIMIT = """
import resource, sys
from fractions import Fraction
from pathlib import Path
import numpy as np
from engine.errors import EngineError
from engine.media.video import VideoWriter

folder = Path(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))
noise = np.random.default_rng(0)
try:
    with VideoWriter(folder / "v.mp4", 128, 128, Fraction(25), folder / "speech.wav") as writer:
        for _ in range(40):
            writer.write(noise.integers(0, 256, (128, 128, 3), dtype=np.uint8))
except EngineError as error:
    sys.exit(0 if error.code == "encoding_failed" else 3)
sys.exit(4)
"""


@pytest.mark.skipif(os.name == "nt", reason="no file size limit on Windows")
def test_file_that_cannot_grow_is_a_failure_and_leaves_nothing(tmp_path):
    beeping_speech(tmp_path, 2.0)
    root = Path(__file__).parents[2]

    result = subprocess.run(
        [sys.executable, "-c", WRITE_UNTIL_THE_LIMIT, str(tmp_path)],
        cwd=root, timeout=60, check=False, capture_output=True,
    )  # fmt: skip

    assert result.returncode == 0, result.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["speech.wav"]


def test_missing_folder_is_not_writable(tmp_path):
    wav = beeping_speech(tmp_path, 0.5)

    with (
        pytest.raises(EngineError) as caught,
        VideoWriter(tmp_path / "nowhere" / "v.mp4", 64, 48, FPS, wav),
    ):
        pass

    assert caught.value.code is ErrorCode.OUTPUT_NOT_WRITABLE


@pytest.mark.parametrize(
    "content", [b"a text", b"\x89PNG\r\n\x1a\n" + bytes(50), bytes(range(256))]
)
def test_what_is_no_video_is_refused(content, tmp_path):
    path = tmp_path / "video.mp4"
    path.write_bytes(content)

    for use in (probe_video, lambda p: next(read_frames(p))):
        with pytest.raises(InputError) as caught:
            use(path)
        assert caught.value.code is ErrorCode.NOT_A_VIDEO


def test_sound_file_is_no_video():
    with pytest.raises(InputError) as caught:
        probe_video(SPEECH)

    assert caught.value.code is ErrorCode.NOT_A_VIDEO


def test_index_at_the_end_is_noticed(tmp_path):
    path = tmp_path / "v.mp4"
    with av.open(str(path), "w") as output:
        stream = output.add_stream("libx264", rate=25)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        for _ in range(5):
            output.mux(stream.encode(av.VideoFrame.from_ndarray(grey_frame(50))))
        output.mux(stream.encode(None))

    info = probe_video(path)

    assert not info.has_faststart
    assert info.sound is None
    assert info.num_frames == 5


def test_poster_is_a_jpeg_of_the_frame(tmp_path):
    photo = np.asarray(Image.open(PORTRAIT).convert("RGB"))

    write_poster(photo, tmp_path / "poster.jpg")

    with Image.open(tmp_path / "poster.jpg") as poster:
        assert (poster.format, poster.size) == ("JPEG", (photo.shape[1], photo.shape[0]))
        assert np.abs(np.asarray(poster).astype(int) - photo).mean() < 4
    assert [path.name for path in tmp_path.iterdir()] == ["poster.jpg"]
