"""Sections become one MP4: pictures are copied packet by packet, the sound is encoded once.

Every frame keeps its exact place: section k begins at the sum of the frames before it.
"""

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

import av
import numpy as np
from av.container import InputContainer, OutputContainer
from av.packet import Packet
from av.video.stream import VideoStream
from numpy.typing import NDArray

from engine.errors import Canceled, EngineError, ErrorCode
from engine.media.atomic import is_disk_full, replace_when_done
from engine.media.audio import SPEECH_RATE_HZ
from engine.media.video import add_sound_track, probe_video

if TYPE_CHECKING:
    from av.container.core import Chapter

CHAPTER_BASE = Fraction(1, 1000)
_MOVFLAGS = "+faststart+use_metadata_tags"


@dataclass(frozen=True)
class Part:
    """One section to join.

    Attributes:
        video: its MP4 without sound.
        num_frames: taken of it.
        heading: of its chapter.
        first_frame: taken; it must be a keyframe.
    """

    video: Path
    num_frames: int
    heading: str
    first_frame: int = 0


def join(  # noqa: PLR0913 - see the arguments
    parts: Sequence[Part],
    sound: Generator[NDArray[np.float32], None, None],
    target: Path,
    fps: Fraction,
    metadata: Mapping[str, str],
    canceled: Event,
    *,
    has_chapters: bool = True,
) -> None:
    """Write the lecture.

    Args:
        parts: in order, all encoded alike.
        sound: mono blocks at 48 kHz, as long as all parts together.
        target: the MP4; appears when it is complete.
        fps: of all parts.
        metadata: tags of the file.
        canceled: looked at between two packets.
        has_chapters: name the parts as chapters.

    Raises:
        Canceled: nothing is left behind.
        EngineError: DISK_FULL or ENCODING_FAILED.
    """
    num_frames = sum(part.num_frames for part in parts)
    with replace_when_done(target) as path:
        try:
            output = _Output(path, fps, metadata, has_chapters)
            _write(parts, sound, output, canceled)
            info = probe_video(path)
            if info.num_frames != num_frames or not info.has_faststart:
                raise EngineError(ErrorCode.ENCODING_FAILED)
        except av.FFmpegError as error:
            code = ErrorCode.DISK_FULL if is_disk_full(error) else ErrorCode.ENCODING_FAILED
            raise EngineError(code) from error
        finally:
            sound.close()


def chapters_of(parts: Sequence[Part], fps: Fraction) -> list[tuple[int, int, str]]:
    """Start and end in frames, and heading, of each part."""
    rows, at = [], 0
    for part in parts:
        rows.append((at, at + part.num_frames, part.heading))
        at += part.num_frames
    return rows


@dataclass(frozen=True)
class _Output:
    """The file that is written; arguments as of `join`."""

    path: Path
    fps: Fraction
    metadata: Mapping[str, str]
    has_chapters: bool


def _write(
    parts: Sequence[Part], sound: Iterator[NDArray[np.float32]], target: _Output, canceled: Event
) -> None:
    fps, options = target.fps, {"movflags": _MOVFLAGS}
    with av.open(str(target.path), "w", format="mp4", options=options) as output:
        output.metadata.update(target.metadata)
        if target.has_chapters:
            output.set_chapters(_chapters(parts, fps))
        with av.open(str(parts[0].video)) as first:
            track = output.add_stream_from_template(first.streams.video[0])
            extradata = first.streams.video[0].codec_context.extradata
        voice = _Voice(output, sound)
        offset = 0
        for part in parts:
            with av.open(str(part.video)) as source:
                if source.streams.video[0].codec_context.extradata != extradata:
                    raise EngineError(ErrorCode.ENCODING_FAILED)
                for packet in _moved(source, part.first_frame, offset, fps):
                    if canceled.is_set():
                        raise Canceled
                    packet.stream = track
                    shown = int(packet.pts or 0)
                    output.mux_one(packet)
                    voice.encode_until((shown + 1) / fps)
            offset += part.num_frames
        voice.finish(offset / fps)


def _moved(
    source: InputContainer, first_frame: int, offset: int, fps: Fraction
) -> Iterator["Packet[VideoStream]"]:
    """The packets from a keyframe on, on the clock of the lecture, counted in frames."""
    stream = source.streams.video[0]
    for packet in source.demux(stream):
        if packet.dts is None or packet.pts is None:
            continue  # the demuxer's mark of the end
        base = packet.time_base or Fraction(1, 1)
        shown = round(packet.pts * base * fps) - first_frame
        if shown < 0:
            continue
        packet.pts = offset + shown
        packet.dts = offset + round(packet.dts * base * fps) - first_frame
        packet.duration = 1
        packet.time_base = 1 / fps
        yield packet


class _Voice:
    """The sound track, encoded up to where the pictures are."""

    def __init__(self, output: OutputContainer, sound: Iterator[NDArray[np.float32]]) -> None:
        self._output = output
        self._sound = sound
        self._track = add_sound_track(output)
        self._position = 0

    def encode_until(self, end_s: Fraction) -> None:
        """Encode whole blocks until they reach `end_s`."""
        while self._position < end_s * SPEECH_RATE_HZ:
            block = next(self._sound, None)
            if block is None:
                return
            self._encode(block)

    def finish(self, end_s: Fraction) -> None:
        """Encode the rest, to the end of the last frame exactly."""
        self.encode_until(end_s)
        for block in self._sound:
            self._encode(block)
        missing = round(end_s * SPEECH_RATE_HZ) - self._position
        if missing > 0:
            self._encode(np.zeros(missing, np.float32))
        self._output.mux(self._track.encode(None))

    def _encode(self, samples: NDArray[np.float32]) -> None:
        if not samples.size:
            return
        data = np.ascontiguousarray(samples, np.float32)[None, :]
        frame = av.AudioFrame.from_ndarray(data, format="fltp", layout="mono")
        frame.sample_rate = SPEECH_RATE_HZ
        frame.pts, frame.time_base = self._position, Fraction(1, SPEECH_RATE_HZ)
        self._position += samples.size
        self._output.mux(self._track.encode(frame))


def _chapters(parts: Sequence[Part], fps: Fraction) -> "list[Chapter]":
    return [
        {
            "id": number,
            "start": round(start / fps / CHAPTER_BASE),
            "end": round(end / fps / CHAPTER_BASE),
            "time_base": CHAPTER_BASE,
            "metadata": {"title": heading},
        }
        for number, (start, end, heading) in enumerate(chapters_of(parts, fps))
    ]
