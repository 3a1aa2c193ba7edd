"""From IPA to mouth targets."""

# ruff: noqa: RUF001 - IPA letters look like others by nature
import pytest

from engine.lipsync.curves import VISEMES
from engine.lipsync.visemes import (
    TARGETS,
    UNKNOWN,
    bilabial_times,
    split_symbols,
    targets_of,
    unknown_symbols,
)
from engine.speech.ipa import LETTERS
from engine.speech.voice import TimedPhoneme


def test_every_letter_that_our_voices_write_has_a_target():
    assert unknown_symbols(LETTERS) == {}


def test_every_target_is_within_its_ranges():
    for target in TARGETS.values():
        assert target.viseme in VISEMES[1:]
        assert 0 <= target.jaw <= 1
        assert target.wide is None or -1 <= target.wide <= 1
        assert target.pucker is None or 0 <= target.pucker <= 1


@pytest.mark.parametrize(
    ("ipa", "symbols"),
    [
        ("aɪ", ("a", "ɪ")),
        ("t͡ʃ", ("ʧ",)),
        ("tʃ", ("ʧ",)),
        ("ɑ̃ː", ("ɑ",)),
        ("ˈeː˥", ("e",)),
        ("ç", ("ç",)),
        ("c\u0327", ("ç",)),
        ("O", ("o", "ʊ")),
        ("aɪɚ", ("a", "ɪ", "ɚ")),
        ("ss", ("s",)),
        ("pf", ("p", "f")),
        ("kʰ", ("k",)),
        ("ˈ", ()),
        ("", ()),
    ],
)
def test_a_sound_is_cut_into_what_the_mouth_does(ipa, symbols):
    assert split_symbols(ipa) == symbols


def test_lips_are_pressed_together_for_p_b_m_alone():
    shut = {symbol for symbol, target in TARGETS.items() if target.close == 1.0}
    assert {"p", "b", "m"} <= shut
    assert not shut & set("fvnwuotdkszaei")


def test_an_unknown_letter_gets_a_neutral_mouth_and_is_counted():
    assert targets_of("☃") == (UNKNOWN,)
    assert unknown_symbols(["a", "☃", "☃p"]) == {"☃": 2}


def test_bilabial_times_are_the_middles_of_closed_lips():
    phonemes = [
        TimedPhoneme("m", 0.1, 0.2),
        TimedPhoneme("aː", 0.2, 0.4),
        TimedPhoneme("f", 0.4, 1),
    ]
    assert bilabial_times(phonemes) == pytest.approx([0.15])
