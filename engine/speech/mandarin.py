# ruff: noqa: RUF001 - IPA letters look like others by nature
"""How Mandarin is read: words by `rjieba`, pinyin by `pypinyin`, the sounds of pinyin by a table.

Latin words inside are read as English, so that one voice speaks a mixed sentence through.
"""

import functools
import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any, NamedTuple

from engine.errors import EngineError, ErrorCode
from engine.speech.english import EnglishReader
from engine.speech.reading import Reading, read_words
from engine.speech.words import split_words

_HANZI = "\u3400-\u9fff\uf900-\ufaff\u3007"
_PART = re.compile(
    f"(?P<hanzi>[{_HANZI}]+)|(?P<latin>[A-Za-z]+(?:['’.&-][A-Za-z]+)*)|(?P<digit>[0-9])"
)
_DIGITS = "零一二三四五六七八九"

_INITIALS = {
    "b": "p", "p": "pʰ", "m": "m", "f": "f", "d": "t", "t": "tʰ", "n": "n", "l": "l",
    "g": "k", "k": "kʰ", "h": "x", "j": "ʨ", "q": "ʨʰ", "x": "ɕ",
    "zh": "ꭧ", "ch": "ꭧʰ", "sh": "ʂ", "r": "ɻ", "z": "ʦ", "c": "ʦʰ", "s": "s",
}  # fmt: skip
# "0" is where the tone stands: behind the vowel that carries it. pypinyin writes ü as v.
_FINALS = {
    "a": "a0", "ai": "ai0", "an": "a0n", "ang": "a0ŋ", "ao": "au0", "e": "ɤ0", "ei": "ei0",
    "en": "ə0n", "eng": "ə0ŋ", "er": "ɚ0", "i": "i0", "ia": "ja0", "ian": "jɛ0n", "iang": "ja0ŋ",
    "iao": "jau0", "ie": "je0", "in": "i0n", "ing": "i0ŋ", "iong": "jʊ0ŋ", "iou": "jou0",
    "o": "wo0", "ong": "ʊ0ŋ", "ou": "ou0", "u": "u0", "ua": "wa0", "uai": "wai0", "uan": "wa0n",
    "uang": "wa0ŋ", "uei": "wei0", "uen": "wə0n", "ueng": "wə0ŋ", "uo": "wo0",
    "v": "y0", "van": "ɥɛ0n", "ve": "ɥe0", "vn": "y0n", "n": "ə0n", "ng": "ə0ŋ", "m": "m0",
    "io": "jo0", "ê": "ɛ0",
}  # fmt: skip
_BUZZED = "ɨ0"  # the vowel of zhi, chi, shi, ri, zi, ci, si
_BUZZING = frozenset({"zh", "ch", "sh", "r", "z", "c", "s"})
_TONES = {"1": "→", "2": "↗", "3": "↓", "4": "↘"}  # the fifth, neutral, has none


PACKAGES = ("rjieba", "pypinyin")


class MandarinReader:
    """Reads Chinese text; loads its dictionaries with the first one."""

    def __init__(self, english: EnglishReader) -> None:
        self._english = english

    def read(self, text: str) -> Reading:
        """Turn text into letters.

        Raises:
            EngineError: VOICE_UNAVAILABLE when a package is missing or damaged.
        """
        words = list(self._words(text))
        spans = split_words(text, (start for start, _ in words))
        sounds: list[tuple[int, str]] = []
        index = 0
        for start, ipa in words:
            while spans[index].end <= start:
                index += 1
            sounds.append((index, ipa))
        return read_words(spans, sounds)

    def _words(self, text: str) -> Iterator[tuple[int, str]]:
        """Where each word begins, and its sounds."""
        for part in _PART.finditer(text):
            if part["latin"]:
                letters = (symbol.letter for symbol in self._english.read(part["latin"]).symbols)
                yield part.start(), "".join(letters).strip()
                continue
            hanzi = part["hanzi"] or _DIGITS[int(part["digit"])]
            at = part.start()
            for word in self._packages.rjieba.cut(hanzi):
                yield at, self._sounds(word)
                at += len(word)

    def _sounds(self, word: str) -> str:
        pypinyin = self._packages.pypinyin
        initials = pypinyin.lazy_pinyin(word, style=pypinyin.Style.INITIALS)
        finals = pypinyin.lazy_pinyin(
            word, style=pypinyin.Style.FINALS_TONE3, neutral_tone_with_five=True
        )
        return "".join(map(_syllable, initials, finals))

    @functools.cached_property
    def _packages(self) -> "_Packages":
        try:
            return _Packages(import_module("rjieba"), import_module("pypinyin"))
        except (ImportError, OSError) as error:
            raise EngineError(ErrorCode.VOICE_UNAVAILABLE, voice="Mandarin") from error


class _Packages(NamedTuple):
    """What is loaded with the first text; used without types."""

    rjieba: Any
    pypinyin: Any


def _syllable(initial: str, final: str) -> str:
    """IPA of one syllable, such as `zh` and `ong1`; empty for what is no pinyin."""
    vowel, tone = final[:-1], final[-1:]
    ipa = _BUZZED if vowel == "i" and initial in _BUZZING else _FINALS.get(vowel, "")
    return _INITIALS.get(initial, "") + ipa.replace("0", _TONES.get(tone, ""))
