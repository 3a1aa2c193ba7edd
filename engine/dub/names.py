"""What the files of a batch are called: by the row's name and language, safe on every system.

The names come from people, so they are only ever used inside an archive, or in a folder that
whoever asked named themselves.
"""

import unicodedata
from collections.abc import Iterable

MAX_CHARACTERS = 60
"""Leaves room for an ending, and for folders, in the 260 characters of an old Windows."""

# Names that Windows keeps for its devices, whatever ending follows.
_DEVICES = {
    "con",
    "prn",
    "aux",
    "nul",
    *(f"{port}{n}" for port in ("com", "lpt") for n in range(10)),
}


def file_stems(rows: Iterable[tuple[str, str | None]]) -> list[str]:
    """A file name without an ending for each row, no two alike on any system.

    Args:
        rows: name and language of each, in order; both may be missing.
    """
    stems: list[str] = []
    taken: set[str] = set()
    for number, (name, language) in enumerate(rows, start=1):
        wanted = _stem(name, language) or f"video-{number}"
        stem, count = wanted, 1
        while stem.casefold() in taken:  # folders of Windows and macOS know no capitals
            count += 1
            stem = f"{wanted}-{count}"
        taken.add(stem.casefold())
        stems.append(stem)
    return stems


def _stem(name: str, language: str | None) -> str:
    base, tag = _safe(name)[:MAX_CHARACTERS].strip("-. "), _safe(language or "")
    says_language = tag and (base == tag or base.endswith(f"-{tag}"))
    stem = base if says_language else "-".join(filter(None, (base, tag)))
    return f"_{stem}" if stem.partition(".")[0].casefold() in _DEVICES else stem


def _safe(text: str) -> str:
    """Letters, digits and marks of any script stay; everything else becomes one hyphen."""
    composed = unicodedata.normalize("NFC", text)
    kept = (
        character if unicodedata.category(character)[0] in "LMN" or character in "_." else " "
        for character in composed
    )
    return "-".join("".join(kept).split()).strip("-.")
