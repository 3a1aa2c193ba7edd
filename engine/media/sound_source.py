"""Any sound track becomes a stream of float blocks on one time line.

Owns what containers and codecs get wrong: packets that cannot be decoded, gaps, start
offsets, encoder delay, sample formats. Knows nothing of loudness or of what is written.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import av
import numpy as np
import soxr
from av.audio.frame import AudioFrame
from av.audio.stream import AudioStream
from av.container import InputContainer
from numpy.typing import NDArray

from engine.errors import ErrorCode, InputError
from engine.media.container import may_decode, open_container

BLOCK_S = 1.0
"""Sound is handed on in pieces of about this length."""

MAX_CHANNELS = 8
"""7.1; of more channels the first eight are used."""

RATES_HZ = range(4000, 384_001)
"""Outside of these a header is damaged, whatever it claims."""

GAP_S = (0.06, 30.0)
"""Time stamps that jump by this much mean lost sound, which becomes silence. Less is jitter
(Vorbis: 8 ms), more is a time stamp that started anew."""

ABSURD_LEVEL = 1e5
"""Float samples beyond this are not sound; even floats scaled as 16-bit stay below it."""

READ_ERRORS = (av.FFmpegError, OSError, ValueError, OverflowError)
"""What broken files raise: FFmpeg's own errors, seeks to nowhere, names that are no text."""

_INTEGER_SCALES = {"u8": 2.0**7, "s16": 2.0**15, "s32": 2.0**31}


@dataclass(frozen=True)
class SoundHeader:
    """What the container says about its first sound track.

    Attributes:
        sample_rate_hz: of the track.
        channels: how many, as stored.
        channel_names: FFmpeg's short names such as `FL`, `FC`, `LFE`; may be empty.
        duration_s: as claimed; None when it does not say.
    """

    sample_rate_hz: int
    channels: int
    channel_names: tuple[str, ...]
    duration_s: float | None


class SoundReader:
    """Decodes one sound track from start to end.

    Attributes:
        header: what the container says.
        num_packets: packets read so far.
        num_failed: of these, how many could not be decoded.
        is_cut_off: whether the container broke off before its end.
        has_holes: whether good sound follows after packets that could not be decoded.
    """

    def __init__(self, container: InputContainer, stream: AudioStream, header: SoundHeader) -> None:
        self.header = header
        self.num_packets = 0
        self.num_failed = 0
        self.is_cut_off = False
        self.has_holes = False
        self._container = container
        self._stream = stream
        self._num_channels = min(header.channels, MAX_CHANNELS)
        self._start_s: float | None = None
        self._num_samples = 0
        self._other_rate: soxr.ResampleStream | None = None
        self._other_rate_hz = 0
        self._skips_first = False

    def blocks(self) -> Iterator[NDArray[np.float32]]:
        """Yield the sound in pieces of about `BLOCK_S`.

        Yields:
            channels x samples, float32, full scale 1, finite, at the header's rate; the first
            sound is at time 0 and lost sound is silence.
        """
        wanted = round(BLOCK_S * self.header.sample_rate_hz)
        pending: list[NDArray[np.float32]] = []
        num_pending = 0
        for frame in self._frames():
            for piece in self._on_time_line(frame):
                pending.append(piece)
                num_pending += piece.shape[1]
            if num_pending >= wanted:
                yield _cleaned(pending)
                pending, num_pending = [], 0
        if num_pending:
            yield _cleaned(pending)

    def _frames(self) -> Iterator[AudioFrame]:
        packets = self._container.demux(self._stream)
        while True:
            try:
                packet = next(packets, None)
            except READ_ERRORS:
                self.is_cut_off = True
                return
            if packet is None:
                return
            if self.num_packets == 0:
                self._skips_first = self._is_unsaid_priming(packet.pts)
            self.num_packets += packet.size > 0
            try:
                frames = packet.decode()
            except READ_ERRORS:
                self.num_failed += packet.size > 0
                continue
            if frames and self.num_failed:
                self.has_holes = True
            yield from (frame for frame in frames if isinstance(frame, AudioFrame))

    def _is_unsaid_priming(self, first_pts: int | None) -> bool:
        """Whether the first frame only starts the decoder up and the container keeps quiet.

        AAC always begins so. A container that says it starts below zero, and FFmpeg then drops
        the frame by itself; bare AAC and fragmented MP4 cannot say it.
        """
        return self._stream.codec_context.name == "aac" and (first_pts or 0) >= 0

    def _on_time_line(self, frame: AudioFrame) -> Iterator[NDArray[np.float32]]:
        if self._skips_first:
            self._skips_first = False
            return
        rate_hz = self.header.sample_rate_hz
        time_s = frame.time
        if time_s is not None:
            if self._start_s is None:
                self._start_s = time_s
            gap_s = time_s - self._start_s - self._num_samples / rate_hz
            if GAP_S[0] < gap_s <= GAP_S[1]:
                yield self._counted(np.zeros((self._num_channels, round(gap_s * rate_hz))))
        yield self._counted(self._at_header_rate(self._fitted(_to_float(frame)), frame.rate))

    def _counted(self, samples: NDArray[np.floating]) -> NDArray[np.float32]:
        self._num_samples += samples.shape[1]
        return np.asarray(samples, dtype=np.float32)

    def _fitted(self, samples: NDArray[np.float32]) -> NDArray[np.float32]:
        """The header's number of channels, also when the track changes it on the way."""
        if samples.shape[0] in (self.header.channels, self._num_channels):
            return samples[: self._num_channels]
        mean = samples.mean(axis=0, keepdims=True)
        return np.repeat(mean, self._num_channels, axis=0)

    def _at_header_rate(self, samples: NDArray[np.float32], rate_hz: int) -> NDArray[np.float32]:
        """Chained Ogg files may change their rate on the way."""
        if rate_hz == self.header.sample_rate_hz:
            return samples
        if self._other_rate is None or self._other_rate_hz != rate_hz:
            self._other_rate_hz = rate_hz
            self._other_rate = soxr.ResampleStream(
                rate_hz, self.header.sample_rate_hz, self._num_channels, dtype="float32"
            )
        interleaved = np.ascontiguousarray(samples.T)
        return np.asarray(self._other_rate.resample_chunk(interleaved), np.float32).T


@contextmanager
def open_sound(path: Path, demuxer: str) -> Iterator[SoundReader]:
    """Open the first sound track of a file; pictures in it (covers, video) are ignored.

    Args:
        path: the file.
        demuxer: from `probe.sniff`.

    Raises:
        InputError: DAMAGED_AUDIO, NO_AUDIO_TRACK, or NOT_AUDIO for a codec we do not decode.
    """
    with ExitStack() as stack:
        try:
            container = stack.enter_context(open_container(path, demuxer))
            if not container.streams.audio:
                has_other = any(stream.type == "video" for stream in container.streams)
                code = ErrorCode.NO_AUDIO_TRACK if has_other else ErrorCode.DAMAGED_AUDIO
                raise InputError(code)
            stream = container.streams.audio[0]
            header = _read_header(container, stream)
        except READ_ERRORS as error:
            raise InputError(ErrorCode.DAMAGED_AUDIO) from error
        yield SoundReader(container, stream, header)


def _read_header(container: InputContainer, stream: AudioStream) -> SoundHeader:
    context = stream.codec_context
    if context is None or not may_decode(context.name):
        raise InputError(ErrorCode.NOT_AUDIO)
    if stream.rate not in RATES_HZ or stream.channels < 1:
        raise InputError(ErrorCode.DAMAGED_AUDIO)
    duration_s = None
    if stream.duration is not None and stream.time_base is not None:
        duration_s = float(stream.duration * stream.time_base)
    elif container.duration is not None:
        duration_s = container.duration / 1e6
    return SoundHeader(
        sample_rate_hz=stream.rate,
        channels=stream.channels,
        channel_names=tuple(channel.name for channel in stream.layout.channels),
        duration_s=duration_s,
    )


def _to_float(frame: AudioFrame) -> NDArray[np.float32]:
    """Channels x samples, full scale 1."""
    values = frame.to_ndarray()
    if not frame.format.is_planar:
        values = values.reshape(-1, len(frame.layout.channels)).T
    if values.dtype == np.float32:
        return np.asarray(values, dtype=np.float32)
    scale = _INTEGER_SCALES.get(frame.format.name.rstrip("p"))
    if scale is None:
        numbers = np.nan_to_num(values, nan=0.0)
        bounded = np.clip(numbers, -2 * ABSURD_LEVEL, 2 * ABSURD_LEVEL)
        return np.asarray(bounded, dtype=np.float32)
    samples = values.astype(np.float32) / np.float32(scale)
    return samples - np.float32(1.0) if values.dtype == np.uint8 else samples


def _cleaned(pieces: list[NDArray[np.float32]]) -> NDArray[np.float32]:
    """One block of the pieces; what is not a number or absurd becomes 0."""
    block = np.concatenate(pieces, axis=1)
    is_sound = np.abs(block) < ABSURD_LEVEL
    return block if is_sound.all() else np.where(is_sound, block, np.float32(0.0))
