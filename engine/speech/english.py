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
            letters += token.phonemes or ""
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
