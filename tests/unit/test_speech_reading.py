# ruff: noqa: RUF001 - IPA letters look like others by nature
"""Text into the letters that voices of the Kokoro family speak."""

import pytest

from engine.speech.english import EnglishReader
from engine.speech.espeak import EspeakEngine
from engine.speech.espeak_reader import EspeakReader
from engine.speech.mandarin import MandarinReader
from engine.speech.reading import align_by_length, read_words
from engine.speech.symbol_runs import split_runs
from engine.speech.symbol_timing import Symbol, place_sounds
from engine.speech.words import split_words


@pytest.fixture(scope="module")
def espeak():
    engine = EspeakEngine()
    yield engine
    engine.unload()


def words_of(reading):
    """Typed word -> what is spoken for it."""
    letters = [""] * len(reading.spans)
    for symbol in reading.symbols:
        letters[symbol.word] += symbol.letter
    typed = (span.text for span in reading.spans)
    return dict(zip(typed, map(str.strip, letters), strict=True))


def test_marks_around_a_word_become_the_voices_own():
    reading = read_words(split_words("«Sì», – no。"), [(0, "si"), (2, "no")])

    assert "".join(symbol.letter for symbol in reading.symbols) == "“si”, — no. "


@pytest.mark.parametrize(
    ("typed", "read", "owners"),
    [
        (["a", "b"], ["x", "y"], [0, 1]),
        (["Qu'est-ce", "que", "c'est"], ["kɛskə", "sɛ"], [0, 2]),
        (["25", "gatti"], ["venti", "cinque", "gatti"], [0, 0, 1]),
        (["one"], ["a", "b", "c"], [0, 0, 0]),
        (["a", "b", "c"], [], []),
    ],
)
def test_words_that_melt_or_multiply_find_their_typed_word(typed, read, owners):
    assert align_by_length(typed, read) == owners


@pytest.mark.parametrize(
    ("tag", "text", "spoken"),
    [
        (
            "fr-fr",
            "C'est l'école ; il y a 25 enfants !",
            {"C'est": "sɛ", "l'école": "lekˈɔl", "25": "vɛ̃tsˈɛ̃k", "enfants": "ɑ̃fˈɑ̃"},
        ),
        (
            "it",
            "Ciao, che città «bella»!",
            {"Ciao,": "ʧˈao,", "città": "ʧitːˈa", "«bella»!": "“bˈɛlla”!"},
        ),
        ("es", "¡Hola! Ocho niños.", {"¡Hola!": "ˈola!", "Ocho": "ˈoʧo", "niños.": "nˈiɲos."}),
        ("pt-br", "Não, amanhã.", {"Não,": "nˈɐ̃ʊ̃,", "amanhã.": "ˌæmɐ̃ɲˈɐ̃."}),
        ("hi", "मेरा घर HT है।", {"मेरा": "mˌeːɾaː", "HT": "ˈAʧ tˈiː", "है।": "hɛː."}),
    ],
)
def test_languages_are_read_by_espeak_word_for_word(espeak, tag, text, spoken):
    words = words_of(EspeakReader(espeak, tag).read(text))

    assert " ".join(words) == text
    assert {word: words[word] for word in spoken} == spoken


def test_english_is_american_or_british():
    american, british = (
        words_of(EnglishReader(british=british).read("Hello car")) for british in (False, True)
    )

    assert american == {"Hello": "həlˈO", "car": "kˈɑɹ"}
    assert british == {"Hello": "həlˈQ", "car": "kˈɑː"}


def test_mandarin_has_tones_words_and_english_names():
    words = words_of(MandarinReader(EnglishReader()).read("今天很好，我喜欢HT和SUV。"))

    assert "".join(words) == "今天很好，我喜欢HT和SUV。"
    assert words["今天"] == "ʨi→ntʰjɛ→n"
    assert words["喜欢"] == "ɕi↓xwa→n"
    assert words["HT"] == "ˌAʧtˈi"
    assert words["SUV。"] == "ˌɛsjˌuvˈi."


@pytest.mark.parametrize(
    ("hanzi", "letters"),
    [
        ("知道", "ꭧɨ→tau↘"),
        ("吃", "ꭧʰɨ→"),
        ("自己", "ʦɨ↘ʨi↓"),
        ("女", "ny↓"),
        ("学", "ɕɥe↗"),
        ("远", "ɥɛ↓n"),
        ("云", "y↗n"),
        ("我", "wo↓"),
        ("爱", "ai↘"),
        ("牛", "njou↗"),
        ("水", "ʂwei↓"),
        ("二", "ɚ↘"),
        ("吗", "ma"),
        ("银行", "i↗nxa↗ŋ"),
    ],
)
def test_pinyin_becomes_the_letters_of_the_voice(hanzi, letters):
    assert words_of(MandarinReader(EnglishReader()).read(hanzi)) == {hanzi: letters}


def test_tone_belongs_to_the_vowel_before_it():
    symbols = [Symbol(letter, 0) for letter in "ꭧʰa↗n"]
    placed = place_sounds(symbols, [0.3, 0.1, 0.05, 0.1, 0.05, 0.1, 0.2])

    times = [(p.ipa, round(p.start_s, 3), round(p.end_s, 3)) for _, p in placed]
    assert times == [("ʈʂ", 0.25, 0.4), ("a", 0.4, 0.55), ("n", 0.55, 0.65)]


def test_long_text_is_cut_behind_punctuation_else_between_words_else_anywhere():
    def cut(text):
        runs = split_runs([Symbol(letter, 0) for letter in text], 10)
        return ["".join(symbol.letter for symbol in run) for run in runs]

    assert cut("one, two three four") == ["one,", "two three", "four"]
    assert cut("abcdefghijkl mnop") == ["abcdefghij", "kl mnop"]
    assert cut("  short ") == ["short"]
    assert cut(" ") == []
