"""A person's own pronunciations: words and how they are to be read, from a plain text file.

One entry a line, `word = how to say it`; in front of the word a language in brackets restricts it
(`[de] Peugeot = Pöscho`). Lines that begin with `#` and lines without a `=` are remarks.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from engine.speech.languages import language_distance
from engine.speech.mapped_text import MappedText
from engine.speech.scripts import script_of

_LINE = re.compile(
    r"\s*(?:\[(?P<language>[\w-]+)\])?\s*(?P<word>[^#=\s][^=]*?)\s*=\s*(?P<said>\S.*?)\s*$"
)
_MAX_BYTES = 1_000_000
_UNSPACED = frozenset({"CJK", "HIRAGANA", "KATAKANA", "THAI", "MYANMAR"})


@dataclass(frozen=True)
class Entry:
    """One word.

    Attributes:
        word: as it is typed; in small letters it stands for any case.
        said: what is read in its place.
        language: BCP 47 tag it is for; None = all.
    """

    word: str
    said: str
    language: str | None = None


@dataclass(frozen=True)
class Lexicon:
    """All entries; longer words win over shorter ones."""

    entries: tuple[Entry, ...] = ()

    @classmethod
    def load(cls, path: Path) -> "Lexicon":
        """Read a file; one that is missing, unreadable or far too large gives an empty lexicon."""
        try:
            if path.stat().st_size > _MAX_BYTES:
                return cls()
            lines = path.read_text("utf-8-sig", errors="replace").splitlines()
        except OSError:
            return cls()
        matches = filter(None, map(_LINE.match, lines))
        return cls(tuple(Entry(m["word"], m["said"], m["language"]) for m in matches))

    def apply(self, text: MappedText, language: str) -> MappedText:
        """Have the words read as the entries say; readers go on seeing what was typed.

        Args:
            text: cleaned.
            language: BCP 47 tag of the voice.
        """
        said: dict[str, str] = {}
        for entry in self.entries:
            if entry.language is None or language_distance(entry.language, language) is not None:
                said[entry.word] = entry.said
        if not said:
            return text
        words = sorted(said, key=len, reverse=True)
        pattern = re.compile("|".join(map(_pattern_of, words)))
        return text.respelled(
            pattern, lambda match: said.get(match.group()) or said[match.group().lower()]
        )


def _pattern_of(word: str) -> str:
    """The whole word, in any case when it is written small."""
    before = r"(?<!\w)" if _has_edge(word[0]) else ""
    behind = r"(?!\w)" if _has_edge(word[-1]) else ""
    flag = "(?i:{})" if word == word.lower() else "{}"
    return before + flag.format(re.escape(word)) + behind


def _has_edge(character: str) -> bool:
    """Whether words that begin or end with it are parted from others by spaces."""
    return character.isalnum() and script_of(character) not in _UNSPACED
