"""Finished videos: frames stream in, one MP4 that plays everywhere comes out.

H.264 High, yuv420p, constant frame rate, BT.709; AAC 48 kHz, written interleaved while the
frames arrive, so that memory does not grow with the length of the video.
"""

import math
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import KW_ONLY, dataclass, field
from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import Self

import av
import numpy as np
from av.audio.stream import AudioStream
from av.container.output import OutputContainer
from av.video.reformatter import (
    ColorPrimaries,
    ColorRange,
    Colorspace,
    ColorTrc,
    Interpolation,
    VideoReformatter,
)
from av.video.stream import VideoStream
from numpy.typing import NDArray
from PIL import Image

from engine.errors import EngineError, ErrorCode, InputError
from engine.media.atomic import is_disk_full, replace_when_done
from engine.media.audio import SPEECH_RATE_HZ, read_blocks
from engine.media.video_probe import VideoInfo, open_video, probe_video

__all__ = ["VideoInfo", "VideoWriter", "frames_for", "probe_video", "read_frames", "write_poster"]

AUDIO_BITS_PER_S = 128_000
"""Mono speech is transparent well below this; mono AAC-LC plays everywhere. The fast coder costs
0.25 ms a frame instead of 0.45 and keeps 3 dB more of the signal at this rate."""

KEYFRAME_S = 4.0
"""Longest way a player must decode to reach a place; a keyframe costs about ten others."""

ENCODER_THREADS = 1
"""x264 alone on one thread needs the least work: 3.6 ms a frame at 512 px against 4.5 with two
threads and 4.9 with its own choice (13.4, 14.1, 15.8 at 1024), and frees the other cores for
drawing."""

ENCODER_SAVINGS = "subme=1:b-adapt=0:weightp=0"
"""A still camera needs no finer search and no fades: a quarter less work for files 6 % larger that
look the same (43.1 dB at 512 px, 47.2 dB at 768)."""

ENCODER_CARE = "deadzone-inter=10:deadzone-intra=6"
"""Skin, canvas and film grain are faint, and x264's own dead zones (21, 11) drop them: a faint
painting keeps .98 of its fine contrast instead of .76, a sharp photo 1.13 instead of .92 (of 1.2
drawn), for files 18 % and 9 % larger and no time."""

SPEECH_BLOCK_S = 2.0
"""Speech is read in pieces of this length."""

POSTER_QUALITY = 90

_ITUNES_TAGS = {
    "title", "artist", "album_artist", "composer", "album", "date", "genre", "comment",
    "copyright", "description", "synopsis", "encoder",
}  # fmt: skip
"""Names an MP4 knows by itself; any other needs the general kind of tag."""

# bt709, all of it: what a browser assumes for video of this size anyway.
_BT709_SPACE = 1


def frames_for(duration_s: float, fps: Fraction) -> int:
    """Frames that cover `duration_s` seconds of speech to its last sample."""
    num_samples = round(duration_s * SPEECH_RATE_HZ)
    return math.ceil(Fraction(num_samples, SPEECH_RATE_HZ) * fps)


@dataclass
class VideoWriter:
    """Writes one video; use as a context manager.

    The file appears under its name when the block ends without an error; otherwise nothing is
    left behind. The sound is padded or cut to the end of the last frame.

    Attributes:
        target: the MP4.
        width_px, height_px: even.
        fps: constant.
        speech_wav: a WAV of ours.
        crf: x264's quality, 0 (lossless) to 51; 18 is visually lossless.
        preset: x264's speed.
        metadata: tags of the file; names an MP4 does not know are allowed.

    Raises:
        ValueError: an odd size.
        EngineError: OUTPUT_NOT_WRITABLE, DISK_FULL or ENCODING_FAILED, when the block ends.
    """

    target: Path
    width_px: int
    height_px: int
    fps: Fraction
    speech_wav: Path
    _: KW_ONLY
    crf: int = 18
    preset: str = "veryfast"
    metadata: Mapping[str, str] = field(default_factory=dict)
    _context: "AbstractContextManager[_Movie] | None" = field(default=None, init=False, repr=False)
    _movie: "_Movie | None" = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        if self.width_px % 2 or self.height_px % 2 or min(self.width_px, self.height_px) < 2:
            raise ValueError(f"sizes must be even: {self.width_px} x {self.height_px}")

    @property
    def num_frames(self) -> int:
        """Frames written so far."""
        return self._movie.num_frames if self._movie else 0

    def __enter__(self) -> Self:
        self._context = _movie(self)
        self._movie = self._context.__enter__()
        return self

    def write(self, frame: NDArray[np.uint8]) -> None:
        """Encode one frame and the speech that belongs to it.

        Args:
            frame: height x width x 3, uint8, RGB.

        Raises:
            ValueError: wrong shape or type.
        """
        if frame.shape != (self.height_px, self.width_px, 3) or frame.dtype != np.uint8:
            raise ValueError(f"frame is {frame.shape} {frame.dtype}")
        if self._movie is None:
            raise RuntimeError("a VideoWriter is used inside its with block")
        self._movie.add(frame)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool | None:
        self._movie = None
        return self._context.__exit__(kind, error, traceback) if self._context else None


@contextmanager
def _movie(spec: VideoWriter) -> "Iterator[_Movie]":
    with replace_when_done(spec.target) as part:
        try:
            movie = _Movie(part, spec)
            try:
                yield movie
                movie.finish()
            except BaseException:
                # The file is thrown away; that its end cannot be written does not matter.
                with suppress(av.FFmpegError):
                    movie.close()
                raise
            movie.close()
            _check_written(part, movie.num_frames)
        except (av.FFmpegError, InputError) as error:
            code = ErrorCode.DISK_FULL if is_disk_full(error) else ErrorCode.ENCODING_FAILED
            raise EngineError(code) from error


def _check_written(path: Path, num_frames: int) -> None:
    """Read the finished file once: a full disk can leave a file that only looks whole."""
    info = probe_video(path)
    if num_frames == 0 or info.num_frames != num_frames or not info.has_faststart:
        raise EngineError(ErrorCode.ENCODING_FAILED)


class _Movie:
    """An MP4 being written: one picture track, one sound track."""

    def __init__(self, path: Path, spec: VideoWriter) -> None:
        self.num_frames = 0
        self._fps = spec.fps
        self._reformatter = VideoReformatter()
        self._speech = _Speech(spec.speech_wav)
        flags = "+faststart"
        if not _ITUNES_TAGS.issuperset(spec.metadata):
            flags += "+use_metadata_tags"
        self._container = av.open(str(path), "w", format="mp4", options={"movflags": flags})
        self._container.metadata.update(spec.metadata)
        self._video = add_picture_track(
            self._container, (spec.width_px, spec.height_px), spec.fps, spec.crf, spec.preset
        )
        self._audio = add_sound_track(self._container)

    def add(self, pixels: NDArray[np.uint8]) -> None:
        """Encode one frame, then the sound up to its end."""
        frame = to_yuv(self._reformatter, pixels)
        frame.pts, frame.time_base = self.num_frames, 1 / self._fps
        self._container.mux(self._video.encode(frame))
        self.num_frames += 1
        self._add_speech(round(self.num_frames * SPEECH_RATE_HZ / self._fps))

    def finish(self) -> None:
        """Get everything out of the encoders."""
        self._container.mux(self._video.encode(None))
        self._container.mux(self._audio.encode(None))

    def close(self) -> None:
        """Write the index and close the file."""
        self._speech.close()
        self._container.close()

    def _add_speech(self, end_sample: int) -> None:
        start_sample = self._speech.position
        samples = self._speech.take(end_sample - start_sample)
        frame = av.AudioFrame.from_ndarray(samples[None, :], format="fltp", layout="mono")
        frame.sample_rate = SPEECH_RATE_HZ
        frame.pts, frame.time_base = start_sample, Fraction(1, SPEECH_RATE_HZ)
        self._container.mux(self._audio.encode(frame))


def add_picture_track(
    container: OutputContainer, size: tuple[int, int], fps: Fraction, crf: int, preset: str
) -> VideoStream:
    """Add the picture track every video of ours has.

    Args:
        container: being written.
        size: width and height in pixels, both even.
        fps: constant.
        crf: x264's quality.
        preset: x264's speed.
    """
    options = {
        "crf": str(crf),
        "preset": preset,
        "profile": "high",
        "x264-params": f"{ENCODER_SAVINGS}:{ENCODER_CARE}",
    }
    track = container.add_stream("libx264", rate=fps, options=options)
    track.width, track.height = size
    track.pix_fmt = "yuv420p"
    encoder = track.codec_context
    encoder.thread_count = ENCODER_THREADS
    encoder.gop_size = max(round(KEYFRAME_S * fps), 1)
    encoder.color_primaries = ColorPrimaries.BT709
    encoder.color_trc = ColorTrc.BT709
    encoder.colorspace = _BT709_SPACE
    encoder.color_range = ColorRange.MPEG
    return track


def add_sound_track(container: OutputContainer) -> AudioStream:
    """Add the sound track every video of ours has: mono, `SPEECH_RATE_HZ`."""
    track = container.add_stream(
        "aac", rate=SPEECH_RATE_HZ, layout="mono", options={"aac_coder": "fast"}
    )
    track.bit_rate = AUDIO_BITS_PER_S
    return track


def to_yuv(reformatter: VideoReformatter, pixels: NDArray[np.uint8]) -> av.VideoFrame:
    """H x W x 3, uint8, RGB as BT.709 with halved colour: what the encoder takes."""
    rgb = av.VideoFrame.from_ndarray(np.ascontiguousarray(pixels), format="rgb24")
    return reformatter.reformat(
        rgb,
        format="yuv420p",
        dst_colorspace=Colorspace.ITU709,
        dst_color_range=ColorRange.MPEG,
        interpolation=Interpolation.AREA,
        threads=1,
    )


class _Speech:
    """A WAV of ours as an endless stream: silence follows its last sample."""

    def __init__(self, wav: Path) -> None:
        self.position = 0
        self._blocks = read_blocks(wav, SPEECH_RATE_HZ, SPEECH_BLOCK_S)
        self._pending = np.zeros(0, np.float32)

    def take(self, num_samples: int) -> NDArray[np.float32]:
        """The next samples, exactly as many."""
        while self._pending.size < num_samples:
            block = next(self._blocks, None)
            if block is None:
                block = np.zeros(num_samples, np.float32)
            self._pending = np.concatenate([self._pending, block])
        taken, self._pending = np.split(self._pending, [num_samples])
        self.position += num_samples
        return taken

    def close(self) -> None:
        """Close the WAV."""
        self._blocks.close()


def read_frames(path: Path, every: int = 1) -> Iterator[tuple[int, NDArray[np.uint8]]]:
    """Decode a video of ours.

    Args:
        path: an H.264 video.
        every: 1 = each frame, 5 = each fifth.

    Yields:
        Frame index and height x width x 3, uint8, RGB.

    Raises:
        InputError: NOT_A_VIDEO.
    """
    reformatter = VideoReformatter()
    quality = Interpolation.BICUBIC | Interpolation.ACCURATE_RND | Interpolation.FULL_CHR_H_INT
    with open_video(path) as (container, stream):
        for index, frame in enumerate(container.decode(stream)):
            if index % every:
                continue
            is_bt709 = frame.colorspace == _BT709_SPACE
            rgb = reformatter.reformat(
                frame,
                format="rgb24",
                src_colorspace=Colorspace.ITU709 if is_bt709 else Colorspace.DEFAULT,
                src_color_range=frame.color_range,
                interpolation=quality,
                threads=1,
            )
            yield index, np.asarray(rgb.to_ndarray(), dtype=np.uint8)


def write_poster(frame: NDArray[np.uint8], path: Path) -> None:
    """Save one frame (height x width x 3, uint8, RGB) as the JPEG lists show."""
    with replace_when_done(path) as part:
        Image.fromarray(frame).save(part, "JPEG", quality=POSTER_QUALITY)
