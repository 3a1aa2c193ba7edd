"""Times for voices that give none: the text is found in the sound by our own aligner."""

from dataclasses import replace

import numpy as np
import pytest

from engine.pipeline.tools import Tools
from engine.speech.hibari import HibariEngine
from engine.speech.tempo import at_speed
from engine.speech.voice import SpokenClip

TEXT = "Please bring the big box of maps before Monday, my dear friend."


@pytest.fixture(scope="module")
def timer():
    tools = Tools()
    return tools.voices._timer


@pytest.fixture(scope="module")
def known():
    return HibariEngine().speak(TEXT, "hibari:heart", "en-us", 1.0)


def test_words_and_sounds_are_found_near_where_they_are(timer, known):
    bare = replace(known, words=(), phonemes=(), language="en-us")

    timed = timer(bare, TEXT)

    assert [word.text for word in timed.words] == [word.text for word in known.words]
    errors_s = [abs(a.start_s - b.start_s) for a, b in zip(timed.words, known.words, strict=True)]
    assert np.median(errors_s) <= 0.04
    assert max(errors_s) <= 0.12
    lips = [sound for sound in timed.phonemes if sound.ipa in ("b", "p", "m")]
    assert len(lips) == sum(sound.ipa in ("b", "p", "m") for sound in known.phonemes)


def test_what_is_not_found_is_spread_over_what_is_heard(timer):
    hum = np.concatenate([np.zeros(8000), 0.2 * np.sin(np.arange(48000) * 0.05), np.zeros(8000)])
    clip = SpokenClip(hum.astype(np.float32), 24000, (), (), "x:y", "en-us")

    timed = timer(clip, "A big boat.")

    assert [word.text for word in timed.words] == ["A", "big", "boat."]
    assert timed.phonemes[0].start_s == pytest.approx(8000 / 24000, abs=0.02)
    assert timed.phonemes[-1].end_s == pytest.approx(56000 / 24000, abs=0.02)


def test_language_without_a_reference_has_words_by_their_length(timer, known):
    timed = timer(replace(known, words=(), phonemes=(), language="xx"), "abc abcabcabc")

    first, second = timed.words
    assert (second.end_s - second.start_s) > 2 * (first.end_s - first.start_s)
    assert timed.phonemes == ()


def test_silence_has_no_times(timer):
    silent = SpokenClip(np.zeros(24000, np.float32), 24000, (), (), "x:y", "en")

    assert timer(silent, "Hello") == silent


def test_tempo_keeps_the_pitch_and_changes_the_length():
    rate_hz = 24000
    tone = (0.3 * np.sin(2 * np.pi * 220 * np.arange(2 * rate_hz) / rate_hz)).astype(np.float32)
    for speed in (0.5, 0.8, 1.5, 2.0):
        moved = at_speed(tone, rate_hz, speed)
        assert len(moved) == pytest.approx(len(tone) / speed, rel=0.03)
        spectrum = np.abs(np.fft.rfft(moved))
        peak_hz = np.fft.rfftfreq(len(moved), 1 / rate_hz)[spectrum.argmax()]
        assert peak_hz == pytest.approx(220, abs=3)
    assert at_speed(tone, rate_hz, 1.0) is tone
