"""Which stretch of a text a sound belongs to, whatever the back end's own idea of a word is."""

import difflib
import itertools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from engine.speech.voice import TimedPhoneme, TimedWord

# Scripts written without spaces: Thai to Lao, Myanmar, Khmer, kana, Han, full-width forms.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]"
)


@dataclass(frozen=True)
class WordSpan:
    """One word with its punctuation: `text` is ``source[start:end]``."""

    text: str
    start: int
    end: int


def split_words(text: str, cuts: Iterable[int] = ()) -> list[WordSpan]:
    """Cut a text at white space, and where no spaces are written also at `cuts`.

    Args:
        text: what was spoken.
        cuts: characters at which the back end began a word of its own.

    Returns:
        Spans in order, together all of the text but its white space.
    """
    inner = sorted(set(cuts))
    spans: list[WordSpan] = []
    for match in re.finditer(r"\S+", text):
        edges = [match.start(), match.end()]
        if _UNSPACED.search(match.group()):
            edges[1:1] = [cut for cut in inner if match.start() < cut < match.end()]
        spans += [WordSpan(text[start:end], start, end) for start, end in itertools.pairwise(edges)]
    return spans


def is_unspaced(text: str) -> bool:
    """Whether there is a letter of a script without spaces between words in it."""
    return _UNSPACED.search(text) is not None


def time_words(
    spans: Sequence[WordSpan], owned: Iterable[tuple[int, TimedPhoneme]]
) -> tuple[TimedWord, ...]:
    """Give each word the time of its sounds.

    Args:
        spans: from `split_words`.
        owned: index of the span and the sound, in order.

    Returns:
        One entry for each word that is heard; a dash or other silent piece joins the word
        before it, so that the words put together are what was typed.
    """
    times: dict[int, tuple[float, float]] = {}
    for index, phoneme in owned:
        start_s, _ = times.get(index, (phoneme.start_s, 0.0))
        times[index] = (start_s, phoneme.end_s)
    words: list[TimedWord] = []
    before = ""
    for index, span in enumerate(spans):
        if index in times:
            words.append(TimedWord(before + span.text, *times[index]))
            before = ""
        elif words:
            last = words.pop()
            words.append(TimedWord(f"{last.text} {span.text}", last.start_s, last.end_s))
        else:
            before += span.text + " "
    return tuple(words)


def match_words(typed: Sequence[str], read: Sequence[str]) -> list[int]:
    """Find which typed word each read word came from, after numbers and such were spelled out.

    Args:
        typed: words of the text, `$9.99`; at least one.
        read: words of the text as it was read, `nine`, `dollars`, ...

    Returns:
        For each read word the index of its typed word, never falling.
    """
    plain_typed = [_plain(word) for word in typed]
    plain_read = [_plain(word) for word in read]
    matcher = difflib.SequenceMatcher(None, plain_typed, plain_read, autojunk=False)
    owners: list[int] = []
    for _, typed_from, typed_to, read_from, read_to in matcher.get_opcodes():
        num_typed, num_read = typed_to - typed_from, read_to - read_from
        # Equal stretches map one to one; unlike ones are spread evenly over what they replace.
        owners += [
            min(typed_from + index * num_typed // num_read, len(typed) - 1)
            for index in range(num_read)
        ]
    return owners


def _plain(word: str) -> str:
    """For comparing: small letters, no marks around."""
    return re.sub(r"^\W+|\W+$", "", word.casefold())
