# ruff: noqa: RUF001 - marks of many scripts look like others
"""What made other products fail, spoken by the real voices."""

import itertools
from threading import Event

import numpy as np
import psutil
import pytest

from engine.contracts import SpeechOptions
from engine.errors import ErrorCode, InputError
from engine.speech.catalog import VoiceCatalog
from engine.speech.english import EnglishReader
from engine.speech.espeak import EspeakEngine
from engine.speech.hibari import HibariEngine
from engine.speech.lexicon import Entry, Lexicon
from engine.speech.mapped_text import MappedText
from engine.speech.sentences import split_sentences
from engine.speech.text import clean, make_speakable


@pytest.fixture(scope="module")
def catalog():
    found = VoiceCatalog()
    yield found
    found.unload()


def speak(catalog, text, **options):
    return catalog.speak(SpeechOptions(text=text, **options), Event())


@pytest.mark.parametrize("voice", [None, "espeak:cmn"])
def test_mixed_chinese_and_english_with_a_year_is_voiced_whole(catalog, voice):
    text = "今天是2025年, 我喜欢HT和SUV"
    clip = speak(catalog, text, voice=voice)

    assert "".join(word.text for word in clip.words) == text.replace(" ", "")
    assert all(word.end_s > word.start_s for word in clip.words)
    assert clip.notes == ()
    sounds = "".join(phoneme.ipa for phoneme in clip.phonemes)
    assert "eɪtʃ" in sounds.replace("eːtʃ", "eɪtʃ")  # H
    assert "v" in sounds  # SUV
    year = next(word for word in clip.words if "2025" in word.text)
    assert year.end_s - year.start_s > 0.6  # four digits, none left out


def test_paragraph_without_a_mark_is_cut_at_word_ends_and_told_piece_by_piece(catalog):
    text = ("word after word goes on " * 190)[:4500].rsplit(" ", 1)[0]
    pieces = split_sentences(MappedText.of(text), 300)
    seen = []

    clip = catalog.speak(
        SpeechOptions(text=text, voice="espeak:en-us", speed=2.0),
        Event(),
        lambda done, total: seen.append((done, total)),
    )

    assert all(len(piece.text.text) <= 300 for piece in pieces)
    assert " ".join(piece.text.text for piece in pieces) == text
    assert seen == [(done, len(pieces)) for done in range(1, len(pieces) + 1)]
    assert " ".join(word.text for word in clip.words) == text


def test_text_over_the_cap_is_refused_with_its_count(catalog):
    with pytest.raises(InputError) as caught:
        speak(catalog, "a" * 5001)

    assert caught.value.code is ErrorCode.TEXT_TOO_LONG
    assert caught.value.values["count"] == 5001


@pytest.mark.parametrize(
    ("typed", "heard", "notes"),
    [
        ("Hi 🙂🙂", "Hi", (ErrorCode.EMOJI_DROPPED,)),
        ("<speak>x</speak>", "x", (ErrorCode.MARKUP_REMOVED,)),
        ("<break time='9s'/>Hello", "Hello", (ErrorCode.MARKUP_REMOVED,)),
        ("no\u200bw he\0re", "now he re", ()),
        ("مرحبا بك", "مرحبا بك", ()),
        ("\u202eHello\u202c", "Hello", ()),
    ],
)
def test_odd_text_is_spoken_without_what_is_not_text(catalog, typed, heard, notes):
    clip = speak(catalog, typed)

    assert " ".join(word.text for word in clip.words) == heard
    assert clip.notes == notes


@pytest.mark.parametrize("typed", ["🙂🙂", "   ", "\0\u200b", "<speak></speak>", "?!"])
def test_text_with_nothing_to_say_is_refused(catalog, typed):
    with pytest.raises(InputError) as caught:
        speak(catalog, typed)

    assert caught.value.code is ErrorCode.TEXT_EMPTY


def test_own_pronunciation_is_heard_and_the_typed_word_shown():
    catalog = VoiceCatalog([HibariEngine(), EspeakEngine()])
    lexicon = Lexicon((Entry("xqz", "banana"),))

    clip = catalog.speak(SpeechOptions(text="My xqz, please."), Event(), None, lexicon)

    assert [word.text for word in clip.words] == ["My", "xqz,", "please."]
    assert "bənænə" in "".join(phoneme.ipa for phoneme in clip.phonemes)
    assert all(a.end_s <= b.start_s + 1e-9 for a, b in itertools.pairwise(clip.words))


def test_number_of_forty_digits_is_read_digit_by_digit():
    text = make_speakable(clean("My number is " + "1234567890" * 4 + ".", 5000).mapped, "en-us")

    assert text.text.count(" ") >= 40
    assert "1 2 3 4" in text.text


def test_number_people_say_as_one_is_left_whole():
    text = make_speakable(clean("We sold 1,250,000 tickets.", 5000).mapped, "en-us")

    assert "1,250,000" in text.text


@pytest.mark.parametrize(
    "word", ["Rindfleischetikettierungsüberwachungsaufgabenübertragungsgesetz", "blorf" * 40]
)
def test_long_unknown_word_is_read_to_its_end(word):
    reading = EnglishReader().read(word)

    assert len(reading.symbols) >= 0.6 * len(word)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("longest_text", [150, pytest.param(400, marks=pytest.mark.slow)])
def test_fifty_texts_leave_no_memory_behind_and_the_longest_still_works(longest_text):
    catalog = VoiceCatalog([HibariEngine(), EspeakEngine()])
    text = "We speak many texts of many lengths, one after the other, all day long. " * 6
    sizes_mb = []
    for run in range(50):
        length = 10 + (run * 97) % (longest_text - 9)  # from 10 characters on, mixed
        voice = "hibari:heart" if run % 2 else "espeak:en-us"
        clip = speak(catalog, text[:length], voice=voice)
        assert clip.duration_s > 0.2
        own = psutil.Process()
        family = (own, *own.children(recursive=True))
        sizes_mb.append(sum(process.memory_info().rss for process in family) / 1e6)

    kept_mb = np.polyfit(np.arange(30), sizes_mb[20:], 1)[0]
    assert kept_mb < 1.0  # a text, after twenty to warm up
    longest = speak(catalog, text[:400], voice="hibari:heart")
    assert longest.duration_s > 15
    catalog.unload()
