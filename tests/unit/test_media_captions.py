# ruff: noqa: RUF001 - marks of many scripts look like others
"""Words with times become cues; cues become files that players read."""

import itertools
import re
from threading import Event

import pytest

from engine.contracts import SpeechOptions
from engine.media.captions import (
    GAP_S,
    LINE_COLUMNS,
    MAX_LINES,
    MAX_S,
    Cue,
    as_srt,
    as_vtt,
    build_cues,
    width_of,
    write_captions,
)
from engine.speech.catalog import VoiceCatalog
from engine.speech.espeak import EspeakEngine
from engine.speech.hibari import HibariEngine
from engine.speech.voice import TimedWord

TEXTS = {
    "en": "Welcome to the studio. Pick a portrait! Then type what it should say, and wait a little "
    "while the lips are drawn, frame by frame, until the video is ready.\n\nHi. It costs $9.99.",
    "de": "Der schnelle braune Fuchs springt am 3. Mai 2026 über den faulen Hund und kostet "
    "3,50 €; danach schläft er bis zum nächsten Morgen tief und fest.",
    "zh": "今天是2025年5月3日，我喜欢HT和SUV。人工智能正在改变我们的生活方式和工作习惯，"
    "也改变了我们学习新知识以及与世界各地的朋友交流的方法。",
    "ar": "مرحبا بك في الاستوديو. هذا نص طويل باللغة العربية لكي نرى كيف يتم تقسيمه إلى سطرين.",
}


@pytest.fixture(scope="module")
def voices():
    catalog = VoiceCatalog([HibariEngine(), EspeakEngine()])
    yield catalog
    catalog.unload()


def words(text, step_s=0.4, length_s=0.35):
    return [
        TimedWord(word, index * step_s, index * step_s + length_s)
        for index, word in enumerate(text.split())
    ]


@pytest.mark.parametrize("language", TEXTS)
@pytest.mark.parametrize("columns", [LINE_COLUMNS, 24])
def test_cues_of_real_speech_follow_the_words(voices, language, columns):
    text = TEXTS[language]
    clip = voices.speak(SpeechOptions(text=text, language=language), Event())

    cues = build_cues(clip.words, clip.duration_s, columns)

    shown = "".join(line for cue in cues for line in cue.lines)
    assert re.sub(r"\s", "", shown) == re.sub(r"\s", "", text)
    for cue in cues:
        assert 1 <= len(cue.lines) <= MAX_LINES
        assert all(0 < width_of(line) <= columns for line in cue.lines)
        assert 0.5 <= cue.end_s - cue.start_s <= MAX_S + 1
    assert all(b.start_s - a.end_s >= GAP_S - 1e-9 for a, b in itertools.pairwise(cues))
    assert cues[-1].end_s <= clip.duration_s
    spoken = iter(clip.words)
    for cue in cues:
        own = [next(spoken)]
        typed = re.sub(r"\s", "", "".join(cue.lines))
        while len(re.sub(r"\s", "", "".join(word.text for word in own))) < len(typed):
            own.append(next(spoken))
        assert abs(cue.start_s - own[0].start_s) <= 0.2
        assert abs(cue.end_s - own[-1].end_s) <= 0.2 + 1e-9


def test_cuts_come_at_sentences_and_clauses():
    text = (
        "The first sentence is short. When a sentence is far too long for one cue alone, it is cut "
        "behind a comma, never between two words that belong together."
    )
    cues = build_cues(words(text), 100)

    assert cues[0].lines == ("The first sentence is short.",)
    assert [cue.lines[-1][-1] for cue in cues] == [".", ",", "."]


def test_two_lines_are_alike_and_break_behind_a_clause():
    cues = build_cues(words("If it rains on Sunday, then we will all stay at home."), 30)

    assert cues[0].lines == ("If it rains on Sunday,", "then we will all stay at home.")


def test_short_sentence_joins_its_neighbour_but_not_over_a_pause():
    joined = build_cues([TimedWord("Hi.", 0.1, 0.4), TimedWord("There.", 0.6, 1.4)], 2)
    apart = build_cues([TimedWord("Hi.", 0.1, 0.4), TimedWord("There.", 1.4, 2.2)], 3)

    assert [cue.lines for cue in joined] == [("Hi. There.",)]
    assert [cue.lines for cue in apart] == [("Hi.",), ("There.",)]
    assert apart[0].end_s == pytest.approx(0.9)  # long enough to be read


def test_silence_between_sentences_has_no_caption():
    cues = build_cues([TimedWord("One day.", 0.0, 1.0), TimedWord("Another.", 4.0, 5.0)], 6)

    assert [(cue.start_s, cue.end_s) for cue in cues] == [(0.0, 1.2), (4.0, 5.2)]


def test_word_longer_than_a_line_is_cut_and_nothing_is_lost():
    address = "https://www.example.com/" + "never-ending-path/" * 8
    cues = build_cues([TimedWord("See", 0, 0.3), TimedWord(address, 0.3, 6.3)], 7)

    assert "".join("".join(cue.lines) for cue in cues) == "See" + address
    assert all(width_of(line) <= LINE_COLUMNS for cue in cues for line in cue.lines)


def test_long_text_without_a_mark_takes_no_time():
    cues = build_cues(words("word " * 3000, 0.3, 0.28), 1000)

    assert sum(len(line.split()) for cue in cues for line in cue.lines) == 3000
    assert max(cue.end_s - cue.start_s for cue in cues) <= MAX_S + 0.2


def test_wide_characters_count_two_and_marks_none():
    assert width_of("ab") == 2
    assert width_of("日本，") == 6
    assert width_of("e\u0301\u200d") == 1
    assert width_of("한글") == 4


def test_chinese_words_are_set_without_spaces():
    pieces = ["我", "喜欢", "HT", "和", "SUV。"]
    cues = build_cues([TimedWord(t, i, i + 0.9) for i, t in enumerate(pieces)], 6)

    assert cues[0].lines == ("我喜欢HT和SUV。",)


def test_no_words_no_cues():
    assert build_cues([], 3) == ()
    assert as_srt(()) == ""
    assert as_vtt(()) == "WEBVTT\n"


def test_files_are_what_players_expect(tmp_path):
    cues = (Cue(0.1, 1.25, ("Grüße & <3",)), Cue(3661.0005, 3662.9999, ("zwei", "你好")))
    srt, vtt = tmp_path / "a.srt", tmp_path / "a.vtt"

    write_captions(cues, srt, vtt)

    assert srt.read_bytes().decode("utf-8") == (
        "1\n00:00:00,100 --> 00:00:01,250\nGrüße & <3\n\n"
        "2\n01:01:01,000 --> 01:01:03,000\nzwei\n你好\n"
    )
    assert vtt.read_bytes().decode("utf-8") == (
        "WEBVTT\n\n00:00:00.100 --> 00:00:01.250\nGrüße &amp; &lt;3\n\n"
        "01:01:01.000 --> 01:01:03.000\nzwei\n你好\n"
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.srt", "a.vtt"]


def test_each_word_of_a_cue_knows_its_place_and_time():
    text = "A caption that is long enough for a second line & more"
    words = [
        TimedWord(word, 0.5 * index, 0.5 * index + 0.4)
        for index, word in enumerate(re.split(" ", text))
    ]

    (cue,) = build_cues(words, 10.0)

    assert len(cue.lines) == 2
    assert [cue.lines[word.line][word.first : word.last] for word in cue.words] == (
        [word.text for word in words]
    )
    assert [word.start_s for word in cue.words] == [word.start_s for word in words]


def test_webvtt_marks_when_each_word_is_said_and_stays_readable_without():
    words = [TimedWord("Tea", 1.0, 1.3), TimedWord("&", 1.4, 1.5), TimedWord("milk.", 1.6, 2.0)]
    cues = build_cues(words, 5.0)

    marked = as_vtt(cues, highlights=True)

    assert "Tea <00:00:01.400>&amp; <00:00:01.600>milk." in marked
    assert marked.startswith("WEBVTT\n\nSTYLE\n::cue(:future)")
    assert "<00:" not in as_vtt(cues)
    assert re.sub(r"<[\d:.]+>", "", marked).endswith(as_vtt(cues).removeprefix("WEBVTT\n\n"))


def test_words_of_scripts_without_spaces_are_marked_too():
    words = [TimedWord(text, index, index + 0.8) for index, text in enumerate("你好吗")]

    (cue,) = build_cues(words, 5.0)

    assert cue.lines == ("你好吗",)
    assert [(word.first, word.last) for word in cue.words] == [(0, 1), (1, 2), (2, 3)]
