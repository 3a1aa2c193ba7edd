# ruff: noqa: RUF001 - IPA letters look like others by nature
"""What is put right in forced alignments before anything is judged by them."""

import numpy as np
import pytest

from training.lipsync.true_times import as_json, pauses_in, with_stress, without_pauses

WORDS = {
    "a": [["EY1"], ["AH0"]],
    "cup": [["K", "AH1", "P"]],
    "to": [["T", "UW1"], ["T", "AH0"]],
}
RATE_HZ = 16_000


def test_only_the_unstressed_vowel_becomes_a_schwa():
    said = ["ʌ", "k", "ʌ", "p", "t", "u"]
    times = [(ipa, 0.1 * k, 0.1 * k + 0.1) for k, ipa in enumerate(said)]

    found = with_stress(times, "A cup to", WORDS)

    assert [ipa for ipa, _, _ in found] == ["ə", "k", "ʌ", "p", "t", "u"]
    assert [row[1:] for row in found] == [row[1:] for row in times]


def test_sounds_that_are_not_those_of_the_words_are_refused():
    with pytest.raises(ValueError, match="cup"):
        with_stress([("k", 0.0, 0.1), ("p", 0.1, 0.2)], "cup", WORDS)


def test_a_vowel_ends_where_the_voice_does_and_a_faded_consonant_stays():
    rng = np.random.default_rng(1)
    sound = rng.normal(0, 1e-3, 2 * RATE_HZ).astype(np.float32)
    sound[RATE_HZ // 2 : RATE_HZ] += rng.normal(0, 0.1, RATE_HZ // 2).astype(np.float32)
    times = [("u", 0.5, 1.3), ("t", 1.3, 1.5)]

    is_pause = pauses_in(sound, [times])
    (vowel, stop) = without_pauses(times, is_pause)

    assert vowel[1] == 0.5
    assert vowel[2] == pytest.approx(1.02, abs=0.021)
    assert stop == ("t", 1.3, 1.5)
    assert is_pause[:24].all()
    assert not is_pause[26:49].any()


def test_a_short_dip_is_no_pause():
    is_pause = np.zeros(50, bool)
    is_pause[28:30] = True

    assert without_pauses([("ɑ", 0.2, 0.6)], is_pause) == [("ɑ", 0.2, 0.6)]


def test_both_aligners_are_written_down():
    written = as_json("a.wav", "A cup", [("ə", 0.0, 0.1)], [("ə", 0.01, 0.1)])

    assert '"phonemes": [\n  ["ə", 0.0, 0.1]\n ]' in written
    assert '"second": [\n  ["ə", 0.01, 0.1]\n ]' in written
