"""Whole files or none: everything is written beside its place and renamed when complete."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from engine.errors import EngineError, ErrorCode

_NO_SPACE = {errno.ENOSPC, errno.EDQUOT}


@contextmanager
def replace_when_done(target: Path) -> Iterator[Path]:
    """Give a path to write to; it becomes `target` when the block ends without an error.

    Whatever goes wrong, `target` keeps its old content and the partial file is removed.

    Raises:
        EngineError: OUTPUT_NOT_WRITABLE when nothing can be created there, DISK_FULL when the
            block ends with the system's word for it.
    """
    part = target.with_name(target.name + ".part")
    try:
        part.open("wb").close()
    except OSError as error:
        code = ErrorCode.DISK_FULL if is_disk_full(error) else ErrorCode.OUTPUT_NOT_WRITABLE
        raise EngineError(code) from error
    try:
        yield part
        _flush_to_disk(part)
        part.replace(target)
    except OSError as error:
        if is_disk_full(error):
            raise EngineError(ErrorCode.DISK_FULL) from error
        raise
    finally:
        part.unlink(missing_ok=True)


def is_disk_full(error: BaseException) -> bool:
    """Whether `error` is the system's word for a full disk or a used-up quota."""
    return isinstance(error, OSError) and error.errno in _NO_SPACE


def _flush_to_disk(path: Path) -> None:
    # Without it a power cut after the rename can leave the new name on an empty file.
    with path.open("r+b") as file:
        os.fsync(file.fileno())
