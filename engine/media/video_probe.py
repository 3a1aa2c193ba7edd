"""What a video file is made of, read from its tracks and its box order."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

import av
from av.audio.stream import AudioStream
from av.container import InputContainer
from av.video.stream import VideoStream

from engine.errors import ErrorCode, InputError
from engine.media.container import open_container
from engine.media.probe import Medium, sniff

_COLOUR_NAMES = {1: "bt709", 2: "unknown", 5: "bt470bg", 6: "smpte170m", 9: "bt2020"}
"""ISO 23091-2 code points that turn up in practice."""

_RANGE_NAMES = {1: "limited", 2: "full"}


@dataclass(frozen=True)
class SoundTrackInfo:
    """The sound of a video."""

    codec: str
    sample_rate_hz: int
    channels: int
    duration_s: float
    start_s: float


@dataclass(frozen=True)
class VideoInfo:
    """What a video file is made of.

    Attributes:
        codec, profile, pix_fmt: such as `h264`, `High`, `yuv420p`.
        fps: mean frame rate, exact for a constant one.
        width_px, height_px: of a frame.
        num_frames: in the picture track.
        duration_s: of the whole file.
        video_duration_s, video_start_s: of the picture track.
        sound: None when there is no sound track.
        color_primaries, color_transfer, color_space: `bt709`, `unknown`, ...
        color_range: `limited`, `full` or `unknown`.
        has_faststart: the index comes before the data, so that playing starts at once.
        metadata: tags of the file.
    """

    codec: str
    profile: str
    pix_fmt: str
    fps: Fraction
    width_px: int
    height_px: int
    num_frames: int
    duration_s: float
    video_duration_s: float
    video_start_s: float
    sound: SoundTrackInfo | None
    color_primaries: str
    color_transfer: str
    color_space: str
    color_range: str
    has_faststart: bool
    metadata: dict[str, str] = field(default_factory=dict)

    @property
    def audio_duration_s(self) -> float:
        """Length of the sound track in seconds, 0 when there is none."""
        return self.sound.duration_s if self.sound else 0.0


@contextmanager
def open_video(path: Path) -> Iterator[tuple[InputContainer, VideoStream]]:
    """Open a file and its first picture track.

    Raises:
        InputError: NOT_A_VIDEO, or what `probe.sniff` says.
    """
    kind = sniff(path)
    if kind.medium is not Medium.SOUND or kind.demuxer is None:
        raise InputError(ErrorCode.NOT_A_VIDEO)
    with ExitStack() as stack:
        try:
            container = stack.enter_context(open_container(path, kind.demuxer, video=True))
        except (av.FFmpegError, OSError, ValueError) as error:
            raise InputError(ErrorCode.NOT_A_VIDEO) from error
        if not container.streams.video:
            raise InputError(ErrorCode.NOT_A_VIDEO)
        yield container, container.streams.video[0]


def probe_video(path: Path) -> VideoInfo:
    """Read what `path` is made of; no frame is decoded for it.

    Raises:
        InputError: NOT_A_VIDEO, or what `probe.sniff` says.
    """
    with open_video(path) as (container, stream):
        sound = container.streams.audio[0] if container.streams.audio else None
        context = stream.codec_context
        num_frames = stream.frames or sum(packet.size > 0 for packet in container.demux(stream))
        return VideoInfo(
            codec=context.name,
            profile=context.profile or "",
            pix_fmt=context.pix_fmt or "",
            fps=Fraction(stream.average_rate or 0),
            width_px=context.width,
            height_px=context.height,
            num_frames=num_frames,
            duration_s=(container.duration or 0) / 1e6,
            video_duration_s=_seconds(stream, stream.duration),
            video_start_s=_seconds(stream, stream.start_time),
            sound=_sound_track(sound) if sound else None,
            color_primaries=_COLOUR_NAMES.get(context.color_primaries, "unknown"),
            color_transfer=_COLOUR_NAMES.get(context.color_trc, "unknown"),
            color_space=_COLOUR_NAMES.get(context.colorspace, "unknown"),
            color_range=_RANGE_NAMES.get(context.color_range, "unknown"),
            has_faststart=has_faststart(path),
            metadata=dict(container.metadata),
        )


def _sound_track(stream: AudioStream) -> SoundTrackInfo:
    return SoundTrackInfo(
        codec=stream.codec_context.name,
        sample_rate_hz=stream.rate,
        channels=stream.channels,
        duration_s=_seconds(stream, stream.duration),
        start_s=_seconds(stream, stream.start_time),
    )


def _seconds(stream: VideoStream | AudioStream, ticks: int | None) -> float:
    if ticks is None or stream.time_base is None:
        return 0.0
    return float(ticks * stream.time_base)


def has_faststart(path: Path) -> bool:
    """Whether the index (moov) lies before the data (mdat) of an MP4."""
    with path.open("rb") as file:
        while len(header := file.read(16)) >= 8:
            size, name = int.from_bytes(header[:4], "big"), header[4:8]
            if name in (b"moov", b"mdat"):
                return name == b"moov"
            if size == 1:
                size = int.from_bytes(header[8:16], "big")
            if size < 8:
                return False
            file.seek(size - len(header), 1)
    return False
