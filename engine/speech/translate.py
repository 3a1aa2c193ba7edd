"""Drafts of translations, by M2M-100. Optional, offline, on the processor.

A person reads and corrects them; nothing here is ever spoken by itself.
"""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from threading import Event

from engine.errors import Canceled
from engine.weights.translator import PIECES_NAME, VOCABULARIES

# Sentence by sentence: the network was trained on single ones and drops what comes after.
_SENTENCE_ENDS = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？।])\s*")  # noqa: RUF001 - marks of many scripts

# Of languages whose tag in the network is another one than ours.
_TAGS = {"cmn": "zh", "nb": "no", "fil": "tl"}

MAX_LENGTH = 256
"""Pieces of one translated sentence; the network was trained on no longer ones."""

BEAM_SIZE = 4


class Translator:
    """M2M-100 from a folder that CTranslate2 reads.

    Args:
        folder: of the model, complete.
        threads: of the processor.
    """

    def __init__(self, folder: Path, threads: int = 2) -> None:
        import ctranslate2  # noqa: PLC0415 - optional, and slow to load
        import sentencepiece  # noqa: PLC0415

        self._model = ctranslate2.Translator(
            str(folder), device="cpu", compute_type="int8", intra_threads=threads
        )
        self._pieces = sentencepiece.SentencePieceProcessor(str(folder / PIECES_NAME))
        self._tags = _tags_in(folder)

    def knows(self, language: str) -> bool:
        """Whether the network knows a language.

        Args:
            language: BCP 47 tag; its region does not matter.
        """
        return _tag_of(language) in self._tags

    def translate(self, text: str, source: str, target: str, canceled: Event) -> str:
        """A draft of a text in another language; its lines and paragraphs stay.

        Args:
            text: any length.
            source: BCP 47 tag of the text; one that the network knows.
            target: BCP 47 tag of the draft; the same.
            canceled: looked at between lines.

        Raises:
            Canceled: when the user asked to stop.
        """
        tags = _tag_of(source), _tag_of(target)
        lines = []
        for line in text.split("\n"):
            if canceled.is_set():
                raise Canceled
            sentences = [part for part in _SENTENCE_ENDS.split(line.strip()) if part]
            drafts = self._draft(sentences, *tags) if sentences else []
            lines.append(_joined(drafts, target))
        return "\n".join(lines)

    def _draft(self, sentences: Sequence[str], source: str, target: str) -> list[str]:
        tokens = [[source, *self._pieces.encode(one, out_type=str), "</s>"] for one in sentences]
        results = self._model.translate_batch(
            tokens,
            target_prefix=[[target]] * len(tokens),
            beam_size=BEAM_SIZE,
            max_decoding_length=MAX_LENGTH,
            repetition_penalty=1.1,
        )
        return [self._pieces.decode(result.hypotheses[0][1:]) for result in results]


def _tags_in(folder: Path) -> frozenset[str]:
    """The tags of the languages that the network knows, such as `__es__`."""
    found = next(folder / name for name in VOCABULARIES if (folder / name).is_file())
    text = found.read_text("utf-8")
    words = json.loads(text) if found.suffix == ".json" else text.splitlines()
    return frozenset(word for word in words if word[:2] == "__" == word[-2:])


def _tag_of(language: str) -> str:
    base = language.partition("-")[0].lower()
    return f"__{_TAGS.get(base, base)}__"


def _joined(drafts: Sequence[str], target: str) -> str:
    is_unspaced = target.partition("-")[0] in ("zh", "cmn", "ja", "th", "km", "lo", "my")
    return ("" if is_unspaced else " ").join(draft.strip() for draft in drafts)
