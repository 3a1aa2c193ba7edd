"""Which word a sound belongs to."""

from engine.speech.voice import TimedPhoneme
from engine.speech.words import match_words, split_words, time_words


def test_unspaced_scripts_are_cut_where_the_voice_begins_a_word():
    spans = split_words("你好 world", cuts=[0, 1, 3, 5])

    assert [span.text for span in spans] == ["你", "好", "world"]


def test_silent_dash_joins_the_word_before():
    spans = split_words("yes — no")
    sounds = [(0, TimedPhoneme("j", 0.0, 0.1)), (2, TimedPhoneme("n", 0.3, 0.4))]

    words = time_words(spans, sounds)

    assert [(w.text, w.start_s, w.end_s) for w in words] == [("yes —", 0.0, 0.1), ("no", 0.3, 0.4)]


def test_leading_silent_piece_joins_the_first_word():
    words = time_words(split_words("— no"), [(1, TimedPhoneme("n", 0.3, 0.4))])

    assert [w.text for w in words] == ["— no"]


def test_spelled_out_words_find_their_typed_word():
    typed = ["On", "3/4/26", "she", "paid", "$5."]
    read = ["On", "March", "fourth,", "twenty", "twenty-six", "she", "paid", "five", "dollars."]

    assert match_words(typed, read) == [0, 1, 1, 1, 1, 2, 3, 4, 4]


def test_extra_read_words_never_point_outside():
    assert match_words(["one"], ["one", "two", "three"]) == [0, 0, 0]
    assert match_words(["one", "two"], ["eins"]) == [0]
