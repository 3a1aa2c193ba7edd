# ruff: noqa: RUF001 - marks of many scripts look like others
"""What people type, made ready for a voice."""

import time

import pytest

from engine.errors import ErrorCode, InputError
from engine.speech.mapped_text import MappedText
from engine.speech.text import clean, clean_text, make_speakable
from tests.patience import PATIENCE


@pytest.mark.parametrize(
    ("typed", "spoken"),
    [
        ("Hi 🙂🙂", "Hi"),
        ("I ❤️ you 👩‍👩‍👧.", "I you."),
        ("one🙂two", "one two"),
        ("1️⃣ and :-) and <3", "1 and and"),
        ("<speak>x</speak>", "x"),
        ("<p>Hello <b class='a'>bold</b> &amp; brave</p>", "Hello bold & brave"),
        ("a<br/>b", "a\nb"),
        ("say <script>alert('x')</script>this", "say this"),
        ("<!-- hidden -->seen", "seen"),
        ("if a<b and c>d then 2*3*4 is snake_case", "if a<b and c>d then 2*3*4 is snake_case"),
        ("# Title\n- **one** two\n- [link](http://x.y/z) `code`", "Title\none two\nlink code"),
        ("| a | b |\n|---|---|\n| 1 | 2 |", "a, b\n\n1, 2"),
        ("a\0b\u200bc\u202ed\ufeff", "a bcd"),
        ("e\u0301te\u0301", "été"),
        ("𝐇𝐢 ＡＢ１ ﬁne ｱｲ", "Hi AB1 fine アイ"),
        ("क्\u200dया می\u200cخواهم", "क्\u200dया می\u200cخواهم"),
        ("wrapped\r\nline here.\rNew line", "wrapped line here.\nNew line"),
        ("one  \t two\n\n\n\nthree", "one two\n\nthree"),
        ("what!!!! no.... a--b", "what! no… a—b"),
        ("#hashtag and #1", "hashtag and #1"),
        ("\ud800lone", "lone"),
    ],
)
def test_only_what_is_to_be_spoken_is_left(typed, spoken):
    assert clean_text(typed, 5000) == spoken


@pytest.mark.parametrize(
    ("typed", "notes"),
    [
        ("plain text", ()),
        ("Hi 🙂", ("emoji_dropped",)),
        ("<b>Hi</b>", ("markup_removed",)),
        ("**Hi** 🙂", ("markup_removed", "emoji_dropped")),
    ],
)
def test_what_was_left_out_is_noted(typed, notes):
    assert clean(typed, 5000).notes == notes


@pytest.mark.parametrize("typed", ["", "  \n ", "🙂🙂", "?!…", "\u200b\0", "<b></b>", "---", "*"])
def test_text_without_a_word_is_refused(typed):
    with pytest.raises(InputError) as caught:
        clean(typed, 5000)

    assert caught.value.code is ErrorCode.TEXT_EMPTY


def test_text_over_the_limit_is_refused_with_its_count():
    with pytest.raises(InputError) as caught:
        clean("a" * 5001, 5000)

    assert caught.value.code is ErrorCode.TEXT_TOO_LONG
    assert caught.value.values == {"count": 5001, "limit": 5000}
    assert clean_text(" " * 900 + "a" * 5000 + "\n" * 900, 5000) == "a" * 5000


@pytest.mark.parametrize(
    ("typed", "language", "spoken"),
    [
        (
            "See https://www.example.com/a/b-c?x=1#y.",
            "en-us",
            "See example dot com slash a slash b c.",
        ),
        ("Sieh www.beispiel.de!", "de", "Sieh beispiel Punkt de!"),
        ("Mail jo.doe@mail.org", "fr-fr", "Mail jo point doe arobase mail point org"),
        ("http://a.org/" + "long-path/" * 9, "xx", "a dot org"),
        ("3.5 and 10:30", "en", "3.5 and 10:30"),
    ],
)
def test_addresses_are_read_in_the_words_of_the_language(typed, language, spoken):
    assert make_speakable(clean(typed, 5000).mapped, language).text == spoken


def test_readers_still_see_the_address():
    text = make_speakable(MappedText.of("go to www.a.org now"), "en")

    assert text.text == "go to a dot org now"
    assert "".join(text.shown) == "go to www.a.org now"
    assert len(text.shown) == len(text.text)


@pytest.mark.parametrize(
    "hostile",
    [
        "*" * 5000,
        "**a " * 1200,
        "_a" * 2500,
        "<b " * 1600,
        "<a a=a " * 700,
        "<script>" * 600,
        "<!--" * 1200,
        "[a](" * 1200,
        "| " * 2500,
        "http://" * 700,
        "a@" * 2500,
        "a.a@a." * 800,
        "&#1" * 1500,
        "\n" * 4999,
        "😀" * 4999,
        "-" * 5000,
    ],
)
def test_hostile_text_is_cleaned_quickly(hostile):
    started = time.monotonic()
    make_speakable(clean("z " + hostile[:4900] + "z", 5000).mapped, "en")

    assert time.monotonic() - started < 2.0 * PATIENCE
