# ruff: noqa: RUF001 - IPA letters look like others by nature
"""Languages read by espeak-ng's rules, in its own process, for voices of the Kokoro family.

These voices learned most of their languages from espeak-ng's IPA, so this is what they know best.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator

from engine.speech.espeak import EspeakEngine
from engine.speech.reading import Reading, align_by_length, letters_of, read_words
from engine.speech.words import WordSpan, split_words

# Sounds for which the family's alphabet has one letter.
_ONE_LETTER = {
    "a^ɪ": "I", "a^ʊ": "W", "e^ɪ": "A", "o^ʊ": "O", "ə^ʊ": "Q", "ɔ^ɪ": "Y",
    "d^z": "ʣ", "d^ʒ": "ʤ", "t^s": "ʦ", "t^ʃ": "ʧ",
}  # fmt: skip
_TIED = re.compile("|".join(map(re.escape, _ONE_LETTER)))
_SWITCH = re.compile(r"\([^)]*\)")  # from here on another language; ties may stand inside
_NO_SOUND = re.compile("[-^]")
_PAUSE_BEHIND = re.compile(r"[.,;:!?…—–।॥)\]»”]\W*$")
_PAUSE_BEFORE = re.compile(r"^[(\[«“—–]")


class EspeakReader:
    """Reads one language.

    Args:
        espeak: the back end that owns the process.
        tag: of its voice, such as `pt-br`.
        spell: espeak-ng's IPA of one word in the letters of the voice that will speak; None =
            those of the Kokoro family.
    """

    def __init__(
        self, espeak: EspeakEngine, tag: str, spell: Callable[[str], str] | None = None
    ) -> None:
        self._espeak = espeak
        self._tag = tag
        self._spell = spell or _spelled

    def read(self, text: str) -> Reading:
        """Turn text into letters.

        Raises:
            EngineError: VOICE_UNAVAILABLE when espeak-ng cannot run here.
        """
        spans = split_words(text)
        stretches = list(_stretches(spans))
        texts = [" ".join(spans[index].text for index in stretch) for stretch in stretches]
        sounds: list[tuple[int, str]] = []
        heard = self._espeak.read(texts, self._tag) if texts else []
        for stretch, ipa in zip(stretches, heard, strict=True):
            words = [word for word in map(self._spell, ipa.split()) if word]
            owners = align_by_length([spans[index].text for index in stretch], words)
            sounds += [(stretch[owner], word) for owner, word in zip(owners, words, strict=True)]
        return read_words(spans, sounds)


def plain_ipa(word: str) -> str:
    """espeak-ng's IPA of one word without ties and switches of language, marks apart."""
    return unicodedata.normalize("NFD", _NO_SOUND.sub("", _SWITCH.sub("", word)))


def _stretches(spans: list[WordSpan]) -> Iterator[list[int]]:
    """Indices of words that are read in one breath; words without a letter are left out."""
    stretch: list[int] = []
    for index, span in enumerate(spans):
        if stretch and _PAUSE_BEFORE.match(span.text):
            yield stretch
            stretch = []
        if any(letter.isalnum() for letter in span.text):
            stretch.append(index)
        if stretch and _PAUSE_BEHIND.search(span.text):
            yield stretch
            stretch = []
    if stretch:
        yield stretch


def _spelled(word: str) -> str:
    """espeak-ng's IPA in the family's alphabet."""
    plain = _TIED.sub(lambda match: _ONE_LETTER[match.group()], _SWITCH.sub("", word))
    return letters_of(_NO_SOUND.sub("", plain))
