# ruff: noqa: RUF001 - marks of many scripts look like others
"""How Japanese is read: words and their readings by `janome`, numbers and kana by tables.

Latin words inside are read as English, so that one voice speaks a mixed sentence through. The
same readings, as kana, let espeak-ng speak kanji, which it cannot read itself.
"""

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

from engine.errors import EngineError, ErrorCode
from engine.speech.english import EnglishReader
from engine.speech.japanese_kana import is_kana, sounds_of, to_hiragana, to_katakana
from engine.speech.japanese_numbers import (
    KANJI_NUMERALS,
    counted,
    find_numbers,
    has_counter,
    kanji_value,
)
from engine.speech.reading import Reading, read_words
from engine.speech.words import split_words

PACKAGES = ("janome",)
_LATIN = re.compile(r"[A-Za-z]+(?:['’.&-][A-Za-z]+)*")
_JOINED = ("助詞", "助動詞")
"""Parts of speech said in one breath with the word before: particles, endings of verbs."""


@dataclass(frozen=True)
class JapaneseWord:
    """One stretch of a text that is said in one breath.

    Attributes:
        start, end: where it stands in the text.
        kana: how it is pronounced, in katakana; empty for marks and for Latin words.
        latin: the Latin word itself, else empty.
    """

    start: int
    end: int
    kana: str
    latin: str = ""


class JapaneseReader:
    """Reads Japanese text; loads its dictionary (20 MB) with the first one.

    Args:
        english: reads Latin words; None = they are left out.
    """

    def __init__(self, english: EnglishReader | None = None) -> None:
        self._english = english

    def read(self, text: str) -> Reading:
        """Turn text into letters of the Kokoro family.

        Raises:
            EngineError: VOICE_UNAVAILABLE when the dictionary is missing or damaged.
        """
        words = self.words(text)
        spans = split_words(text, (word.start for word in words))
        sounds: list[tuple[int, str]] = []
        index = 0
        for word in words:
            while spans[index].end <= word.start:
                index += 1
            ipa = self._latin(word.latin) if word.latin else sounds_of(word.kana)
            if ipa:
                sounds.append((index, ipa))
        return read_words(spans, sounds)

    def words(self, text: str) -> list[JapaneseWord]:
        """The text cut where one breathes between words, each with its pronunciation.

        Raises:
            EngineError: VOICE_UNAVAILABLE when the dictionary is missing or damaged.
        """
        fixed = [(start, end, kana, "") for start, end, kana in find_numbers(text)]
        numbers = (
            set().union(*(range(start, end) for start, end, _, _ in fixed)) if fixed else set()
        )
        fixed += [
            (match.start(), match.end(), "", match.group())
            for match in _LATIN.finditer(text)
            if numbers.isdisjoint(range(match.start(), match.end()))
        ]
        words: list[JapaneseWord] = []
        at = 0
        for start, end, kana, latin in sorted(fixed):
            self._add(words, text, at, start)
            words.append(JapaneseWord(start, end, kana, latin))
            at = end
        self._add(words, text, at, len(text))
        return [word for word in words if word.kana or word.latin]

    def in_kana(self, text: str) -> tuple[str, list[int]]:
        """The text in hiragana with spaces, for a voice that cannot read kanji.

        Returns:
            What to read, and for each of its characters where it came from in `text`.

        Raises:
            EngineError: VOICE_UNAVAILABLE when the dictionary is missing or damaged.
        """
        read: list[str] = []
        origins: list[int] = []
        at = 0
        for word in [*self.words(text), JapaneseWord(len(text), len(text), "")]:
            marks = text[at : word.start]
            said = word.latin or to_hiragana(word.kana)
            for piece, start in ((marks, at), (" ", at), (said, word.start)):
                read += piece
                origins += (
                    range(start, start + len(piece)) if piece is marks else [start] * len(piece)
                )
            at = word.end
        return "".join(read), origins

    def _add(self, words: list[JapaneseWord], text: str, start: int, end: int) -> None:
        """Append the words of a stretch; particles join what stands before them."""
        for word, joins in self._tokens(text, start, end):
            last = words[-1] if words else None
            if joins and last and last.end == word.start and last.kana:
                words[-1] = replace(last, end=word.end, kana=last.kana + word.kana)
            else:
                words.append(word)

    def _tokens(self, text: str, start: int, end: int) -> Iterator[tuple[JapaneseWord, bool]]:
        """Words of the dictionary, and whether each joins the one before."""
        tokens = [
            (token.surface, token.part_of_speech.split(","), token.phonetic)
            for token in self._tokenizer.tokenize(text[start:end])
        ]
        at = start
        while tokens:
            surface, kinds, phonetic = tokens.pop(0)
            if _is_numeral(surface, kinds):
                while tokens and _is_numeral(tokens[0][0], tokens[0][1]):
                    surface += tokens.pop(0)[0]
                counter = tokens.pop(0)[0] if tokens and has_counter(tokens[0][0]) else ""
                kana = counted(kanji_value(surface), counter)
                surface += counter
                joins = False
            else:
                kana = _pronounced(surface, phonetic)
                joins = kinds[0] in _JOINED or kinds[1] in ("接尾", "非自立")
            begin = text.index(surface, at)
            at = begin + len(surface)
            yield JapaneseWord(begin, at, kana), joins

    def _latin(self, word: str) -> str:
        if self._english is None:
            return ""
        return "".join(symbol.letter for symbol in self._english.read(word).symbols).strip()

    @functools.cached_property
    def _tokenizer(self) -> Any:  # noqa: ANN401 - the package has no types
        try:
            return import_module("janome.tokenizer").Tokenizer(mmap=True)
        except (ImportError, OSError) as error:
            raise EngineError(ErrorCode.VOICE_UNAVAILABLE, voice="Japanese") from error


def _is_numeral(surface: str, kinds: list[str]) -> bool:
    return kinds[1] == "数" and set(surface) <= KANJI_NUMERALS


def _pronounced(surface: str, phonetic: str) -> str:
    """Katakana of a word; what the dictionary lacks is read when it is kana itself."""
    kana = to_katakana(phonetic)
    if is_kana(kana):
        return kana
    kana = to_katakana(surface)
    return kana if is_kana(kana) else ""
