"""The translator that drafts the rows of a dub: its files, and whether it is here.

M2M-100 in the form that CTranslate2 reads: one network, a hundred languages, MIT. (NLLB, which
many prefer, may not be used commercially and is not offered.) Any folder in that form will do
(`STUDIO_TRANSLATOR_DIR`).
"""

import importlib.util
from pathlib import Path

from engine.settings import EngineSettings
from engine.weights.weight_files import MEGABYTE, WeightFile, WeightSet

REPO = "jncraton/m2m100_418M-ct2-int8"
LICENCE = "MIT"
PACKAGES = ("ctranslate2", "sentencepiece")

PIECES_NAME = "sentencepiece.bpe.model"
NEEDED = ("config.json", PIECES_NAME, "model.bin")
VOCABULARIES = ("shared_vocabulary.json", "shared_vocabulary.txt")


def _file(path: str, max_bytes: int) -> WeightFile:
    return WeightFile(path, REPO, path, max_bytes, LICENCE)


TRANSLATOR = WeightSet(
    name="translator",
    title="Translator for dubs (M2M-100, 100 languages)",
    notice="M2M-100's weights are MIT-licensed; its translations are drafts to be read first.",
    files=(
        _file("config.json", 10_000),
        _file("shared_vocabulary.json", 4 * MEGABYTE),
        _file(PIECES_NAME, 3 * MEGABYTE),
        _file("model.bin", 500 * MEGABYTE),
    ),
)


def translator_folder(settings: EngineSettings) -> Path | None:
    """Where the translator lies; None when it, or what runs it, is not here."""
    if any(importlib.util.find_spec(package) is None for package in PACKAGES):
        return None
    folder = settings.translator_dir or settings.weights_dir / TRANSLATOR.name
    is_whole = all((folder / name).is_file() for name in NEEDED)
    has_words = any((folder / name).is_file() for name in VOCABULARIES)
    return folder if is_whole and has_words else None
