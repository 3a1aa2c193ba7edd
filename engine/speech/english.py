"""How English is read: the lexicon and rules of the `hibari-tts` package, American or British.

Its modules are looked up when a text is read, so that listing voices needs no package.
"""

import functools
from importlib import import_module
from typing import Any

from engine.errors import EngineError, ErrorCode
from engine.speech.reading import Reading
from engine.speech.symbol_timing import Symbol
from engine.speech.words import match_words, split_words

# The package's rules stop after about two dozen sounds of a word its lexicon does not have (30 to
# 300 letters all gave 22-24). Whole readings have .7 sounds a letter and more.
LONGEST_SURE_WORD = 20
MIN_SOUNDS_PER_LETTER = 0.6
LONG_WORD_PIECE = 10


class EnglishReader:
    """Reads English text; loads its lexicon with the first one.

    Args:
        british: British instead of American.
    """

    def __init__(self, *, british: bool = False) -> None:
        self._british = british

    def read(self, text: str) -> Reading:
        """Turn text into letters; numbers, dates and money are read out.

        Raises:
            EngineError: VOICE_UNAVAILABLE when the package is missing or damaged.
        """
        spans = split_words(text)
        words = self._words(text)
        if not spans or not words:
            return Reading(spans, [])
        owners = match_words([span.text for span in spans], [word for word, _ in words])
        symbols = [
            Symbol(letter, owner)
            for owner, (_, letters) in zip(owners, words, strict=True)
            for letter in letters
        ]
        return Reading(spans, symbols)

    def _words(self, text: str) -> list[tuple[str, str]]:
        """Words as they are read and their letters, in order; all but the last end with a space."""
        normalize, g2p = self._package
        words: list[tuple[str, str]] = []
        word, letters = "", ""
        for token in g2p.phonemize_tokens(g2p.tokenize(normalize(text))):
            word += token.text
            letters += _whole_reading(token.text, token.phonemes or "", g2p)
            if token.whitespace:
                words.append((word, letters + " "))
                word, letters = "", ""
        return [*words, (word, letters)] if word else words

    @functools.cached_property
    def _package(self) -> tuple[Any, Any]:
        """Its normaliser and its rules; neither has types."""
        try:
            normalize = import_module("hibari.g2p.normalize").normalize
            return normalize, import_module("hibari.g2p").G2P(british=self._british)
        except (ImportError, OSError) as error:
            raise EngineError(ErrorCode.VOICE_UNAVAILABLE, voice="English") from error


def _whole_reading(word: str, letters: str, g2p: Any) -> str:  # noqa: ANN401 - the package has no types
    """The letters of a word; a long one that was read only in part is read piece by piece."""
    if len(word) <= LONGEST_SURE_WORD or len(letters) >= MIN_SOUNDS_PER_LETTER * len(word):
        return letters
    pieces = [word[at : at + LONG_WORD_PIECE] for at in range(0, len(word), LONG_WORD_PIECE)]
    tokens = g2p.phonemize_tokens(g2p.tokenize(" ".join(pieces)))
    return "".join(token.phonemes or "" for token in tokens)
