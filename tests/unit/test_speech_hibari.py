# ruff: noqa: RUF001 - IPA letters look like others by nature
"""The natural English voice: real network, real sound."""

import itertools
import sys

import numpy as np
import pytest
from scipy.signal import butter, sosfiltfilt

from engine.errors import EngineError, ErrorCode, InputError
from engine.speech.catalog import VoiceCatalog
from engine.speech.hibari import HibariEngine
from engine.speech.ipa import LENGTH, LETTERS, NASAL
from engine.speech.levels import heard_span_s
from engine.speech.symbol_timing import Symbol, place_sounds

SENTENCES = (
    "The quick studio turns one portrait and a short script into a talking video.",
    "Peter Piper picked a peck of pickled peppers, and Bob bought a big black boat.",
    "On the third of March she sells sea shells; we watched the happy children eat cake.",
)


@pytest.fixture(scope="module")
def engine():
    return HibariEngine()


def speak(engine, text, speed=1.0):
    return engine.speak(text, "hibari:heart", "en", speed)


@pytest.mark.parametrize("text", SENTENCES)
@pytest.mark.parametrize("speed", [0.8, 1.0, 1.3])
def test_vowels_lie_on_their_energy_within_20_ms(engine, text, speed):
    assert abs(lag_s(speak(engine, text, speed))) <= 0.02


@pytest.mark.parametrize("text", SENTENCES)
def test_sounds_and_words_are_ordered_and_inside_the_clip(engine, text):
    clip = speak(engine, text)

    assert clip.sample_rate_hz == 24000
    assert clip.samples.dtype == np.float32
    for items in (clip.phonemes, clip.words):
        assert all(item.end_s > item.start_s >= 0 for item in items)
        assert all(a.end_s <= b.start_s + 1e-9 for a, b in itertools.pairwise(items))
        assert items[-1].end_s <= clip.duration_s
    assert set("".join(p.ipa for p in clip.phonemes)) <= LETTERS | {LENGTH, NASAL}
    assert " ".join(word.text for word in clip.words) == text


def test_last_sound_ends_with_the_sound_not_with_the_silence_behind_it(engine):
    clip = speak(engine, "Hello there.")

    _, heard_until_s = heard_span_s(clip.samples, clip.sample_rate_hz)
    assert clip.phonemes[-1].end_s == pytest.approx(heard_until_s, abs=0.03)
    assert clip.duration_s - heard_until_s > 0.2


def test_sounds_are_ipa_without_stress_and_voice_letters(engine):
    clip = speak(engine, "The joyful cow rode home.")

    assert [p.ipa for p in clip.phonemes] == (
        ["ð", "ə", "dʒ", "ɔɪ", "f", "ə", "l", "k", "aʊ", "ɹ", "oʊ", "d", "h", "oʊ", "m"]
    )


def test_spelled_out_numbers_stay_one_typed_word(engine):
    clip = speak(engine, "It costs $9.99 — or 1,250 euros on 3 March 2026, Dr. Smith said.")

    typed = "It|costs|$9.99 —|or|1,250|euros|on|3|March|2026,|Dr.|Smith|said."
    assert [word.text for word in clip.words] == typed.split("|")
    price = clip.words[2]
    assert price.end_s - price.start_s > 1.0


def test_speed_changes_the_length(engine):
    slow, fast = (speak(engine, SENTENCES[0], speed).duration_s for speed in (0.5, 2.0))

    assert slow > 3 * fast


def test_same_text_gives_the_same_samples(engine):
    first, second = (speak(engine, SENTENCES[1]).samples for _ in range(2))

    assert np.array_equal(first, second)


def test_a_voice_that_was_loaded_before_it_was_needed_sounds_the_same(engine):
    loaded = HibariEngine()
    VoiceCatalog([loaded]).get_ready(None, "hibari:heart")

    samples = speak(loaded, SENTENCES[0]).samples

    assert np.array_equal(samples, speak(engine, SENTENCES[0]).samples)
    with pytest.raises(InputError):
        loaded.get_ready("hibari:nobody")


def test_text_longer_than_one_run_is_spoken_whole(engine):
    text = "every word of this long paragraph is heard " * 25
    clip = speak(engine, text)

    assert " ".join(word.text for word in clip.words) == text.strip()
    assert all(a.end_s <= b.start_s + 1e-9 for a, b in itertools.pairwise(clip.phonemes))


@pytest.mark.parametrize("text", ["", "   ", "…", "你好"])
def test_nothing_to_say_is_refused(engine, text):
    with pytest.raises(InputError) as caught:
        speak(engine, text)

    assert caught.value.code is ErrorCode.TEXT_EMPTY


def test_unknown_voice_is_refused(engine):
    with pytest.raises(InputError) as caught:
        engine.speak("Hello", "hibari:nobody", "en", 1.0)

    assert caught.value.code is ErrorCode.VOICE_UNKNOWN


def test_missing_package_makes_the_voice_unavailable(monkeypatch):
    monkeypatch.setitem(sys.modules, "hibari.g2p", None)

    with pytest.raises(EngineError) as caught:
        speak(HibariEngine(), "Hello")

    assert caught.value.code is ErrorCode.VOICE_UNAVAILABLE


def test_stop_takes_the_gap_before_it_as_closure_and_vowels_share_theirs():
    symbols = [Symbol(letter, word) for letter, word in zip("a p a", (0, 0, 1, 1, 2), strict=True)]
    placed = place_sounds(symbols, [0.3, 0.1, 0.05, 0.1, 0.05, 0.1, 0.2])

    times = [(p.ipa, round(p.start_s, 3), round(p.end_s, 3)) for _, p in placed]
    assert times == [("a", 0.25, 0.35), ("p", 0.35, 0.525), ("a", 0.525, 0.65)]
    assert [word for word, _ in placed] == [0, 1, 2]


def test_pause_at_punctuation_is_silence_and_stress_joins_its_vowel():
    symbols = [Symbol(letter, 0) for letter in "ma, mˈaː"]
    placed = place_sounds(symbols, [0.3, 0.05, 0.1, 0.1, 0.05, 0.05, 0.05, 0.1, 0.05, 0.2])

    times = [(p.ipa, round(p.start_s, 3), round(p.end_s, 3)) for _, p in placed]
    assert times == [("m", 0.25, 0.3), ("a", 0.3, 0.4), ("m", 0.55, 0.6), ("aː", 0.6, 0.8)]


def lag_s(clip):
    """Shift of the vowel times at which they agree best with the energy of 300-2500 Hz."""
    band = butter(4, [300, 2500], "band", fs=clip.sample_rate_hz, output="sos")
    length = round(clip.sample_rate_hz * 0.005)
    energy = sosfiltfilt(band, clip.samples) ** 2
    level = np.sqrt(energy[: len(energy) // length * length].reshape(-1, length).mean(axis=1))
    moments = (np.arange(len(level)) + 0.5) * 0.005

    def agreement(lag_s):
        voiced = np.zeros(len(level))
        for sound in clip.phonemes:
            if sound.ipa[0] in "aeiouæɐɑɔəɚɛɜɪʊʌ":
                inside = (moments >= sound.start_s + lag_s) & (moments < sound.end_s + lag_s)
                voiced[inside] = 1
        return np.corrcoef(voiced, level)[0, 1]

    return max(np.arange(-0.15, 0.151, 0.005), key=agreement)
