# ruff: noqa: RUF001 - marks of many scripts look like others
"""Where a voice takes a breath."""

import pytest

from engine.speech.mapped_text import MappedText
from engine.speech.sentences import (
    CLAUSE_PAUSE_S,
    PARAGRAPH_PAUSE_S,
    SENTENCE_PAUSE_S,
    WORD_PAUSE_S,
    split_sentences,
)


def pieces(text, limit=300):
    return [
        (piece.text.text, piece.pause_s) for piece in split_sentences(MappedText.of(text), limit)
    ]


def texts(text, limit=300):
    return [piece for piece, _ in pieces(text, limit)]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("One. Two! Three? Four…", ["One.", "Two!", "Three?", "Four…"]),
        (
            "Dr. Smith met J. K. Rowling, e.g. here. Then?",
            ["Dr. Smith met J. K. Rowling, e.g. here.", "Then?"],
        ),
        ("Am 3. Mai z. B. war es 3.5 Grad. Ja.", ["Am 3. Mai z. B. war es 3.5 Grad.", "Ja."]),
        ('He said "No." Then (really.) left.', ['He said "No."', "Then (really.) left."]),
        ("你好。今天很好！走吧？好", ["你好。", "今天很好！", "走吧？", "好"]),
        ("こんにちは。元気？", ["こんにちは。", "元気？"]),
        ("مرحبا. كيف حالك؟ بخير۔ نعم", ["مرحبا.", "كيف حالك؟", "بخير۔", "نعم"]),
        ("नमस्ते। कैसे हैं॥ ठीक", ["नमस्ते।", "कैसे हैं॥", "ठीक"]),
        ("no end", ["no end"]),
    ],
)
def test_sentences_end_at_the_marks_of_their_script(text, sentences):
    assert texts(text) == sentences


def test_pauses_follow_the_layout():
    assert pieces("One. Two\nThree\n\nFour") == [
        ("One.", SENTENCE_PAUSE_S),
        ("Two", SENTENCE_PAUSE_S),
        ("Three", PARAGRAPH_PAUSE_S),
        ("Four", SENTENCE_PAUSE_S),
    ]


def test_long_sentence_is_cut_at_a_clause_then_at_words():
    text = "alpha beta gamma delta, epsilon zeta eta theta iota kappa lambda mu nu"

    assert pieces(text, 30) == [
        ("alpha beta gamma delta,", CLAUSE_PAUSE_S),
        ("epsilon zeta eta theta iota", WORD_PAUSE_S),
        ("kappa lambda mu nu", SENTENCE_PAUSE_S),
    ]


@pytest.mark.parametrize(
    "text",
    ["word " * 900, "x" * 4500, "字" * 4500, "नि" * 2200, "a, " * 1500, "1,250,000 " * 400],
)
def test_every_piece_fits_and_nothing_is_lost(text):
    found = texts(text, 300)

    assert all(0 < len(piece) <= 300 for piece in found)
    assert "".join("".join(found).split()) == "".join(text.split())


def test_composed_letters_are_not_torn_apart():
    assert texts("नि" * 10, 5) == ["निनि"] * 5


def test_pieces_keep_what_is_shown():
    text = MappedText("a dot org. Next.", ("www.a.org", *[""] * 8, *". Next."))

    assert ["".join(piece.text.shown) for piece in split_sentences(text, 300)] == [
        "www.a.org.",
        "Next.",
    ]
