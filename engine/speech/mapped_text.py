"""A text that remembers what was typed while it is rewritten for a voice."""

import itertools
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class MappedText:
    """What a voice reads, and beside each character what people see in its place.

    Attributes:
        text: what is read.
        shown: one entry a character: usually the character itself; where `www.a.org` is read as
            `a dot org`, the first letter shows all of `www.a.org` and the others nothing.
    """

    text: str
    shown: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> "MappedText":
        """A text that is read as it is shown."""
        return cls(text, tuple(text))

    def __getitem__(self, part: slice) -> "MappedText":
        return MappedText(self.text[part], self.shown[part])

    def strip(self) -> "MappedText":
        """Without white space at either end."""
        start = len(self.text) - len(self.text.lstrip())
        return self[start : max(start, len(self.text.rstrip()))]

    def cleaned(
        self, pattern: re.Pattern[str], replacement: str | Callable[[re.Match[str]], str] = ""
    ) -> "MappedText":
        """Replace every match, for voice and reader alike."""
        if callable(replacement):
            return self._replaced(pattern, lambda match: MappedText.of(replacement(match)))
        same = MappedText.of(replacement)
        return self._replaced(pattern, lambda _: same)

    def kept(self, pattern: re.Pattern[str]) -> "MappedText":
        """Leave only the first group of every match: what stands inside some mark-up."""
        return self._replaced(pattern, lambda match: self[match.start(1) : match.end(1)])

    def respelled(
        self, pattern: re.Pattern[str], spell: Callable[[re.Match[str]], str]
    ) -> "MappedText":
        """Have every match read as `spell` says, while readers go on seeing what they saw."""

        def spoken(match: re.Match[str]) -> MappedText:
            text = spell(match)
            if text == match.group():
                return self[match.start() : match.end()]
            seen = "".join(self.shown[match.start() : match.end()])
            return MappedText(text, tuple([seen, *[""] * (len(text) - 1)][: len(text)]))

        return self._replaced(pattern, spoken)

    def _replaced(
        self, pattern: re.Pattern[str], replace: Callable[[re.Match[str]], "MappedText"]
    ) -> "MappedText":
        parts: list[MappedText] = []
        at = 0
        for match in pattern.finditer(self.text):
            parts += [self[at : match.start()], replace(match)]
            at = match.end()
        return _joined([*parts, self[at:]])


def _joined(parts: Iterable[MappedText]) -> MappedText:
    kept = list(parts)
    return MappedText(
        "".join(part.text for part in kept),
        tuple(itertools.chain.from_iterable(part.shown for part in kept)),
    )
