# ruff: noqa: RUF001 - letters of many scripts look like others
"""Words in the picture: fonts, shapes, joined letters, and the order in which they stand."""

import numpy as np
import pytest

from engine.media.lettering import lay_out
from engine.media.reading_order import in_order, is_from_right
from engine.media.typefaces import FONTS_DIR, find_undrawable, is_japanese, typeface_of

TEXTS = {
    "latin": "Grüße, Ελλάδα, Жизнь, Tiếng Việt, 5 € – ok? “x” №1",
    "composed": "e\u0301 ọ\u0301",
    "chinese": "今天是2025年，我喜欢HT和SUV。這是繁體字。",
    "japanese": "こんにちは、直感的なスタジオへようこそ。",
    "korean": "안녕하세요, 스튜디오에 오신 것을 환영합니다.",
    "arabic": "مرحبًا بكم، هذا ٢٥ فيديو؟",
    "persian": "می‌خواهم؛ گچ پژ",
    "urdu": "یہ ایک ٹیسٹ ہے۔",
    "hebrew": "שָׁלוֹם עולם",
    "hindi": "नमस्ते, यह क्षत्रिय और प्रार्थना है।",
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_scripts_of_our_fonts_are_drawn(text):
    assert find_undrawable(text) == ""
    line = lay_out(text, 24)
    assert all(glyph.number for glyph in line.glyphs), "no empty box"
    assert line.mask(2).max() == 255


def test_what_no_font_has_is_told_and_left_out():
    assert find_undrawable("Hi ก ሰላም ok ก") == "กሰላም"
    assert lay_out("ok ก ok", 24).width_px == pytest.approx(lay_out("ok  ok", 24).width_px)


def test_fonts_keep_to_their_budget():
    assert sum(path.stat().st_size for path in FONTS_DIR.iterdir()) < 2_700_000


def test_arabic_letters_join():
    apart = sum(lay_out(letter, 40).width_px for letter in "سلام")

    assert lay_out("سلام", 40).width_px < 0.85 * apart


def test_vowel_sign_of_hindi_stands_before_its_letter():
    glyphs = lay_out("कि", 40).glyphs
    alone = lay_out("क", 40).glyphs[0].number

    assert [glyph.number == alone for glyph in glyphs] == [False, True]


def test_kanji_beside_kana_look_japanese():
    chinese, japanese = (typeface_of("骨", japanese=is_japanese(text)) for text in ("骨", "骨の"))

    assert chinese is not japanese
    assert lay_out("骨", 40, "骨の").glyphs[0].typeface is japanese


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("plain text", ["plain text"]),
        ("سلام", ["سلام"]),
        ("سلام Sonic Studio كل", [" كل", "Sonic Studio", "سلام "]),
        ("في 2025 و 12:30 هنا", [" هنا", "12:30", " و ", "2025", "في "]),
        ("He said שלום עולם twice", ["He said ", "שלום עולם", " twice"]),
        ("אחד (שניים)", ["אחד (שניים)"]),
    ],
)
def test_parts_stand_in_reading_order(text, parts):
    found = in_order(text, from_right=is_from_right(text))

    assert [text[part.first : part.last] for part in found] == parts


def test_said_word_of_arabic_is_found_at_its_place():
    text = "واحد اثنان ثلاثة"
    line = lay_out(text, 40)
    whole, first, last = line.mask(0), line.mask(0, 0, 4), line.mask(0, 11, 16)

    columns = [np.flatnonzero(mask.any(axis=0)) for mask in (first, last)]
    assert columns[0].min() > columns[1].max(), "the first word stands on the right"
    assert (first <= whole).all()
