"""Pickled weights made into safetensors, once: a file that can hold nothing but tensors."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from engine.errors import EngineError, ErrorCode, InputError
from engine.weights.download import SPARE_BYTES
from engine.weights.fault_messages import damaged
from engine.weights.weight_files import WeightFile, WeightSet

PICKLED = (".pth", ".pkl")


@dataclass(frozen=True)
class Converted:
    """A file that was converted.

    Attributes:
        source: the pickled file.
        target: the new one.
        is_source_kept: whether the pickled file is still there.
    """

    source: Path
    target: Path
    is_source_kept: bool


def convertible(weight_set: WeightSet, folder: Path) -> list[WeightFile]:
    """The files of a set that lie here pickled."""
    return [
        file
        for file in weight_set.files
        if file.path.endswith(PICKLED) and (folder / file.path).is_file()
    ]


def convert_set(
    weight_set: WeightSet,
    folder: Path,
    *,
    is_source_kept: bool = False,
    on_file: Callable[[WeightFile], None] = lambda _file: None,
) -> list[Converted]:
    """Convert every pickled file of a set.

    A pickled file is removed only after all tensors were read back from the new one and found
    equal.

    Args:
        weight_set: which set.
        folder: where it lies.
        is_source_kept: leave the pickled files where they are.
        on_file: told before each file.

    Raises:
        InputError: WEIGHTS_DAMAGED, or ANIMATOR_UNAVAILABLE where torch is not installed.
        EngineError: WEIGHTS_DISK.
    """
    done = []
    for file in convertible(weight_set, folder):
        on_file(file)
        source = folder / file.path
        target = source.with_suffix(".safetensors")
        _require_room(folder, source.stat().st_size)
        _convert(weight_set, file, folder, target)
        if not is_source_kept:
            source.unlink()
        done.append(Converted(source, target, is_source_kept))
    return done


def _require_room(folder: Path, size_bytes: int) -> None:
    free = shutil.disk_usage(folder).free
    if free < size_bytes + SPARE_BYTES:
        need_gb, free_gb = f"{(size_bytes + SPARE_BYTES) / 1e9:.1f}", f"{free / 1e9:.1f}"
        raise EngineError(ErrorCode.WEIGHTS_DISK, need_gb=need_gb, free_gb=free_gb)


def _convert(weight_set: WeightSet, file: WeightFile, folder: Path, target: Path) -> None:
    try:
        import torch  # noqa: PLC0415 - absent from the small install
        from safetensors.torch import save_file  # noqa: PLC0415

        from engine.animators.sonic.weight_files import SonicFolder, read_tensors  # noqa: PLC0415
    except ImportError:
        reason = "converting needs torch: run `python3 bootstrap.py --gpu`"
        raise InputError(
            ErrorCode.ANIMATOR_UNAVAILABLE, animator=weight_set.name, reason=reason
        ) from None
    tensors = SonicFolder(folder).pickled(file.path)
    part = target.with_name(target.name + ".part")
    try:
        # Each with memory of its own: the format refuses tensors that share it.
        save_file({name: value.clone() for name, value in tensors.items()}, part)
        part.replace(target)
        written = read_tensors(target)
        is_equal = written.keys() == tensors.keys() and all(
            torch.equal(written[name], value) for name, value in tensors.items()
        )
        if not is_equal:
            target.unlink()
            raise damaged(weight_set, file, folder, "it could not be converted without a change")
    finally:
        part.unlink(missing_ok=True)
