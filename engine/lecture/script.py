"""The script of a lecture: Markdown, one `# heading` for each slide. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from engine.errors import ErrorCode, InputError
from engine.lecture.slide_names import slide_name

MAX_HEADING_CHARACTERS = 120
MAX_SILENCE_S = 300.0

_HEADING = re.compile(r" {0,3}#(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*")
_FENCE = re.compile(r" {0,3}(```|~~~)")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_PAUSE = re.compile(r"\[pause[ \t]+(\d{1,3}(?:\.\d{1,3})?)[ \t]*s?\]", re.IGNORECASE)

TEMPLATE = """\
<!-- One part for each slide, in the order of the slides. What follows a heading is spoken. -->

# Welcome

Good morning, and welcome to the course. In the next minutes you will learn how it works.

# What you need

You need a photo of yourself, your slides as PDF, and this script.

# Thank you

<!-- A slide without words stays for the seconds named here. -->
[pause 4]
"""
"""What a teacher starts from."""


@dataclass(frozen=True)
class ScriptSection:
    """What is said to one slide.

    Attributes:
        heading: without marks, never empty.
        text: as written, stripped; empty for silence.
        silence_s: how long the slide is shown without words; None = the text is spoken.
    """

    heading: str
    text: str
    silence_s: float | None = None


def parse_script(markdown: str, language: str = "en") -> tuple[ScriptSection, ...]:
    """Split a script at its headings of the first level.

    Args:
        markdown: the script.
        language: in which a slide without a heading is named.

    Raises:
        InputError: SCRIPT_WITHOUT_HEADING, or SCRIPT_SECTION_EMPTY.
    """
    found: list[tuple[str, list[str]]] = []
    is_code = False
    for number, line in enumerate(_without_comments(markdown).splitlines(), start=1):
        is_code ^= bool(_FENCE.match(line))
        heading = None if is_code else _HEADING.fullmatch(line)
        if heading is not None:
            found.append(((heading[1] or "").strip(), []))
        elif found:
            found[-1][1].append(line)
        elif line.strip():
            raise InputError(ErrorCode.SCRIPT_WITHOUT_HEADING, line=number)
    if not found:
        raise InputError(ErrorCode.SCRIPT_WITHOUT_HEADING, line=1)
    return tuple(
        _section(number, heading, "\n".join(lines).strip(), language)
        for number, (heading, lines) in enumerate(found, start=1)
    )


def write_script(sections: Sequence[ScriptSection]) -> str:
    """The Markdown of some sections; `parse_script` reads it back."""
    parts = []
    for section in sections:
        silence = f"[pause {section.silence_s:g}]" if section.silence_s is not None else ""
        parts.append(f"# {section.heading}\n\n{section.text or silence}\n")
    return "\n".join(parts)


def sections_of_notes(
    notes: Sequence[str], titles: Sequence[str], language: str = "en"
) -> tuple[ScriptSection, ...]:
    """The notes of a presentation as a script.

    Args:
        notes: of each slide.
        titles: of each slide, may be empty.
        language: in which a slide without a title is named.

    Raises:
        InputError: SCRIPT_SECTION_EMPTY when a slide has no notes.
    """
    return tuple(
        _section(number, title, note.strip(), language)
        for number, (note, title) in enumerate(zip(notes, titles, strict=True), start=1)
    )


def _section(number: int, heading: str, text: str, language: str) -> ScriptSection:
    name = " ".join(heading.split())[:MAX_HEADING_CHARACTERS] or slide_name(number, language)
    if not text:
        raise InputError(ErrorCode.SCRIPT_SECTION_EMPTY, number=number, heading=name)
    pause = _PAUSE.fullmatch(text)
    if pause is None:
        return ScriptSection(name, text)
    silence_s = min(max(float(pause[1]), 0.2), MAX_SILENCE_S)
    return ScriptSection(name, "", silence_s)


def _without_comments(markdown: str) -> str:
    """The script without comments, its lines at the same numbers."""
    text = markdown.removeprefix("\ufeff")
    return _COMMENT.sub(lambda found: "\n" * found[0].count("\n"), text)
