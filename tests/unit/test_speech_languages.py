"""Scripts and language tags."""

import pytest

from engine.speech.languages import language_distance
from engine.speech.scripts import guess_language, scripts_of, split_by_script


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Hello", "en"),
        ("Привет мир", "ru"),
        ("Привіт, як справи", "uk"),
        ("مرحبا", "ar"),
        ("چطوری", "fa"),
        ("آپ کیسے ہیں", "ur"),
        ("नमस्ते", "hi"),
        ("你好", "cmn"),
        ("日本語を話す", "ja"),
        ("안녕", "ko"),
        ("Γειά", "el"),
        ("שלום", "he"),
        ("สวัสดี", "th"),
        ("123!", "en"),
        ("Hello мир und и", "en"),
    ],
)
def test_script_tells_the_usual_language(text, language):
    assert guess_language(text) == language


def test_guessed_language_reads_its_own_script():
    for text in ("Привет", "مرحبا", "नमस्ते", "你好", "かな", "안녕", "ᏣᎳᎩ", "አማርኛ"):
        runs = split_by_script(text, scripts_of(guess_language(text)))
        assert [is_own for *_, is_own in runs] == [True]


def test_runs_take_signs_and_spaces_along():
    text = "(Hello, 你好! 42 and привет.)"
    runs = split_by_script(text, frozenset({"LATIN"}))

    assert [(text[start:end], own) for start, end, own in runs] == [
        ("(Hello, ", True),
        ("你好! 42 ", False),
        ("and ", True),
        ("привет.)", False),
    ]


def test_text_without_letters_is_readable_by_all():
    assert split_by_script("42!", frozenset({"LATIN"})) == [(0, 3, True)]


@pytest.mark.parametrize(
    ("wanted", "spoken", "distance"),
    [
        ("en", "en-us", 1),
        ("EN_US", "en-us", 0),
        ("en", "en-gb", 2),
        ("en-gb", "en-us", 1),
        ("fr", "fr-fr", 1),
        ("fr", "fr-be", 2),
        ("pt-BR", "pt-br", 0),
        ("pt-PT", "pt", 0),
        ("zh", "cmn", 0),
        ("zh-Hant-TW", "cmn", 1),
        ("zh-hk", "yue", 0),
        ("no", "nb", 0),
        ("de-AT", "de", 1),
        ("de", "el", None),
        ("xx", "en-us", None),
    ],
)
def test_tags_find_the_nearest_voice(wanted, spoken, distance):
    assert language_distance(wanted, spoken) == distance
