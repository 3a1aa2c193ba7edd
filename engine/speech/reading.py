# ruff: noqa: RUF001 - marks of many scripts look like others
"""A text turned into the letters that a network of the Kokoro family speaks. Pure.

Whatever knows the sounds of a language (a lexicon, rules, espeak-ng) gives words of IPA; here they
are put back under the words people typed, with the marks at which the voice breathes.
"""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from engine.speech.symbol_timing import Symbol
from engine.speech.words import WordSpan

_MARKS = {
    "«": "“", "»": "”", "「": "“", "」": "”", "『": "“", "』": "”", "《": "“", "》": "”",
    "，": ",", "、": ",", "；": ";", "：": ":", "。": ".", "．": ".", "！": "!", "？": "?",
    "।": ".", "॥": ".", "（": "(", "）": ")", "–": "—", "―": "—", "„": "“",
} | {mark: mark for mark in ';:,.!?—…"()“”'}  # fmt: skip


_SIGNS = frozenset("%‰°€$£¥₹₽§&+=")
_LETTERS_OF_A_SIGN = 5


@dataclass(frozen=True)
class Reading:
    """The words of a text and the letters to speak, each with the index of its word."""

    spans: list[WordSpan]
    symbols: list[Symbol]


class Reader(Protocol):
    """Knows how one language sounds."""

    def read(self, text: str) -> Reading:
        """Turn cleaned text into letters.

        Raises:
            EngineError: VOICE_UNAVAILABLE when what it needs cannot run here.
        """
        ...


def read_words(spans: Sequence[WordSpan], sounds: Sequence[tuple[int, str]]) -> Reading:
    """Letters for a text from its words' sounds.

    Args:
        spans: words as typed, marks included.
        sounds: index of the span and IPA of what is read for it, in order; a span may have
            several or none.

    Returns:
        The sounds with the marks around the typed words, one space between words.
    """
    by_span: dict[int, list[str]] = {}
    for index, ipa in sounds:
        by_span.setdefault(index, []).append(ipa)
    symbols: list[Symbol] = []
    for index, span in enumerate(spans):
        before, after = _marks(span.text)
        letters = before + " ".join(by_span.get(index, ())) + after
        symbols += [Symbol(letter, index) for letter in letters]
        symbols.append(Symbol(" ", index))
    return Reading(list(spans), symbols)


def letters_of(ipa: str) -> str:
    """IPA with nasal marks of their own, as the network's alphabet has them; other marks kept."""
    return "".join(
        letter if letter == "ç" else unicodedata.normalize("NFD", letter)
        for letter in unicodedata.normalize("NFC", ipa)
    )


def align_by_length(typed: Sequence[str], read: Sequence[str]) -> list[int]:
    """Find which typed word each read word came from when their numbers differ.

    A reader may melt typed words into one (`il y a`) or read one as several (`25`); which ones
    is told by their lengths.

    Args:
        typed: words of the text, at least one.
        read: words of sounds.

    Returns:
        For each read word the index of its (first) typed word, never falling.
    """
    if len(typed) == len(read):
        return list(range(len(typed)))
    num_typed, num_read = len(typed), len(read)
    typed_lengths = [_length(word) for word in typed]
    read_lengths = [_length(word) for word in read]
    scale = sum(typed_lengths) / max(sum(read_lengths), 1)
    # best[t][r]: cost of the first t typed and r read words, and the size of its last group.
    worst = (float("inf"), 0, 0)
    best = [[worst] * (num_read + 1) for _ in range(num_typed + 1)]
    best[0][0] = (0.0, 0, 0)
    for t in range(num_typed + 1):
        for r in range(num_read + 1):
            for took, gave in _groups(t, r):
                typed_length = sum(typed_lengths[t - took : t])
                read_length = sum(read_lengths[r - gave : r])
                cost = best[t - took][r - gave][0] + abs(typed_length - scale * read_length)
                best[t][r] = min(best[t][r], (cost, took, gave))
    owners: list[int] = []
    t, r = num_typed, num_read
    while t or r:
        _, took, gave = best[t][r]
        owners[:0] = [min(t - took, num_typed - 1)] * gave
        t, r = t - took, r - gave
    return owners


def _length(word: str) -> int:
    """About how many letters are heard: a digit or a sign of money stands for a word."""
    return sum(
        _LETTERS_OF_A_SIGN if letter.isdigit() or letter in _SIGNS else letter.isalpha()
        for letter in word
    )


def _groups(t: int, r: int) -> list[tuple[int, int]]:
    """Numbers of typed and of read words that may belong together, ending at t and r."""
    shapes = [(1, gave) for gave in range(r + 1)] + [(took, 1) for took in range(2, t + 1)]
    return [(took, gave) for took, gave in (*shapes, (0, 1)) if took <= t and gave <= r]


def _marks(word: str) -> tuple[str, str]:
    """Marks before and behind the letters of a word; of a word without letters all are behind."""
    heard = [index for index, letter in enumerate(word) if letter.isalnum()]
    if not heard:
        return "", _known(word)
    return _known(word[: heard[0]]), _known(word[heard[-1] + 1 :])


def _known(marks: str) -> str:
    return "".join(_MARKS.get(mark, "") for mark in marks)
