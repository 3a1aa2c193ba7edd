"""Where the mouth shuts before a stop consonant."""

import numpy as np
import pytest

from engine.speech.closures import give_closures
from engine.speech.espeak import EspeakEngine
from engine.speech.voice import TimedPhoneme

RATE_HZ = 16000


def sound_with_silence(from_s, to_s, length_s=1.0):
    samples = np.sin(np.arange(round(length_s * RATE_HZ)) / 5).astype(np.float32) * 0.3
    samples[round(from_s * RATE_HZ) : round(to_s * RATE_HZ)] = 0
    return samples


def test_stop_begins_with_the_silence_before_its_burst():
    owned = [(0, TimedPhoneme("a", 0.1, 0.4)), (1, TimedPhoneme("p", 0.4, 0.5))]

    moved = give_closures(owned, sound_with_silence(0.33, 0.4), RATE_HZ)

    assert [word for word, _ in moved] == [0, 1]
    assert moved[0][1].end_s == moved[1][1].start_s == pytest.approx(0.33, abs=0.006)


@pytest.mark.parametrize("ipa", ["s", "m", "a", "ʃ"])
def test_other_sounds_stay(ipa):
    owned = [(0, TimedPhoneme("a", 0.1, 0.4)), (0, TimedPhoneme(ipa, 0.4, 0.5))]

    assert give_closures(owned, sound_with_silence(0.33, 0.4), RATE_HZ) == owned


def test_voiced_stop_without_silence_stays():
    owned = [(0, TimedPhoneme("a", 0.1, 0.4)), (0, TimedPhoneme("b", 0.4, 0.5))]

    assert give_closures(owned, sound_with_silence(0.8, 0.9), RATE_HZ) == owned


def test_after_a_pause_the_closure_is_short():
    owned = [(0, TimedPhoneme("a", 0.0, 0.1)), (1, TimedPhoneme("tʃ", 0.6, 0.7))]

    moved = give_closures(owned, sound_with_silence(0.1, 0.6), RATE_HZ)

    assert moved[0] == owned[0]
    assert moved[1][1].start_s == pytest.approx(0.54, abs=0.006)


@pytest.mark.parametrize("tag", ["en-us", "de", "es", "hi", "tr"])
def test_no_vowel_of_espeak_lasts_into_the_silence_before_a_p(tag):
    engine = EspeakEngine()
    text = {"hi": "पापा आपा"}.get(tag, "papa apa")
    clip = engine.speak(text, f"espeak:{tag}", tag, 1.0)
    engine.unload()

    for before, stop in zip(clip.phonemes, clip.phonemes[1:], strict=False):
        if stop.ipa == "p":
            end = round(before.end_s * clip.sample_rate_hz)
            last = clip.samples[end - round(0.01 * clip.sample_rate_hz) : end]
            assert np.abs(last).max() > 0.01
            assert stop.end_s - stop.start_s > 0.05
