# ruff: noqa: RUF001 - marks of many scripts look like others
"""Where a voice takes a breath: sentences, pauses, and pieces short enough for a back end. Pure."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from engine.speech.mapped_text import MappedText
from engine.speech.scripts import split_by_script

PARAGRAPH_PAUSE_S = 0.8
SENTENCE_PAUSE_S = 0.4  # readers of the sample recordings pause 0.3-0.6 s
CLAUSE_PAUSE_S = 0.15
WORD_PAUSE_S = 0.02
_MUCH_LONGER = 1.4  # less is not worth a cut inside a sentence
_GROWTH = 1.5
"""A piece may be as much longer than the one before it, so that it is spoken while that one is
heard: a voice that takes .5 s for 1 s of speech and .2 s for each piece needs 1.2 s for 1.9 s."""

# Marks at which a sentence ends; those of scripts without spaces need none behind them.
_END = re.compile(
    r"[.!?…]+[\"'”’»)\]]*(?=\s)"
    r"|[。！？｡।॥؟۔።။៕]+[\"'”’»）」』】)]*"
)
_CLAUSE = re.compile(r"[,;:—–]+(?=\s)|[、，；：،؛]+")
_SPACE = re.compile(r"\s+")
_BREAK = re.compile(r"\n+")
# A full stop behind these, behind one letter or behind a short number ends no sentence.
_ABBREVIATIONS = frozenset(
    {
        "mr", "mrs", "ms", "dr", "prof", "st", "sr", "jr", "vs", "e.g", "i.e", "no", "nos", "vol",
        "fig", "pp", "approx", "dept", "gen", "gov", "sen", "rep", "rev", "capt", "lt", "col",
        "sgt", "bzw", "usw", "z.b", "d.h", "u.a", "o.ä", "nr", "str", "tel", "inkl", "ca", "evtl",
        "ggf", "vgl", "mme", "mlle", "cf", "av", "ex", "sra", "srta", "ud", "uds", "núm", "pág",
        "dott", "sig", "avv", "ул", "им", "т.е", "т.д", "т.п", "стр",
    }
)  # fmt: skip


@dataclass(frozen=True)
class Piece:
    """What is given to a voice at once, and the silence behind it in seconds."""

    text: MappedText
    pause_s: float


def split_sentences(text: MappedText, max_characters: int) -> list[Piece]:
    """Cut a cleaned text at sentence ends; what is longer still at clauses, then at words.

    Args:
        text: paragraphs parted by an empty line, other lines by a line break.
        max_characters: longest piece.

    Returns:
        Pieces in order, none empty.
    """
    pieces: list[Piece] = []
    for start, end, pause_s in _sentence_spans(text.text):
        pieces += _short_enough(text[start:end].strip(), max_characters, pause_s)
    return pieces


def by_script(piece: Piece, readable: frozenset[str]) -> Iterator[tuple[Piece, bool]]:
    """Parts of a piece and whether the voice itself can read them."""
    runs = split_by_script(piece.text.text, readable)
    for index, (start, end, is_own) in enumerate(runs):
        text = piece.text[start:end].strip()
        pause_s = piece.pause_s if index == len(runs) - 1 else WORD_PAUSE_S
        yield Piece(text, pause_s), is_own


def soon_heard(pieces: Sequence[Piece], first: int, following: int) -> list[Piece]:
    """Cut pieces that are much longer than they may be, at a clause or a word.

    Args:
        pieces: in order, at least one.
        first: longest beginning of the first one, in characters.
        following: longest piece to which those behind it grow, in characters.
    """
    cut: list[Piece] = []
    limit = first
    for piece in pieces:
        rest = piece
        while len(rest.text.text) > limit * _MUCH_LONGER:
            at, pause_s = _cut_before(rest.text.text, limit)
            cut.append(Piece(rest.text[:at].strip(), pause_s))
            rest = Piece(rest.text[at:].strip(), piece.pause_s)
            limit = min(following, round(limit * _GROWTH))
        cut.append(rest)
        limit = min(following, round(limit * _GROWTH))
    return cut


def _sentence_spans(text: str) -> Iterator[tuple[int, int, float]]:
    """Start, end and pause of every sentence, white space included."""
    ends = [
        (match.end(), PARAGRAPH_PAUSE_S if len(match.group()) > 1 else SENTENCE_PAUSE_S)
        for match in _BREAK.finditer(text)
    ]
    ends += [
        (match.end(), SENTENCE_PAUSE_S)
        for match in _END.finditer(text)
        # Right before a line break the break decides how long the pause is.
        if _ends_sentence(text, match) and not _BREAK.match(text, match.end())
    ]
    start = 0
    for end, pause_s in sorted([*ends, (len(text), SENTENCE_PAUSE_S)]):
        if text[start:end].strip():
            yield start, end, pause_s
        start = end


def _ends_sentence(text: str, match: re.Match[str]) -> bool:
    following = text[match.end() :].lstrip()[:1]
    if following.islower():
        return False
    if match.group() != ".":
        return True
    word = text[: match.start()].rpartition(" ")[2].rpartition("\n")[2].lstrip("(\"'“‘").casefold()
    return not (
        word in _ABBREVIATIONS
        or (len(word) == 1 and word.isalpha())
        or (len(word) < 3 and word.isdigit())
    )


def _short_enough(text: MappedText, max_characters: int, pause_s: float) -> Iterator[Piece]:
    while len(text.text) > max_characters:
        cut, cut_pause_s = _cut_before(text.text, max_characters)
        yield Piece(text[:cut].strip(), cut_pause_s)
        text = text[cut:].strip()
    yield Piece(text, pause_s)


def _cut_before(text: str, limit: int) -> tuple[int, float]:
    """Where to cut at or before `limit`, and the pause there; never inside a composed letter."""
    for pattern, pause_s in ((_CLAUSE, CLAUSE_PAUSE_S), (_SPACE, WORD_PAUSE_S)):
        cuts = [match.end() for match in pattern.finditer(text, 0, limit)]
        if cuts and cuts[-1] > limit // 4:  # a cut too early would leave a lonely word
            return cuts[-1], pause_s
    while limit > 1 and unicodedata.category(text[limit])[0] == "M":
        limit -= 1
    return limit, WORD_PAUSE_S
