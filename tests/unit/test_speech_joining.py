"""Spoken pieces into one clip."""

import numpy as np
import pytest

from engine.speech.joining import Part, as_typed, join, trim
from engine.speech.levels import heard_span_s, limit_peaks, speech_rms
from engine.speech.mapped_text import MappedText
from engine.speech.voice import SpokenClip, TimedPhoneme, TimedWord

RATE_HZ = 16000


def clip(before_s, tone_s, after_s, level=0.1, voice_id="a:b", rate_hz=RATE_HZ):
    """A tone between two silences, timed as one word of one sound."""
    moments = np.arange(round(tone_s * rate_hz)) / rate_hz
    samples = np.concatenate(
        [
            np.zeros(round(before_s * rate_hz)),
            level * np.sin(2 * np.pi * 440 * moments),
            np.zeros(round(after_s * rate_hz)),
        ]
    ).astype(np.float32)
    end_s = before_s + tone_s
    return SpokenClip(
        samples,
        rate_hz,
        (TimedWord("word", before_s, end_s),),
        (TimedPhoneme("a", before_s, end_s),),
        voice_id,
        "en",
    )


@pytest.mark.parametrize(("before_s", "after_s"), [(0.5, 0.7), (0.0, 0.0), (0.03, 0.02)])
def test_trimmed_clip_starts_and_ends_close_to_the_sound(before_s, after_s):
    trimmed = trim(clip(before_s, 1.0, after_s))

    assert trimmed.duration_s == pytest.approx(1.18, abs=0.02)
    assert trimmed.words[0].start_s == pytest.approx(0.08, abs=0.01)
    assert trimmed.phonemes[0].end_s == pytest.approx(1.08, abs=0.01)
    heard = heard_span_s(trimmed.samples, RATE_HZ)
    assert heard == pytest.approx((0.08, 1.08), abs=0.015)


def test_silent_clip_is_nothing():
    assert trim(clip(1.0, 0.0, 1.0)) is None


def test_joined_words_lie_on_the_joined_sound():
    parts = [Part(trim(clip(0.3, 0.5, 0.3)), 0.4), Part(trim(clip(0.1, 0.5, 0.1)), 0.4)]

    joined = join(parts, RATE_HZ)

    first, second = joined.words
    assert first.start_s < 0.15
    assert second.start_s - first.end_s == pytest.approx(0.4, abs=0.01)
    middle = joined.samples[int(first.end_s * RATE_HZ) + 200 : int(second.start_s * RATE_HZ) - 200]
    assert np.abs(middle).max() < 0.01
    assert joined.duration_s - second.end_s == pytest.approx(0.35, abs=0.02)


@pytest.mark.parametrize("level", [0.001, 0.05, 0.9])
def test_loudness_is_the_same_whatever_the_voice(level):
    joined = join([Part(trim(clip(0.1, 1.0, 0.1, level)), 0.4)], RATE_HZ)

    assert 20 * np.log10(speech_rms(joined.samples, RATE_HZ)) == pytest.approx(-18, abs=0.5)


def test_two_voices_at_two_rates_become_alike():
    parts = [
        Part(trim(clip(0.1, 1.0, 0.1, 0.02, "a:b")), 0.4),
        Part(trim(clip(0.1, 1.0, 0.1, 0.8, "c:d", 24000)), 0.4),
    ]

    joined = join(parts, RATE_HZ)

    levels = [
        speech_rms(joined.samples[int(w.start_s * RATE_HZ) : int(w.end_s * RATE_HZ)], RATE_HZ)
        for w in joined.words
    ]
    assert levels[0] == pytest.approx(levels[1], rel=0.05)
    assert joined.voice_id == "a:b"


def test_peaks_are_bent_and_never_clip():
    loud = np.linspace(-3, 3, 1001, dtype=np.float32)
    limited = limit_peaks(loud)

    assert np.abs(limited).max() < 0.951
    assert np.all(np.diff(limited) >= 0)
    quiet = np.abs(loud) < 0.69
    assert np.array_equal(limited[quiet], loud[quiet])


def test_words_of_an_address_become_what_was_typed():
    text = MappedText("go a dot org, now", (*"go ", "a.org", *[""] * 8, *", now"))
    read = [("go", 0, 1), ("a", 1, 2), ("dot", 2, 3), ("org,", 3, 4), ("now", 4, 5)]

    words = as_typed([TimedWord(*word) for word in read], text)

    assert [(w.text, w.start_s, w.end_s) for w in words] == [
        ("go", 0, 1),
        ("a.org,", 1, 4),
        ("now", 4, 5),
    ]
