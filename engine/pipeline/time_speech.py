"""Times for a voice that gives none: its text is found in its sound.

What the text sounds like comes from a voice with times (espeak-ng); where in the sound that is,
from the listening net. Where the text is not found, its sounds are spread over what is heard.
"""

from collections.abc import Callable
from dataclasses import replace
from threading import Event

import numpy as np
import soxr

from engine.contracts import SpeechOptions
from engine.errors import EngineError
from engine.lipsync.align import align
from engine.lipsync.from_audio import Listener
from engine.speech.catalog import VoiceCatalog
from engine.speech.espeak import ENGINE_NAME
from engine.speech.levels import heard_span_s
from engine.speech.voice import SpokenClip, TimedPhoneme, TimedWord
from engine.speech.words import split_words

_NET_RATE_HZ = 16_000
_LEAD_S = 0.3  # silence the net is given on either side, so that it hears where speech begins


class SpeechTimer:
    """Gives clips their words and sounds.

    Args:
        listener: makes the listening net when it is first needed.
        reference: the voices; one with times of its own speaks the text for comparison.
    """

    def __init__(
        self, listener: Callable[[], Listener], reference: Callable[[], VoiceCatalog]
    ) -> None:
        self._listener = listener
        self._reference = reference

    def __call__(self, clip: SpokenClip, text: str) -> SpokenClip:
        """Time one spoken piece.

        Args:
            clip: its sound, without times.
            text: what was spoken, cleaned.

        Returns:
            The clip with words; with sounds as well where a voice with times knows the language.
        """
        span_s = heard_span_s(clip.samples, clip.sample_rate_hz)
        if span_s is None:
            return clip
        spoken = self._spoken(text, clip.language)
        if spoken is None:
            return replace(clip, words=_spread_words(text, span_s))
        found = align(spoken, self._listener().listen(_for_the_net(clip)))
        if found is None or not found.belongs:
            return _spread(clip, spoken, span_s)
        return replace(
            clip,
            words=tuple(
                TimedWord(word.text, _earlier(word.start_s), _earlier(word.end_s))
                for word in found.words
            ),
            phonemes=tuple(
                TimedPhoneme(sound.ipa, _earlier(sound.start_s), _earlier(sound.end_s))
                for sound in found.phonemes
            ),
        )

    def _spoken(self, text: str, language: str) -> SpokenClip | None:
        """The text from a voice with times; None when none speaks the language."""
        voices = self._reference()
        listed = voices.voices(language)
        voice = next((found.voice_id for found in listed if found.engine == ENGINE_NAME), None)
        if voice is None:
            return None
        speech = SpeechOptions(text=text, language=language, voice=voice)
        try:
            spoken = voices.speak(speech, Event())
        except EngineError:
            return None
        return spoken if spoken.phonemes else None


def _for_the_net(clip: SpokenClip) -> "np.ndarray[tuple[int], np.dtype[np.float32]]":
    samples = soxr.resample(clip.samples, clip.sample_rate_hz, _NET_RATE_HZ)
    padding = round(_LEAD_S * _NET_RATE_HZ)
    return np.pad(samples, padding).astype(np.float32)


def _earlier(time_s: float) -> float:
    return max(0.0, time_s - _LEAD_S)


def _spread(clip: SpokenClip, spoken: SpokenClip, span_s: tuple[float, float]) -> SpokenClip:
    """The times of another voice, stretched to what is heard."""
    first_s, last_s = spoken.phonemes[0].start_s, spoken.phonemes[-1].end_s
    scale = (span_s[1] - span_s[0]) / max(last_s - first_s, 1e-3)

    def moved(time_s: float) -> float:
        return span_s[0] + (time_s - first_s) * scale

    return replace(
        clip,
        words=tuple(
            TimedWord(word.text, moved(word.start_s), moved(word.end_s)) for word in spoken.words
        ),
        phonemes=tuple(
            TimedPhoneme(sound.ipa, moved(sound.start_s), moved(sound.end_s))
            for sound in spoken.phonemes
        ),
    )


def _spread_words(text: str, span_s: tuple[float, float]) -> tuple[TimedWord, ...]:
    """Words by their lengths; for languages no voice with times knows."""
    spans = split_words(text)
    ends = np.cumsum([len(span.text) + 1 for span in spans])
    scale = (span_s[1] - span_s[0]) / max(int(ends[-1]), 1)
    starts = [0, *ends[:-1]]
    return tuple(
        TimedWord(span.text, span_s[0] + start * scale, span_s[0] + end * scale)
        for span, start, end in zip(spans, starts, ends, strict=True)
    )
