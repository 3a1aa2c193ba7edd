"""What to try after running out of memory: less at once, then less picture, then give up. Pure.

The order, each step at most once: the same again after cleaning up, the animator's more frugal
ways of working, one size down if the person allowed it. Knows no animator and no library.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeVar

from engine.errors import EngineError, ErrorCode

MAX_RETRIES = 4
"""Beyond this, people have waited long enough for an honest answer."""

SIZES_PX = (384, 512, 768, 1024)
"""Short sides to step down to; below the first a face is not worth looking at."""

MEMORY_CODES = frozenset({ErrorCode.GPU_MEMORY, ErrorCode.OUT_OF_MEMORY})

T = TypeVar("T")


class Step(StrEnum):
    """What is changed for another try; written into the report."""

    AGAIN = "again"
    SMALLER_CHUNKS = "smaller_chunks"
    TILED_DECODE = "tiled_decode"
    OFFLOAD = "offload"
    SMALLER_SIZE = "smaller_size"


@dataclass(frozen=True)
class WorkMode:
    """One way an animator can work in less memory than usual.

    Attributes:
        name: the animator's own word for it.
        step: what kind of saving it is.
    """

    name: str
    step: Step


@dataclass(frozen=True)
class Rung:
    """One try.

    Attributes:
        step: what is different from the try before; None for the first.
        mode: of the animator; None = its own choice.
        size_px: short side of the video.
    """

    step: Step | None
    mode: str | None
    size_px: int


@dataclass(frozen=True)
class Climbed(Generic[T]):
    """How a task came to its end.

    Attributes:
        result: of the try that succeeded.
        rungs: every try after the first, in order.
    """

    result: T
    rungs: tuple[Rung, ...]


def rungs_after_failure(
    modes: Sequence[WorkMode], size_px: int, *, allow_smaller: bool
) -> tuple[Rung, ...]:
    """What to try after the first try failed.

    Args:
        modes: what the animator offers beyond the way that failed, most memory first.
        size_px: short side of the video.
        allow_smaller: whether the person allowed a smaller video.

    Returns:
        At most `MAX_RETRIES` rungs. When there are more modes than that, those that save most
        are kept.
    """
    smaller_px = smaller_size(size_px) if allow_smaller else None
    room = MAX_RETRIES - 1 - (smaller_px is not None)
    kept = list(modes)[-room:]
    rungs = [Rung(Step.AGAIN, None, size_px)]
    rungs += [Rung(mode.step, mode.name, size_px) for mode in kept]
    if smaller_px is not None:
        rungs.append(Rung(Step.SMALLER_SIZE, kept[-1].name if kept else None, smaller_px))
    return tuple(rungs)


def smaller_size(size_px: int) -> int | None:
    """The next smaller size, None when there is none."""
    return max((size for size in SIZES_PX if size < size_px), default=None)


def climb(
    attempt: Callable[[Rung], T],
    first: Rung,
    after_failure: Callable[[], Sequence[Rung]],
    clean_up: Callable[[], None],
) -> Climbed[T]:
    """Try until it succeeds, fails for another reason, or nothing is left to try.

    Args:
        attempt: does the work; whatever it raises about memory leads to the next rung.
        first: what is tried first.
        after_failure: asked once, when the first try has failed.
        clean_up: called between two tries, when no exception and no traceback is left that
            could hold on to memory.

    Raises:
        EngineError: GPU_MEMORY or OUT_OF_MEMORY of the last try, or any other at once.
    """
    taken: list[Rung] = []
    waiting: list[Rung] | None = None
    rung = first
    while True:
        tried = _try(attempt, rung)
        if not isinstance(tried, ErrorCode):
            return Climbed(tried.result, tuple(taken))
        clean_up()
        if waiting is None:
            waiting = list(after_failure())
        if not waiting:
            raise EngineError(tried)
        rung = waiting.pop(0)
        taken.append(rung)


@dataclass(frozen=True)
class _Done(Generic[T]):
    result: T


def _try(attempt: Callable[[Rung], T], rung: Rung) -> _Done[T] | ErrorCode:
    """The result, or the code of a failure for lack of memory.

    The exception ends here: its traceback holds the frames, and those hold the tensors.
    """
    try:
        return _Done(attempt(rung))
    except MemoryError:
        return ErrorCode.OUT_OF_MEMORY
    except EngineError as error:
        if error.code not in MEMORY_CODES:
            raise
        return error.code
