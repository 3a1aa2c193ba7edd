"""Dates, times, money, units and own pronunciations: read in words, shown as typed."""

import pytest

from engine.speech.hanzi_numbers import by_value
from engine.speech.lexicon import Entry, Lexicon
from engine.speech.mapped_text import MappedText
from engine.speech.spoken_numbers import respell_numbers
from engine.speech.text import make_speakable


@pytest.mark.parametrize(
    ("language", "typed", "spoken"),
    [
        ("de", "Es kostet 3,50 € und 12,5 % mehr.", "Es kostet 3 Euro 50 und 12,5 % mehr."),
        ("de", "Am 03.05.2026 um 14:30 Uhr", "Am dritten Mai 2026 um 14 Uhr 30"),
        ("de", "Heute ist der 1. Mai.", "Heute ist der erste Mai."),
        ("de", "1 km, 1.250,75 € bei 25 °C", "ein Kilometer, 1.250 Euro 75 bei 25 Grad Celsius"),
        ("de", "1,05 € €20 20.00 €", "ein Euro 5 20 Euro 20 Euro"),
        ("de", "Version 1.2.3 und 99.99.2026", "Version 1.2.3 und 99.99.2026"),
        (
            "fr-fr",
            "Le 01/05/2026, $5 et 20 km/h",
            "Le premier mai 2026, 5 dollars et 20 kilomètres à l'heure",
        ),
        ("es", "3,50 € el 2026-05-03", "3 euros con 50 el 3 de mayo de 2026"),
        ("it", "3,50 € in 5 m", "3 euro e 50 in 5 metri"),
        ("pt-br", "R$ 3,50 ou R$1", "3 reais e 50 ou um real"),
        ("hi", "₹350", "350 रुपये"),
        ("sv", "350 kr", "350 kronor"),
        ("nl", "10:05", "10 uur 5"),
        ("tr", "5 ₺", "5 lira"),
        ("en-us", "$5 on 03/05/2026", "$5 on 03/05/2026"),
        ("pl", "3,50 zł", "3,50 zł"),
        ("cmn", "今天是2025年5月3日", "今天是二零二五年五月三日"),
        ("cmn", "2025-05-03,14:30和9:05", "二零二五年五月三日,十四点三十分和九点零五分"),
        ("cmn", "¥3.50,涨了12.5%,零下-5°C", "三点五零元,涨了百分之十二点五,零下负五摄氏度"),
        ("cmn", "电话13812345678,号码0123", "电话一三八一二三四五六七八,号码零一二三"),
        ("cmn", "2个人,20km,MP3", "两个人,二十公里,MP3"),
    ],
)
def test_numbers_are_read_in_words_and_shown_as_typed(language, typed, spoken):
    text = respell_numbers(MappedText.of(typed), language)

    assert text.text == spoken
    assert "".join(text.shown) == typed


@pytest.mark.parametrize(
    ("digits", "hanzi"),
    [
        ("0", "零"),
        ("10", "十"),
        ("11", "十一"),
        ("110", "一百一十"),
        ("101", "一百零一"),
        ("1001", "一千零一"),
        ("10010", "一万零一十"),
        ("10086", "一万零八十六"),
        ("120034", "十二万零三十四"),
        ("20000", "二万"),
        ("100000000", "一亿"),
        ("100000001", "一亿零一"),
        ("9" * 17, "九" * 17),
    ],
)
def test_hanzi_of_a_number(digits, hanzi):
    assert by_value(digits) == hanzi


def test_number_inside_a_respelled_address_is_shown_once():
    text = make_speakable(MappedText.of("www.a.org/2025年 是"), "cmn")

    assert text.text == "a 点 org 斜杠 二零二五年 是"
    assert "".join(text.shown) == "www.a.org/2025年 是"


def test_own_pronunciations_are_read_and_never_shown(tmp_path):
    path = tmp_path / "pronunciations.txt"
    path.write_text(
        "# my words\n\ngif = jiff\nSQL = sequel\n[de] Peugeot = Pöscho\n重庆 = 崇庆\nno equals\n",
        "utf-8-sig",
    )
    lexicon = Lexicon.load(path)

    english = lexicon.apply(MappedText.of("GIF and gifs, SQL, sql, Peugeot"), "en-us")
    german = lexicon.apply(MappedText.of("Peugeot"), "de")
    chinese = lexicon.apply(MappedText.of("我在重庆市"), "cmn")

    assert english.text == "jiff and gifs, sequel, sql, Peugeot"
    assert "".join(english.shown) == "GIF and gifs, SQL, sql, Peugeot"
    assert german.text == "Pöscho"
    assert chinese.text == "我在崇庆市"


@pytest.mark.parametrize(
    "content", [None, b"", b"\xff\xfe=\x00", b"=\n = x\n[de] = y\n", b"a=b" * 400_000]
)
def test_strange_lexicon_files_do_no_harm(tmp_path, content):
    path = tmp_path / "pronunciations.txt"
    if content is not None:
        path.write_bytes(content)

    text = MappedText.of("Hello a")

    assert Lexicon.load(path).apply(text, "en") == text


def test_longer_word_wins():
    lexicon = Lexicon((Entry("new", "old"), Entry("new york", "big apple")))

    assert lexicon.apply(MappedText.of("New York is new"), "en").text == "big apple is old"
