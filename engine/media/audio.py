"""Recordings from strangers become our own mono WAV, and our own WAVs become samples.

Every recording is decoded twice, block by block: once to learn what it is like, once to write
it. Decoding costs little beside drawing, and memory stays flat for hours.
"""

import wave
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import soundfile as sf
import soxr
from numpy.typing import NDArray

from engine.errors import ErrorCode, InputError
from engine.media.atomic import replace_when_done
from engine.media.mixdown import MixPlan, Surveyor, plan_mix
from engine.media.probe import FileKind, Medium, sniff
from engine.media.rumble import RumbleFilter
from engine.media.sound_source import SoundHeader, SoundReader, open_sound
from engine.settings import EngineSettings

SPEECH_RATE_HZ = 48000
"""The rate of every finished video; one rate everywhere means no second resampling."""

RUMBLE_HZ = 20.0
"""Constant offset and slow drift below any voice are filtered out."""

OFFSET_S = 0.02
"""The offset at the start is taken from this much sound."""

KNEE = 0.7
"""Samples beyond this (-3 dB) are bent softly towards full scale, never cut off flat."""

MIN_BYTES_PER_S = 125.0

STRETCH_LEAD_S = 0.1
"""Read before a stretch and thrown away: the resampling filter settles within a hundredth."""
"""One kilobit a second: a header that claims more time than that is not believed."""

OnProgress = Callable[[float], None]


@dataclass(frozen=True)
class SpeechFile:
    """A recording that was decoded into a WAV of ours.

    Attributes:
        duration_s: exact length of the WAV.
        source_sample_rate_hz: of the file it came from.
        channels: of the file it came from.
        peak_dbfs: highest sample of the source.
        level_dbfs: RMS of the louder parts of the source after mixing to mono.
        gain_db: what was added to reach the common loudness.
        is_silent: nothing can be heard; the WAV was written without a gain.
        notes: `audio_partly_damaged` (an `ErrorCode` worth telling), `one_channel_used`,
            `quiet_lifted`.
    """

    duration_s: float
    source_sample_rate_hz: int
    channels: int
    peak_dbfs: float
    level_dbfs: float
    gain_db: float
    is_silent: bool
    notes: tuple[str, ...]


def decode_speech(
    source: Path,
    target_wav: Path,
    limits: EngineSettings,
    on_progress: OnProgress | None = None,
) -> SpeechFile:
    """Decode the first sound track of any file into a mono 16-bit WAV at `SPEECH_RATE_HZ`.

    Args:
        source: a sound file or video of unknown origin; its name is not trusted.
        target_wav: written whole or not at all.
        limits: largest file, shortest and longest recording.
        on_progress: called about once per second of sound with the share done, 0-1; may
            raise, e.g. `Canceled`, to stop.

    Raises:
        InputError: FILE_NOT_FOUND, EMPTY_FILE, FILE_TOO_LARGE, NOT_AUDIO, NO_AUDIO_TRACK,
            DAMAGED_AUDIO, AUDIO_TOO_SHORT or AUDIO_TOO_LONG. Silence is no refusal here: see
            `SpeechFile.is_silent`.
        EngineError: DISK_FULL or OUTPUT_NOT_WRITABLE.
    """
    kind = sniff(source, limits.max_audio_bytes)
    demuxer = _demuxer(kind)
    tell = on_progress or _nothing
    surveyor, header, is_damaged = _survey(source, demuxer, limits, tell)
    survey = surveyor.finish()
    plan = plan_mix(survey, header.channel_names)
    num_samples = round(survey.num_samples * SPEECH_RATE_HZ / header.sample_rate_hz)
    with replace_when_done(target_wav) as part, open_sound(source, demuxer) as reader:
        blocks = _told(_mixed(reader, plan), survey.num_samples, 0.5, tell)
        _write_resampled(part, blocks, header.sample_rate_hz, num_samples)
    damaged = (ErrorCode.AUDIO_PARTLY_DAMAGED.value,) if is_damaged else ()
    return SpeechFile(
        duration_s=num_samples / SPEECH_RATE_HZ,
        source_sample_rate_hz=header.sample_rate_hz,
        channels=header.channels,
        peak_dbfs=_decibels(survey.peak),
        level_dbfs=plan.level_dbfs,
        gain_db=_decibels(plan.gain),
        is_silent=plan.is_silent,
        notes=damaged + plan.notes,
    )


def read_blocks(
    wav: Path, sample_rate_hz: int, block_s: float = 10.0
) -> Generator[NDArray[np.float32], None, None]:
    """Read a WAV of ours piece by piece, so that memory does not grow with its length.

    Args:
        wav: any rate; more channels are averaged.
        sample_rate_hz: wanted rate.
        block_s: length of every block but the last.

    Yields:
        mono, float32, full scale 1. Together they are exactly as long as the file.
    """
    wanted = max(round(block_s * sample_rate_hz), 1)
    pending = np.zeros(0, np.float32)
    with sf.SoundFile(str(wav)) as file:
        missing = round(file.frames * sample_rate_hz / file.samplerate)
        pieces = _resampled(_file_pieces(file), file.samplerate, sample_rate_hz)
        for piece in pieces:
            pending = np.concatenate([pending, piece[: missing - pending.size]])
            while pending.size >= wanted:
                yield pending[:wanted]
                pending = pending[wanted:]
                missing -= wanted
    if missing > 0:
        yield np.pad(pending, (0, missing - pending.size))


def read_samples(wav: Path, sample_rate_hz: int) -> NDArray[np.float32]:
    """Read a whole WAV of ours: mono, float32, full scale 1, exactly its length."""
    return np.concatenate([np.zeros(0, np.float32), *read_blocks(wav, sample_rate_hz)])


def read_stretch(wav: Path, sample_rate_hz: int, start: int, count: int) -> NDArray[np.float32]:
    """Read a part of a WAV of ours without the rest.

    Args:
        wav: any rate; more channels are averaged.
        sample_rate_hz: wanted rate.
        start: first sample wanted, at the wanted rate.
        count: number of samples; what lies after the end is silence.

    Returns:
        mono, float32, full scale 1.
    """
    lead = min(start, round(STRETCH_LEAD_S * sample_rate_hz))
    pieces, have = [np.zeros(0, np.float32)], 0
    with sf.SoundFile(str(wav)) as file:
        first = round((start - lead) * file.samplerate / sample_rate_hz)
        file.seek(min(first, file.frames))
        for piece in _resampled(_file_pieces(file), file.samplerate, sample_rate_hz):
            pieces.append(piece)
            have += piece.size
            if have >= lead + count:
                break
    samples = np.concatenate(pieces)[lead : lead + count]
    return np.pad(samples, (0, count - samples.size))


def write_wav(path: Path, samples: NDArray[np.float32], sample_rate_hz: int) -> None:
    """Write mono samples (full scale 1, clipped beyond) as a 16-bit WAV, whole or not at all.

    Raises:
        EngineError: DISK_FULL or OUTPUT_NOT_WRITABLE.
    """
    with replace_when_done(path) as part, _wav_writer(part, sample_rate_hz) as writer:
        for piece in _seconds(samples, sample_rate_hz):
            writer.writeframes(_to_int16(piece))


def write_speech_wav(path: Path, samples: NDArray[np.float32], sample_rate_hz: int) -> None:
    """Write mono samples of any rate as `write_wav` does, at `SPEECH_RATE_HZ`.

    A second is resampled at a time, so that a long text takes no more memory than it has samples.

    Raises:
        EngineError: DISK_FULL or OUTPUT_NOT_WRITABLE.
    """
    num_samples = round(len(samples) * SPEECH_RATE_HZ / sample_rate_hz)
    with replace_when_done(path) as part:
        pieces = _seconds(samples, sample_rate_hz)
        _write_resampled(part, pieces, sample_rate_hz, num_samples)


def _seconds(samples: NDArray[np.float32], sample_rate_hz: int) -> Iterator[NDArray[np.float32]]:
    for first in range(0, len(samples), sample_rate_hz):
        yield samples[first : first + sample_rate_hz]


def _nothing(_share: float) -> None:
    """Nobody wants to know."""


def _demuxer(kind: FileKind) -> str:
    # Sound samples whose header is gone look like nothing at all; a text is simply no sound.
    if kind.medium is Medium.UNKNOWN:
        raise InputError(ErrorCode.DAMAGED_AUDIO)
    if kind.medium is not Medium.SOUND or kind.demuxer is None:
        raise InputError(ErrorCode.NOT_AUDIO)
    return kind.demuxer


def _survey(
    source: Path, demuxer: str, limits: EngineSettings, tell: OnProgress
) -> tuple[Surveyor, SoundHeader, bool]:
    """First pass: what the recording is like, and whether it can be used at all."""
    with open_sound(source, demuxer) as reader:
        header = reader.header
        claimed_s = _believable_duration(header, source.stat().st_size)
        if claimed_s is not None and claimed_s > limits.max_audio_s:
            raise _too_long(str(round(claimed_s / 60, 1)), limits)
        surveyor = Surveyor(header.sample_rate_hz)
        expected = (claimed_s or limits.max_audio_s) * header.sample_rate_hz
        for block in _told(reader.blocks(), expected, 0.0, tell):
            surveyor.add(block)
            if surveyor.num_samples > limits.max_audio_s * header.sample_rate_hz:
                raise _too_long(f"> {round(limits.max_audio_s / 60, 1)}", limits)
        duration_s = surveyor.num_samples / header.sample_rate_hz
        _refuse_useless(reader, duration_s, limits)
        is_short_of_claim = claimed_s is not None and duration_s < 0.9 * claimed_s
        is_damaged = reader.has_holes or reader.is_cut_off or is_short_of_claim
    return surveyor, header, is_damaged


def _believable_duration(header: SoundHeader, size_bytes: int) -> float | None:
    if header.duration_s is None or size_bytes / max(header.duration_s, 1e-3) < MIN_BYTES_PER_S:
        return None
    return header.duration_s


def _too_long(minutes: str, limits: EngineSettings) -> InputError:
    return InputError(
        ErrorCode.AUDIO_TOO_LONG,
        duration_min=minutes,
        limit_min=round(limits.max_audio_s / 60, 1),
    )


def _refuse_useless(reader: SoundReader, duration_s: float, limits: EngineSettings) -> None:
    if reader.num_packets == 0:
        code = ErrorCode.DAMAGED_AUDIO if reader.is_cut_off else ErrorCode.EMPTY_FILE
        raise InputError(code)
    if reader.num_failed * 2 > reader.num_packets or duration_s == 0.0:
        raise InputError(ErrorCode.DAMAGED_AUDIO)
    if duration_s < limits.min_audio_s:
        raise InputError(
            ErrorCode.AUDIO_TOO_SHORT,
            duration_s=round(duration_s, 2),
            need_s=limits.min_audio_s,
        )


def _told(
    blocks: Iterator[NDArray[np.float32]], expected: float, base: float, tell: OnProgress
) -> Iterator[NDArray[np.float32]]:
    """Pass blocks on and tell the share done: `base` to `base` + a half."""
    done = 0
    for block in blocks:
        yield block
        done += block.shape[-1]
        tell(base + 0.5 * min(done / max(expected, 1.0), 1.0))


def _mixed(reader: SoundReader, plan: MixPlan) -> Iterator[NDArray[np.float32]]:
    """Second pass: mono, around zero, at the common loudness, still at the source's rate."""
    rate_hz = reader.header.sample_rate_hz
    rumble: RumbleFilter | None = None
    for block in reader.blocks():
        mono = plan.weights @ block
        if rumble is None:
            offset = float(mono[: max(round(OFFSET_S * rate_hz), 1)].mean())
            rumble = RumbleFilter(rate_hz, RUMBLE_HZ, offset)
        yield _bend_peaks(rumble.filter(mono) * plan.gain).astype(np.float32)


def _bend_peaks(samples: NDArray[np.floating]) -> NDArray[np.floating]:
    over = np.abs(samples) - KNEE
    if over.max(initial=0.0) <= 0.0:
        return samples
    room = 0.99 - KNEE
    bent = np.sign(samples) * (KNEE + room * np.tanh(np.maximum(over, 0.0) / room))
    return np.where(over > 0.0, bent, samples)


def _write_resampled(
    path: Path, blocks: Iterator[NDArray[np.float32]], rate_hz: int, num_samples: int
) -> None:
    missing = num_samples
    with _wav_writer(path, SPEECH_RATE_HZ) as writer:
        for piece in _resampled(blocks, rate_hz, SPEECH_RATE_HZ):
            kept = piece[:missing]
            writer.writeframes(_to_int16(kept))
            missing -= kept.size
        writer.writeframes(bytes(2 * missing))


def _resampled(
    blocks: Iterator[NDArray[np.float32]], from_hz: int, to_hz: int
) -> Iterator[NDArray[np.float32]]:
    """Mono blocks at another rate; the filter's tail comes out at the end."""
    if from_hz == to_hz:
        yield from blocks
        return
    stream = soxr.ResampleStream(from_hz, to_hz, 1, dtype="float32", quality="HQ")
    for block in blocks:
        yield np.asarray(stream.resample_chunk(block), np.float32)
    yield np.asarray(stream.resample_chunk(np.zeros(0, np.float32), last=True), np.float32)


def _file_pieces(file: sf.SoundFile) -> Iterator[NDArray[np.float32]]:
    while True:
        piece = file.read(file.samplerate, dtype="float32", always_2d=True)
        if not len(piece):
            return
        yield np.ascontiguousarray(piece.mean(axis=1, dtype=np.float32))


@contextmanager
def _wav_writer(path: Path, sample_rate_hz: int) -> Iterator[wave.Wave_write]:
    with wave.open(str(path), "wb") as writer:
        writer.setnchannels(1)
        writer.setsampwidth(2)
        writer.setframerate(sample_rate_hz)
        yield writer


def _to_int16(samples: NDArray[np.floating]) -> bytes:
    scaled = np.clip(np.rint(samples * 32767.0), -32768, 32767)
    return bytes(scaled.astype("<i2"))


def _decibels(amplitude: float) -> float:
    return float(20.0 * np.log10(max(amplitude, 1e-6)))
