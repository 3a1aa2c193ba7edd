import re
import string

import pytest

from engine.errors import ErrorCode
from studio.locales import DEFAULT_TAG, LOCALES, explain, say, speaking
from studio.locales.locale import Locale

ENGLISH = LOCALES[DEFAULT_TAG]
OTHERS = [locale for tag, locale in LOCALES.items() if tag != DEFAULT_TAG]

# What is the same in every language: names, numerals, units, and patterns without words.
SAME_EVERYWHERE = {
    *("page.title", "photo.step", "voice.step", "make.step", "voice.natural"),
    *("job.percent", "gauge.ours", "gauge.label", "check_row.pytorch", "number.mark"),
    *("more.animator_sonic", "gauge.temperature", "ledger.gb", "size.gb", "size.mb"),
    *("time.seconds", "time.minutes", "time.minutes_seconds", "time.hours_minutes"),
}

# Words that happen to be the same in one language.
SAME_HERE = {"es": {"quality.hd"}, "fr": {"quality.hd", "gauge.ours"}}


def placeholders(text: str) -> list[str]:
    return sorted(name for _, name, _, _ in string.Formatter().parse(text) if name is not None)


@pytest.fixture(params=OTHERS, ids=lambda locale: locale.tag)
def locale(request) -> Locale:
    return request.param


def test_every_language_has_exactly_the_keys_of_english(locale):
    assert set(locale.text) == set(ENGLISH.text)
    assert set(locale.errors) == {code.value for code in ErrorCode}


def test_nothing_was_left_in_english(locale):
    allowed = SAME_EVERYWHERE | SAME_HERE.get(locale.tag, set())
    same = {key for key, text in locale.text.items() if text == ENGLISH.text[key]}

    assert same - allowed == set()
    for code, words in locale.errors.items():
        assert words[0] != ENGLISH.errors[code][0], code
        assert words[1] != ENGLISH.errors[code][1], code


def test_every_translation_has_the_placeholders_of_english(locale):
    for key, text in locale.text.items():
        assert placeholders(text) == placeholders(ENGLISH.text[key]), key
    for code, words in locale.errors.items():
        for translated, english in zip(words, ENGLISH.errors[code], strict=True):
            assert placeholders(translated) == placeholders(english), code


def test_every_translation_has_the_lines_and_code_of_english(locale):
    for key, text in locale.text.items():
        assert text.count("\n") == ENGLISH.text[key].count("\n"), key
    for code, words in locale.errors.items():
        for translated, english in zip(words, ENGLISH.errors[code], strict=True):
            for literal in re.findall(r"STUDIO_\w+|--[a-z-]+|`[^`]+`", english):
                assert literal in translated, code


def test_no_text_holds_markup(locale):
    texts = [*locale.text.values(), *(part for pair in locale.errors.values() for part in pair)]

    assert not [text for text in texts if "<" in text or ">" in text]


def test_arabic_runs_from_right_to_left_and_the_others_do_not():
    assert {tag for tag, locale in LOCALES.items() if locale.direction == "rtl"} == {"ar"}


def test_no_french_line_begins_with_a_mark():
    """Double punctuation keeps to its word: the space before it does not break."""
    french = LOCALES["fr"]
    texts = [*french.text.values(), *(part for pair in french.errors.values() for part in pair)]

    assert not [text for text in texts if re.search(r" [:;?!»]|« ", text)]
    assert french.text["voice.text"] == "Que faut-il dire\u202f?"


def test_words_and_errors_come_in_the_language_spoken():
    with speaking("es"):
        assert say("make.generate") == "Hacer el vídeo"
        assert explain(ErrorCode.FACE_TOO_SMALL, {"face_px": 40, "need_px": 50}).sentence == (
            "La cara es demasiado pequeña: 40 píxeles de alto; hacen falta al menos 50."
        )
    assert say("make.generate") == "Make the video"


def test_an_unknown_language_is_english():
    with speaking("tlh"):
        assert say("make.generate") == "Make the video"


def test_a_value_nobody_gave_shows_as_a_question_mark():
    assert "?" in explain(ErrorCode.TEXT_TOO_LONG).sentence
