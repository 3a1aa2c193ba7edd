"""Which stretch of a text a sound belongs to, whatever the back end's own idea of a word is."""

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
