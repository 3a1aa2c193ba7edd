# ruff: noqa: RUF001 - IPA letters look like others by nature
"""From symbols with durations, as the Kokoro family gives them, to sounds on the clock. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from engine.speech.ipa import LENGTH, NASAL, clean_ipa
from engine.speech.voice import TimedPhoneme

OFFSET_S = -0.05
"""The durations place every sound late by this much, measured against the energy of vowels
(hibari, five sentences: 45, 50, 50, 50 and 60 ms)."""
_PAUSE_S = 0.1  # punctuation shorter than this is spoken through
_STRESS = frozenset("ˈˌ")
# Tones and the colour of a consonant are written behind the sound that they belong to.
_COLOURS = frozenset("↓→↗↘ʰʲᵝ")
_BREAKS = frozenset(' ;:,.!?—…"()“”')
_STOPS = frozenset("pbtdkɡqɟcʔʈɖʧʤʦʣʨʥꭧT")
# The alphabet of these voices writes diphthongs and the tap as capitals, Mandarin's affricates
# as one letter.
_OWN_LETTERS = {
    "A": "eɪ", "I": "aɪ", "O": "oʊ", "Q": "əʊ", "W": "aʊ", "Y": "ɔɪ", "T": "ɾ",
    "ꭧ": "ʈʂ", "ʨ": "tɕ", "ʥ": "dʑ",
}  # fmt: skip


@dataclass(frozen=True)
class Symbol:
    """One letter of the voice's alphabet and the index of the word it belongs to."""

    letter: str
    word: int


def place_sounds(
    symbols: Sequence[Symbol], durations_s: Sequence[float], offset_s: float = OFFSET_S
) -> list[tuple[int, TimedPhoneme]]:
    """Put the sounds of one run of the network on its clock.

    Stress marks belong to the vowel behind them; length, nasal marks and tones to the sound before.
    Spaces and short punctuation are no silence: a stop consonant takes them as its closure,
    else both neighbours share them.

    Args:
        symbols: as given to the network, without its padding.
        durations_s: of the padding before, of every symbol, of the padding behind.
        offset_s: how late the durations place every sound, below 0.

    Returns:
        Word index and sound, in order; silences left out; times from 0.
    """
    placed: list[tuple[int, TimedPhoneme]] = []
    at_s = durations_s[0] + offset_s
    begins_s = at_s  # of the next sound, earlier than `at_s` by stress marks before it
    gap, gap_from_s = "", at_s
    for symbol, duration_s in zip(symbols, durations_s[1:], strict=False):
        letter, ends_s = symbol.letter, at_s + duration_s
        if letter in _BREAKS:
            gap_from_s = gap_from_s if gap else at_s
            gap += letter
            begins_s = ends_s
        elif letter in (LENGTH, NASAL) or letter in _COLOURS:
            if placed:
                word, before = placed[-1]
                ipa = before.ipa if letter in _COLOURS else before.ipa + letter
                placed[-1] = (word, replace(before, ipa=ipa, end_s=ends_s))
            begins_s = ends_s
        elif letter not in _STRESS and (ipa := clean_ipa(_OWN_LETTERS.get(letter, letter))):
            if gap and placed and not _is_pause(gap, at_s - gap_from_s):
                begins_s = _share_gap(placed, letter, gap_from_s, begins_s)
            placed.append((symbol.word, TimedPhoneme(ipa, begins_s, ends_s)))
            gap, begins_s = "", ends_s
        at_s = ends_s
    return [(word, _from_zero(sound)) for word, sound in placed if sound.end_s > 0]


def _is_pause(gap: str, gap_s: float) -> bool:
    return bool(gap.strip()) and gap_s >= _PAUSE_S


def _share_gap(
    placed: list[tuple[int, TimedPhoneme]], next_letter: str, from_s: float, to_s: float
) -> float:
    """Lengthen the sound before by its part of the gap; return where the next one begins."""
    cut_s = from_s if next_letter in _STOPS else (from_s + to_s) / 2
    word, before = placed[-1]
    placed[-1] = (word, replace(before, end_s=cut_s))
    return cut_s


def _from_zero(sound: TimedPhoneme) -> TimedPhoneme:
    return replace(sound, start_s=max(0.0, sound.start_s))
