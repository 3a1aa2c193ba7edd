# ruff: noqa: RUF001 - IPA letters look like others by nature
"""One spelling of IPA for all back ends."""

import pytest

from engine.speech.ipa import clean_ipa


@pytest.mark.parametrize(
    ("name", "cleaned"),
    [
        ("ˈaɪ", "aɪ"),
        ("t͡sʰ", "ts"),
        ("tɕh", "tɕ"),
        ("h", "h"),
        ("ç", "ç"),
        ("ɐ̃ʊ̃", "ɐ\u0303ʊ\u0303"),
        ("õː", "o\u0303ː"),
        ("r̝̊", "r"),
        ("aː˧˥", "aː"),
        ("g", "ɡ"),
        ("aanɡ", "aaŋ"),
        ("(en)", ""),
        ("ʲ", ""),
        ("ː", ""),
        ("", ""),
        ("\x01", ""),
    ],
)
def test_names_of_back_ends_get_one_spelling(name, cleaned):
    assert clean_ipa(name) == cleaned
