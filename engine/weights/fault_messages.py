"""The errors about weights: one sentence with the file, its place, its size and the command."""

from pathlib import Path

from engine.errors import ErrorCode, InputError
from engine.weights.weight_files import WeightFile, WeightSet


def missing(weight_set: WeightSet, file: WeightFile, folder: Path) -> InputError:
    """A file is not where it belongs; tells when it lies somewhere else in the folder."""
    code = ErrorCode.WEIGHTS_MISSING
    values = _values(weight_set, file, folder)
    if elsewhere := _found_elsewhere(file, folder):
        code = ErrorCode.WEIGHTS_MISPLACED
        values["found"] = str(elsewhere.parent)
    return InputError(code, **values)


def damaged(weight_set: WeightSet, file: WeightFile, folder: Path, reason: str) -> InputError:
    """A file is there but cannot be read."""
    values = _values(weight_set, file, folder)
    return InputError(ErrorCode.WEIGHTS_DAMAGED, **values, reason=reason)


def wrong(weight_set: WeightSet, file: WeightFile, folder: Path, reason: str) -> InputError:
    """A file can be read but holds something else."""
    values = _values(weight_set, file, folder)
    return InputError(ErrorCode.WEIGHTS_WRONG, **values, reason=reason)


def _values(weight_set: WeightSet, file: WeightFile, folder: Path) -> dict[str, object]:
    return {
        "file": file.name,
        "place": str((folder / file.path).parent),
        "size": file.size_words,
        "command": weight_set.command,
    }


def _found_elsewhere(file: WeightFile, folder: Path) -> Path | None:
    """A file of the same name one folder off; the names of configurations say nothing."""
    if file.path.endswith(".json") or not folder.is_dir():
        return None
    candidates = [folder / file.name, *sorted(folder.glob(f"*/{file.name}"))]
    own = folder / file.path
    return next((path for path in candidates if path.is_file() and path != own), None)
