"""The fonts of words in the picture, all in `assets/fonts`: which one has a character.

A font is opened when a character of its script is met; Latin, Greek and Cyrillic cost nothing
more than before the others came.
"""

import functools
import lzma
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uharfbuzz

FONTS_DIR = Path(__file__).resolve().parents[2] / "assets" / "fonts"
_LATIN = "NotoSans-SemiBold-subset.ttf"
_CHINESE = "NotoSansSC-SemiBold-subset.ttf.xz"
_JAPANESE = "NotoSansJP-SemiBold-subset.ttf.xz"
_KANA = (0x3041, 0x30FF)

# First and last character of what each font may have, in the order in which they are asked.
_BLOCKS: tuple[tuple[int, int, tuple[str, ...]], ...] = (
    (0x0000, 0x058F, (_LATIN,)),
    (0x0590, 0x05FF, ("NotoSansHebrew-SemiBold-subset.ttf.xz",)),
    (0x0600, 0x077F, ("NotoSansArabic-SemiBold-subset.ttf.xz",)),
    (0x0900, 0x097F, ("NotoSansDevanagari-SemiBold-subset.ttf.xz",)),
    (0x1E00, 0x2E7F, (_LATIN,)),
    (0x2E80, 0xABFF, (_CHINESE, _JAPANESE)),
    (0xAC00, 0xD7FF, ("NotoSansKR-SemiBold-subset.ttf.xz",)),
    (0xF900, 0xFFFF, (_CHINESE, _JAPANESE)),
)
_BIDI_AND_JOINERS = frozenset("\u200c\u200d\u200e\u200f")


@dataclass(frozen=True)
class Typeface:
    """One opened font.

    Attributes:
        face: of uharfbuzz.
        codes: the characters it has.
    """

    face: Any
    codes: frozenset[int]


@functools.cache
def open_typeface(name: str) -> Typeface:
    """A font by its file name."""
    content = (FONTS_DIR / name).read_bytes()
    face = uharfbuzz.Face(lzma.decompress(content) if name.endswith(".xz") else content)
    return Typeface(face, frozenset(face.unicodes))


def is_japanese(text: str) -> bool:
    """Whether there is kana in it: signs shared with Chinese then look the Japanese way."""
    return any(_KANA[0] <= ord(character) <= _KANA[1] for character in text)


def typeface_of(character: str, *, japanese: bool = False) -> Typeface | None:
    """The font that draws a character; None when there is none.

    Args:
        character: one, composed.
        japanese: from `is_japanese` of the whole text.
    """
    code = ord(character)
    for name in _names_for(code, japanese=japanese):
        typeface = open_typeface(name)
        if code in typeface.codes:
            return typeface
    return None


def find_undrawable(text: str) -> str:
    """Letters and digits of a text that no font has, each once, in order."""
    missing = (
        character
        for character in unicodedata.normalize("NFC", text)
        if unicodedata.category(character)[0] in "LMN" and typeface_of(character) is None
    )
    return "".join(dict.fromkeys(missing))


def drawable(text: str) -> str:
    """The text without signs that no font has."""
    return "".join(
        character
        for character in text
        if character in _BIDI_AND_JOINERS or typeface_of(character) is not None
    )


def _names_for(code: int, *, japanese: bool) -> Iterable[str]:
    for first, last, names in _BLOCKS:
        if first <= code <= last:
            return reversed(names) if japanese else names
    return ()
