"""Spoken pieces into one clip: silence trimmed, loudness alike, one rate, one clock. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import soxr
from numpy.typing import NDArray

from engine.speech.levels import heard_span_s, limit_peaks, speech_rms
from engine.speech.mapped_text import MappedText
from engine.speech.voice import SpokenClip, TimedPhoneme, TimedWord

_LEAD_S = 0.08  # kept before the first sound, so that its onset is whole
_TAIL_S = 0.1  # kept behind the last one: it rings out
_FADE_S = 0.005
_END_S = 0.25  # silence at the end of the clip, in which the mouth closes
_TARGET_RMS = 10 ** (-18 / 20)
"""Level of the spoken parts: -18 dB of full scale, about -18 LUFS, as loud as most web video."""


@dataclass(frozen=True)
class Part:
    """One spoken piece and the silence behind it in seconds."""

    clip: SpokenClip
    pause_s: float


def trim(clip: SpokenClip) -> SpokenClip | None:
    """Leave `_LEAD_S` before the first sound and `_TAIL_S` behind the last, in level and times.

    Returns:
        The clip with moved times; None when nothing in it can be heard.
    """
    span_s = heard_span_s(clip.samples, clip.sample_rate_hz)
    if span_s is None:
        return None
    rate_hz = clip.sample_rate_hz
    first_s = min([span_s[0], *(sound.start_s for sound in clip.phonemes[:1])])
    last_s = max([span_s[1], *(sound.end_s for sound in clip.phonemes[-1:])])
    start, end = round((first_s - _LEAD_S) * rate_hz), round((last_s + _TAIL_S) * rate_hz)
    samples = np.zeros(end - start, np.float32)
    kept = clip.samples[max(0, start) : end].copy()
    ramp = np.linspace(0.0, 1.0, min(round(_FADE_S * rate_hz), len(kept)), dtype=np.float32)
    kept[: len(ramp)] *= ramp
    kept[len(kept) - len(ramp) :] *= ramp[::-1]
    at = max(0, -start)
    samples[at : at + len(kept)] = kept
    return _moved(replace(clip, samples=samples), -start / rate_hz)


def as_typed(words: Sequence[TimedWord], text: MappedText) -> tuple[TimedWord, ...]:
    """Give words the spelling people typed instead of the one that was read.

    Args:
        words: put together they are all of `text` but its white space.
        text: what was read, with what is shown in its place.
    """
    shown = iter([show for read, show in zip(text.text, text.shown, strict=True) if read.strip()])
    typed: list[TimedWord] = []
    for word in words:
        pieces = [[next(shown, "") for _ in part] for part in word.text.split()]
        spelling = " ".join(filter(None, map("".join, pieces)))
        # An address is shown whole by the first of its read words; the others lengthen that one.
        if pieces[0][0] or not typed:
            typed.append(replace(word, text=spelling))
        else:
            whole = typed.pop()
            typed.append(replace(whole, text=whole.text + spelling, end_s=word.end_s))
    return tuple(typed)


def join(parts: Sequence[Part], sample_rate_hz: int) -> SpokenClip:
    """One clip of all parts, named after the first one's voice.

    Args:
        parts: trimmed, in order, at least one.
        sample_rate_hz: of the result.
    """
    gains = _gains([part.clip for part in parts])
    samples: list[NDArray[np.float32]] = []
    words: list[TimedWord] = []
    sounds: list[TimedPhoneme] = []
    num_samples = 0
    for index, part in enumerate(parts):
        clip = _moved(part.clip, num_samples / sample_rate_hz)
        words += clip.words
        sounds += clip.phonemes
        is_last = index == len(parts) - 1
        samples.append(_sound(part, gains[clip.voice_id], sample_rate_hz, is_last=is_last))
        num_samples += len(samples[-1])
    first = parts[0].clip
    return replace(
        first,
        samples=np.concatenate(samples),
        sample_rate_hz=sample_rate_hz,
        words=tuple(words),
        phonemes=tuple(sounds),
    )


def newest(parts: Sequence[Part], sample_rate_hz: int, *, is_last: bool) -> SpokenClip:
    """The last part and the silence behind it, about as loud as they will be in the whole.

    Args:
        parts: those that were spoken so far.
        sample_rate_hz: of the result.
        is_last: whether nothing follows.
    """
    part = parts[-1]
    gain = _gains([spoken.clip for spoken in parts])[part.clip.voice_id]
    sound = _sound(part, gain, sample_rate_hz, is_last=is_last)
    return replace(part.clip, samples=sound, sample_rate_hz=sample_rate_hz)


def _sound(part: Part, gain: float, sample_rate_hz: int, *, is_last: bool) -> NDArray[np.float32]:
    """A part at its level with the silence behind it."""
    pause_s = _END_S if is_last else max(0.0, part.pause_s - _LEAD_S - _TAIL_S)
    spoken = soxr.resample(part.clip.samples, part.clip.sample_rate_hz, sample_rate_hz)
    silence = np.zeros(round(pause_s * sample_rate_hz), np.float32)
    return np.concatenate([limit_peaks(spoken * gain), silence])


def _gains(clips: Sequence[SpokenClip]) -> dict[str, float]:
    """One gain a voice, so that its own sentences keep their loudness against each other."""
    gains: dict[str, float] = {}
    for voice_id in {clip.voice_id for clip in clips}:
        own = [clip for clip in clips if clip.voice_id == voice_id]
        rms = speech_rms(np.concatenate([clip.samples for clip in own]), own[0].sample_rate_hz)
        gains[voice_id] = _TARGET_RMS / rms if rms else 1.0
    return gains


def _moved(clip: SpokenClip, by_s: float) -> SpokenClip:
    return replace(
        clip,
        words=tuple(
            replace(word, start_s=max(0.0, word.start_s + by_s), end_s=word.end_s + by_s)
            for word in clip.words
        ),
        phonemes=tuple(
            replace(sound, start_s=max(0.0, sound.start_s + by_s), end_s=sound.end_s + by_s)
            for sound in clip.phonemes
        ),
    )
