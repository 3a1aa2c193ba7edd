"""The speech recogniser that writes captions of recordings: its files, and whether it is here.

Whisper in the form that CTranslate2 reads. Any folder in that form will do, also a larger one
that a person has (`STUDIO_RECOGNISER_DIR`).
"""

import importlib.util
from pathlib import Path

from engine.settings import EngineSettings
from engine.weights.weight_files import MEGABYTE, WeightFile, WeightSet

REPO = "Systran/faster-whisper-base"
LICENCE = "MIT"
PACKAGE = "faster_whisper"

# What every such folder holds; the words have one of two names, by the age of the conversion.
NEEDED = ("config.json", "tokenizer.json", "model.bin")
VOCABULARIES = ("vocabulary.txt", "vocabulary.json")


def _file(path: str, max_bytes: int) -> WeightFile:
    return WeightFile(path, REPO, path, max_bytes, LICENCE)


# Whisper base has 72.6 million parameters in float16.
RECOGNISER = WeightSet(
    name="recogniser",
    title="Speech recogniser for captions (Whisper base, 99 languages)",
    notice="Whisper's weights are MIT-licensed, without conditions on their use.",
    files=(
        _file("config.json", 100_000),
        _file("vocabulary.txt", MEGABYTE),
        _file("tokenizer.json", 4 * MEGABYTE),
        _file("model.bin", 147 * MEGABYTE),
    ),
)


def recogniser_folder(settings: EngineSettings) -> Path | None:
    """Where the recogniser lies; None when it, or the library that runs it, is not here."""
    if importlib.util.find_spec(PACKAGE) is None:
        return None
    folder = settings.recogniser_dir or settings.weights_dir / RECOGNISER.name
    is_whole = all((folder / name).is_file() for name in NEEDED)
    has_words = any((folder / name).is_file() for name in VOCABULARIES)
    return folder if is_whole and has_words else None
