"""From phoneme times to mouth curves."""

# ruff: noqa: RUF001 - IPA letters look like others by nature
import numpy as np
import pytest

from engine.lipsync.curves import VISEMES
from engine.lipsync.from_timings import curves_from_timings, loudness_curve, targets_from_timings
from engine.lipsync.shaping import smooth
from engine.speech.voice import TimedPhoneme


def spoken(text: str, start_s: float = 0.2, each_s: float = 0.1) -> list[TimedPhoneme]:
    """Sounds of equal length; a space is a pause."""
    return [
        TimedPhoneme(ipa, start_s + k * each_s, start_s + (k + 1) * each_s)
        for k, ipa in enumerate(text)
        if ipa != " "
    ]


def test_there_is_one_sample_each_20_ms_from_start_to_end():
    assert len(curves_from_timings(spoken("ma"), 1.0)) == 51
    assert len(curves_from_timings([], 0.0)) == 1


def test_without_sounds_the_mouth_stays_shut():
    curves = curves_from_timings([], 1.0)
    assert curves.jaw.max() == curves.close.max() == curves.speaking.max() == 0
    assert (curves.posteriors[:, 0] == 1).all()


def test_posteriors_sum_to_one_and_name_the_sound():
    curves = curves_from_timings(spoken("sɑfʃ"), 1.0)
    assert curves.posteriors.sum(axis=1) == pytest.approx(1.0, abs=1e-5)
    named = [VISEMES[curves.posteriors[k].argmax()] for k in (12, 17, 22, 27, 45)]
    assert named == ["SS", "aa", "FF", "CH", "sil"]


def test_open_vowels_open_the_jaw_more_than_close_ones():
    curves = curves_from_timings(spoken("ai", each_s=0.3), 1.0)
    assert curves.jaw[17] > 0.9
    assert curves.jaw[32] < 0.35
    assert curves.wide[32] > 0.5


def test_rounding_of_a_vowel_reaches_into_its_neighbours():
    curves = curves_from_timings(spoken("tuk"), 1.0)
    assert curves.pucker[12] > 0.3
    assert curves.pucker[17] > 0.6


@pytest.mark.parametrize("lasting_s", [0.02, 0.05, 0.12])
@pytest.mark.parametrize("fps", [24, 25, 30, 50, 60])
def test_every_closure_is_seen_by_some_frame(lasting_s, fps):
    for start_s in np.arange(0.4, 0.44, 0.007):
        phonemes = [
            TimedPhoneme("a", 0.2, start_s),
            TimedPhoneme("m", start_s, start_s + lasting_s),
            TimedPhoneme("a", start_s + lasting_s, 0.8),
        ]
        frames = curves_from_timings(phonemes, 1.0).at_frames(fps, fps)
        assert frames.close.max() > 0.9


def test_a_pause_between_words_closes_the_jaw():
    curves = curves_from_timings(spoken("ba     ba"), 1.5)
    assert curves.jaw[35] < 0.02
    assert curves.speaking[35] < 0.02


def test_loudness_opens_the_jaw_wider():
    phonemes = spoken("aaaaaa")
    loud = curves_from_timings(phonemes, 1.0, np.ones(51, np.float32))
    soft = curves_from_timings(phonemes, 1.0, np.full(51, 0.2, np.float32))
    assert soft.jaw.max() < 0.85 * loud.jaw.max()


def test_loudness_is_full_in_speech_and_nothing_in_silence():
    seconds = np.arange(32_000) / 16_000
    sound = np.where(seconds < 1, 0.3 * np.sin(2 * np.pi * 200 * seconds), 0).astype(np.float32)
    curve = loudness_curve(sound)
    assert len(curve) == 101
    assert curve[10:40].min() > 0.9
    assert curve[60:].max() == 0.0
    assert loudness_curve(np.zeros(16_000, np.float32)).max() == 0.0


def test_smoothing_calms_the_jaw_and_keeps_the_closures():
    curves = curves_from_timings(spoken("mamapafi"), 1.2)
    assert smooth(curves, 0.0) is curves
    calm = smooth(curves, 1.0)
    calmer = smooth(curves, 2.0)
    speed = [float(np.abs(np.diff(c.jaw)).max()) for c in (curves, calm, calmer)]
    assert speed[0] > speed[1] > speed[2]
    np.testing.assert_array_equal(calm.close, curves.close)


def test_targets_at_100_hz_are_the_same_motion_as_at_50_hz():
    phonemes = spoken("bonʒuʁ")
    slow, fast = (targets_from_timings(phonemes, 1.0, rate) for rate in (50, 100))
    np.testing.assert_array_equal(slow.jaw, fast.jaw[::2])
    np.testing.assert_array_equal(slow.viseme, fast.viseme[::2])
