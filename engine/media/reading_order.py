"""In which order the parts of a line stand: Arabic and Hebrew run from the right. Pure.

The rules are those of Unicode's bidirectional algorithm as far as text without control
characters needs them.
"""

import itertools
import unicodedata
from dataclasses import dataclass

_LEFT, _RIGHT, _NUMBER, _NEUTRAL = "L", "R", "N", "?"
_KINDS = {"L": _LEFT, "R": _RIGHT, "AL": _RIGHT, "EN": _NUMBER, "AN": _NUMBER}
_INSIDE_NUMBERS = frozenset({"CS", "ES"})  # between two digits: 1,000 and 12:30
_AT_NUMBERS = frozenset({"ET"})  # beside a digit: 5 % and $5


@dataclass(frozen=True)
class Stretch:
    """A part of a line in one direction: `text[first:last]`."""

    first: int
    last: int
    is_rightward: bool


def is_from_right(text: str) -> bool:
    """Whether a text as a whole runs from right to left: its first letter tells."""
    directions = (unicodedata.bidirectional(character) for character in text)
    return next((way != "L" for way in directions if way in ("L", "R", "AL")), False)


def in_order(text: str, *, from_right: bool) -> list[Stretch]:
    """The parts of a line from left to right.

    Args:
        text: one line.
        from_right: from `is_from_right` of the whole caption.
    """
    levels = _levels(text, from_right=from_right)
    runs = [
        (level, [index for index, _ in group])
        for level, group in itertools.groupby(enumerate(levels), key=lambda pair: pair[1])
    ]
    stretches = [Stretch(run[0], run[-1] + 1, level % 2 == 0) for level, run in runs]
    heights = [level for level, _ in runs]
    for height in range(max(heights, default=0), 0, -1):
        at = 0
        for is_high, group in itertools.groupby(heights, key=lambda level: level >= height):
            count = len(list(group))
            if is_high:
                stretches[at : at + count] = stretches[at : at + count][::-1]
                heights[at : at + count] = heights[at : at + count][::-1]
            at += count
    return stretches


def _levels(text: str, *, from_right: bool) -> list[int]:
    """Even = from the left; what is inside the other direction is one higher."""
    kinds = _with_neutrals(_kinds(text), from_right=from_right)
    base = 1 if from_right else 0
    levels, strong = [], _RIGHT if from_right else _LEFT
    for kind in kinds:
        strong = kind if kind in (_LEFT, _RIGHT) else strong
        if kind == _RIGHT:
            levels.append(1)
        elif kind == _LEFT:
            levels.append(2 * base)
        else:
            levels.append(2 if from_right or strong == _RIGHT else 0)
    return levels


def _kinds(text: str) -> list[str]:
    """Of each character; marks go with their letter, signs of numbers with these."""
    ways = [unicodedata.bidirectional(character) for character in text]
    kinds: list[str] = []
    for index, way in enumerate(ways):
        is_mark = way == "NSM" and kinds
        kinds.append(kinds[-1] if is_mark else _KINDS.get(way, _NEUTRAL))
        around = {index - 1, index + 1} & set(range(len(ways)))
        digits = [ways[beside] in ("EN", "AN") for beside in around]
        inside = way in _INSIDE_NUMBERS and len(digits) > 1 and all(digits)
        if inside or (way in _AT_NUMBERS and any(digits)):
            kinds[-1] = _NUMBER
    return kinds


def _with_neutrals(kinds: list[str], *, from_right: bool) -> list[str]:
    """Spaces and marks between two parts of one direction go with them, others with the line."""
    own = _RIGHT if from_right else _LEFT
    resolved: list[str] = []
    strong = own
    at = 0
    while at < len(kinds):
        if kinds[at] != _NEUTRAL:
            strong = kinds[at] if kinds[at] != _NUMBER else strong
            resolved.append(kinds[at])
            at += 1
            continue
        end = next((i for i in range(at, len(kinds)) if kinds[i] != _NEUTRAL), len(kinds))
        before = own if at == 0 else _side(kinds[at - 1], strong)
        behind = own if end == len(kinds) else _side(kinds[end], strong)
        resolved += [before if before == behind else own] * (end - at)
        at = end
    return resolved


def _side(kind: str, strong: str) -> str:
    """The direction that a part lends to neutral neighbours; numbers count as what was before."""
    return strong if kind == _NUMBER else kind
