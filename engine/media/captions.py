# ruff: noqa: RUF001 - marks of many scripts look like others
"""Captions: words with times become cues, cues become SRT or WebVTT. Pure but for the two writers.

A cue holds at most two lines, starts with its first word, and never touches the next one.
"""

import functools
import math
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from engine.media.atomic import replace_when_done
from engine.speech.voice import TimedWord
from engine.speech.words import is_unspaced

MAX_LINES = 2
LINE_COLUMNS = 42
"""Longest line: the usual limit of broadcasters. A Chinese or Japanese character is two columns."""

GAP_S = 0.08
"""Kept free before the next cue, so that the eye sees the change: two frames at 25 fps."""

LINGER_S = 0.2
"""How long a cue stays after its last word."""

MIN_S = 0.8
"""Shorter cues cannot be read; they join their neighbour or stay into the silence behind them."""

MAX_S = 7.0
_JOIN_GAP_S = 0.5  # sentences further apart are never one cue
_STYLE = "STYLE\n::cue(:future) { color: #b8b8b8 }\n"
_SENTENCE_MARKS = frozenset(".!?…。！？।॥؟۔")
_CLAUSE_MARKS = frozenset(",;:—–-、，；：،؛")
_CLOSING = "\"'”’»)]）」』】"

# What one more cue and a cut inside a clause cost, against parts of unlike length: a part half
# as long as the others costs 0.25.
_A_CUE = 0.2
_INSIDE_A_CLAUSE = 0.35


@dataclass(frozen=True)
class CueWord:
    """Where and when one word of a cue is said: `line[first:last]` from `start_s` on."""

    start_s: float
    line: int
    first: int
    last: int


@dataclass(frozen=True)
class Cue:
    """What stands in the picture for a while.

    Attributes:
        start_s, end_s: on the clock of the video.
        lines: one or two, top first, without line breaks.
        words: in order, for highlighting the one that is said; empty when not known.
    """

    start_s: float
    end_s: float
    lines: tuple[str, ...]
    words: tuple[CueWord, ...] = ()


@dataclass(frozen=True)
class _Unit:
    """A word, or a part of one that is longer than a line; `glued` = no space before it."""

    text: str
    start_s: float
    end_s: float
    glued: bool

    @functools.cached_property
    def columns(self) -> int:
        """Its width."""
        return width_of(self.text)


def build_cues(
    words: Sequence[TimedWord], duration_s: float, columns: int = LINE_COLUMNS
) -> tuple[Cue, ...]:
    """Lay words out as cues.

    Args:
        words: in order, as typed.
        duration_s: length of the video; no cue stays longer.
        columns: longest line, at least 8; wide characters count two.

    Returns:
        Cues in order, with at least `GAP_S` between them.
    """
    units = [unit for word in words for unit in _units(word, columns)]
    groups: list[list[_Unit]] = []
    for sentence in _sentences(_unglued(units)):
        for group in _split(sentence, columns):
            if groups and _can_join(groups[-1], group, columns):
                groups[-1] = [*groups[-1], *group]
            else:
                groups.append(group)
    cues: list[Cue] = []
    for index, group in enumerate(groups):
        latest_s = groups[index + 1][0].start_s - GAP_S if index + 1 < len(groups) else duration_s
        start_s, last_s = group[0].start_s, group[-1].end_s
        end_s = min(max(last_s + LINGER_S, start_s + MIN_S), latest_s)
        # Words that follow each other without a pause: the gap is taken from this cue's end.
        lines = _lines(group, columns)
        shown = tuple(map(_text, lines))
        cues.append(Cue(start_s, max(end_s, start_s + GAP_S), shown, _placed(lines)))
    return tuple(cues)


def width_of(text: str) -> int:
    """Columns of a text: wide characters are two, marks that stand on others none."""
    return sum(
        0
        if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf")
        else 2
        if unicodedata.east_asian_width(character) in "WF"
        else 1
        for character in text
    )


def as_srt(cues: Sequence[Cue]) -> str:
    """SubRip text."""
    return "\n".join(
        f"{number}\n{_clock(cue.start_s, ',')} --> {_clock(cue.end_s, ',')}\n"
        + "\n".join(cue.lines)
        + "\n"
        for number, cue in enumerate(cues, start=1)
    )


def as_vtt(cues: Sequence[Cue], *, highlights: bool = False) -> str:
    """WebVTT text.

    Args:
        cues: in order.
        highlights: mark when each word is said; players then show those to come in grey.
    """
    blocks = [
        f"{_clock(cue.start_s, '.')} --> {_clock(cue.end_s, '.')}\n"
        + "\n".join(_timed_lines(cue) if highlights else map(_escaped, cue.lines))
        + "\n"
        for cue in cues
    ]
    return "\n".join(["WEBVTT\n", *([_STYLE] if highlights else []), *blocks])


def write_captions(cues: Sequence[Cue], srt: Path, vtt: Path, *, highlights: bool = False) -> None:
    """Write both files in UTF-8, each atomically; only WebVTT can mark words."""
    for path, text in ((srt, as_srt(cues)), (vtt, as_vtt(cues, highlights=highlights))):
        with replace_when_done(path) as part:
            part.write_text(text, "utf-8", newline="\n")


def _clock(time_s: float, mark: str) -> str:
    milliseconds = round(time_s * 1000)
    seconds, milliseconds = divmod(milliseconds, 1000)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02}:{minutes:02}:{seconds:02}{mark}{milliseconds:03}"


def _escaped(line: str) -> str:
    return line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _timed_lines(cue: Cue) -> list[str]:
    """The lines with the time before each word but the first, as WebVTT marks them."""
    lines = []
    for index, line in enumerate(cue.lines):
        marked, at = "", 0
        for word in (word for word in cue.words if word.line == index):
            is_inside = cue.start_s < word.start_s < cue.end_s
            mark = f"<{_clock(word.start_s, '.')}>" if is_inside else ""
            marked += (
                _escaped(line[at : word.first]) + mark + _escaped(line[word.first : word.last])
            )
            at = word.last
        lines.append(marked + _escaped(line[at:]))
    return lines


def _placed(lines: Sequence[Sequence[_Unit]]) -> tuple[CueWord, ...]:
    """Where each word stands; parts of one that was cut count as words."""
    placed = []
    for index, units in enumerate(lines):
        at = 0
        for number, unit in enumerate(units):
            at += bool(number) and not unit.glued
            placed.append(CueWord(unit.start_s, index, at, at + len(unit.text)))
            at += len(unit.text)
    return tuple(placed)


def _units(word: TimedWord, columns: int) -> Iterator[_Unit]:
    """The word, cut into equal parts when it is longer than a line."""
    parts = [""]
    for character in word.text:
        if width_of(parts[-1] + character) > columns:
            parts.append("")
        parts[-1] += character
    length_s = (word.end_s - word.start_s) / len(parts)
    for index, part in enumerate(parts):
        start_s = word.start_s + index * length_s
        yield _Unit(part, start_s, start_s + length_s, glued=index > 0)


def _unglued(units: Sequence[_Unit]) -> list[_Unit]:
    """The same, with words glued where their script writes no spaces."""
    spaced = list(units)
    for index in range(1, len(spaced)):
        before, unit = spaced[index - 1], spaced[index]
        if is_unspaced(before.text[-1:]) or is_unspaced(unit.text[:1]):
            spaced[index] = replace(unit, glued=True)
    return spaced


def _text(units: Sequence[_Unit]) -> str:
    return "".join(
        unit.text if unit.glued or not index else " " + unit.text
        for index, unit in enumerate(units)
    )


def _sentences(units: Sequence[_Unit]) -> Iterator[list[_Unit]]:
    sentence: list[_Unit] = []
    for unit in units:
        if sentence and unit.start_s - sentence[-1].end_s > _JOIN_GAP_S:
            yield sentence
            sentence = []
        sentence.append(unit)
        if _ends_with(unit, _SENTENCE_MARKS):
            yield sentence
            sentence = []
    if sentence:
        yield sentence


def _ends_with(unit: _Unit, marks: frozenset[str]) -> bool:
    return unit.text.rstrip(_CLOSING)[-1:] in marks


def _fits(units: Sequence[_Unit], columns: int) -> bool:
    """Whether these words may be one cue; a single one always may."""
    if len(units) == 1:
        return True
    if units[-1].end_s - units[0].start_s > MAX_S:
        return False
    num_lines, column = 1, 0
    for unit in units:
        column += unit.columns + (column > 0 and not unit.glued)
        if column > columns:
            num_lines, column = num_lines + 1, unit.columns
    return num_lines <= MAX_LINES


def _can_join(group: Sequence[_Unit], following: Sequence[_Unit], columns: int) -> bool:
    """Whether one of two neighbours is too short to stand alone, and both fit into one cue."""
    is_short = any(part[-1].end_s - part[0].start_s < MIN_S for part in (group, following))
    is_near = following[0].start_s - group[-1].end_s <= _JOIN_GAP_S
    return is_short and is_near and _fits([*group, *following], columns)


def _split(sentence: list[_Unit], columns: int) -> list[list[_Unit]]:
    """Cut a sentence into as few cues as it needs, at clauses and evenly."""
    if _fits(sentence, columns):
        return [sentence]
    reach = [0]  # columns before each unit, spaces included
    for unit in sentence:
        reach.append(reach[-1] + unit.columns + (not unit.glued))
    length_s = sentence[-1].end_s - sentence[0].start_s
    num_parts = math.ceil(max(reach[-1] / (MAX_LINES * columns), length_s / MAX_S))
    even = reach[-1] / num_parts
    # Cost of the first units cut in the cheapest way, and where their last part begins.
    best: list[tuple[float, int]] = [(0.0, 0)]
    for end in range(1, len(sentence) + 1):
        choices: list[tuple[float, int]] = []
        for begin in range(end - 1, -1, -1):
            if not _fits(sentence[begin:end], columns):
                break
            unlike = ((reach[end] - reach[begin]) / even - 1) ** 2
            choices.append((best[begin][0] + unlike + _A_CUE, begin))
        cost, begin = min(choices)
        is_inside = end < len(sentence)
        cost += _cut_cost(sentence[end - 1], sentence[end]) if is_inside else 0.0
        best.append((cost, begin))
    groups: list[list[_Unit]] = []
    end = len(sentence)
    while end:
        begin = best[end][1]
        groups.insert(0, sentence[begin:end])
        end = begin
    return groups


def _cut_cost(before: _Unit, behind: _Unit) -> float:
    if _ends_with(before, _CLAUSE_MARKS):
        return 0.0
    pause_s = behind.start_s - before.end_s
    return _INSIDE_A_CLAUSE - min(pause_s, _INSIDE_A_CLAUSE)


def _lines(units: Sequence[_Unit], columns: int) -> tuple[Sequence[_Unit], ...]:
    """One line if it fits, else two of about the same length, else as many as it takes."""
    if width_of(_text(units)) <= columns:
        return (units,)
    pairs = [(units[:cut], units[cut:]) for cut in range(1, len(units))]
    fitting = [
        (top, bottom)
        for top, bottom in pairs
        if max(width_of(_text(top)), width_of(_text(bottom))) <= columns
    ]
    if fitting:
        return min(fitting, key=lambda pair: _line_cost(*pair))
    lines: list[list[_Unit]] = [[]]
    for unit in units:
        if lines[-1] and width_of(_text([*lines[-1], unit])) > columns:
            lines.append([])
        lines[-1].append(unit)
    return tuple(lines)


def _line_cost(top: Sequence[_Unit], bottom: Sequence[_Unit]) -> float:
    """How unlike two lines are, in columns; a break behind a clause is worth a few."""
    unlike = abs(width_of(_text(top)) - width_of(_text(bottom)))
    return unlike - (8 if _ends_with(top[-1], _CLAUSE_MARKS) else 0)
