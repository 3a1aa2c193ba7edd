"""What is tried after running out of memory, in which order, and what is let go in between."""

import weakref

import pytest

from engine.errors import Canceled, EngineError, ErrorCode
from engine.gpu.ladder import (
    MAX_RETRIES,
    Rung,
    Step,
    WorkMode,
    climb,
    rungs_after_failure,
    smaller_size,
)

CHUNKS = WorkMode("row by row", Step.SMALLER_CHUNKS)
TILES = WorkMode("tiles", Step.TILED_DECODE)
OFFLOAD = WorkMode("offload", Step.OFFLOAD)
FIRST = Rung(None, None, 768)


def steps(*modes: WorkMode, size_px: int = 768, allow_smaller: bool = False) -> list[Step | None]:
    rungs = rungs_after_failure(modes, size_px, allow_smaller=allow_smaller)
    return [rung.step for rung in rungs]


def test_the_order_is_again_then_less_at_once_then_less_picture() -> None:
    rungs = rungs_after_failure([CHUNKS, OFFLOAD], 768, allow_smaller=True)

    assert rungs == (
        Rung(Step.AGAIN, None, 768),
        Rung(Step.SMALLER_CHUNKS, "row by row", 768),
        Rung(Step.OFFLOAD, "offload", 768),
        Rung(Step.SMALLER_SIZE, "offload", 512),
    )


def test_an_animator_without_modes_is_tried_again_and_smaller_only_if_allowed() -> None:
    assert steps() == [Step.AGAIN]
    assert steps(allow_smaller=True) == [Step.AGAIN, Step.SMALLER_SIZE]
    assert steps(size_px=384, allow_smaller=True) == [Step.AGAIN]


def test_there_are_never_more_than_four_tries_and_the_thriftiest_are_kept() -> None:
    many = [WorkMode(str(number), Step.SMALLER_CHUNKS) for number in range(9)]

    for allow_smaller in (False, True):
        rungs = rungs_after_failure(many, 768, allow_smaller=allow_smaller)
        assert len(rungs) == MAX_RETRIES
        assert len(set(rungs)) == MAX_RETRIES
        assert "8" in {rung.mode for rung in rungs}


def test_sizes_step_down_to_the_next_smaller_one() -> None:
    assert [smaller_size(size) for size in (1024, 900, 768, 512, 400, 384, 256)] == [
        768,
        768,
        512,
        384,
        384,
        None,
        None,
    ]


class Attempts:
    """Fails as told, attempt by attempt, then succeeds."""

    def __init__(self, *failures: BaseException) -> None:
        self.failures = list(failures)
        self.rungs: list[Rung] = []
        self.cleaned = 0

    def attempt(self, rung: Rung) -> str:
        self.rungs.append(rung)
        if self.failures:
            raise self.failures.pop(0)
        return "drawn"

    def clean_up(self) -> None:
        self.cleaned += 1

    def climb(self, *modes: WorkMode) -> tuple[Rung, ...]:
        climbed = climb(
            self.attempt,
            FIRST,
            lambda: rungs_after_failure(modes, 768, allow_smaller=True),
            self.clean_up,
        )
        assert climbed.result == "drawn"
        return climbed.rungs


def test_what_fits_at_once_climbs_nothing() -> None:
    attempts = Attempts()

    assert attempts.climb(CHUNKS) == ()
    assert (attempts.rungs, attempts.cleaned) == ([FIRST], 0)


def test_each_failure_for_memory_leads_one_rung_further() -> None:
    attempts = Attempts(
        EngineError(ErrorCode.GPU_MEMORY), MemoryError(), EngineError(ErrorCode.OUT_OF_MEMORY)
    )

    taken = attempts.climb(CHUNKS, TILES)

    assert [rung.step for rung in taken] == [Step.AGAIN, Step.SMALLER_CHUNKS, Step.TILED_DECODE]
    assert attempts.rungs == [FIRST, *taken]
    assert attempts.cleaned == 3


def test_the_end_of_the_ladder_is_the_last_failure() -> None:
    attempts = Attempts(*[EngineError(ErrorCode.GPU_MEMORY)] * 9)

    with pytest.raises(EngineError) as caught:
        attempts.climb(CHUNKS)

    assert caught.value.code is ErrorCode.GPU_MEMORY
    assert len(attempts.rungs) == 4
    assert attempts.cleaned == 4


@pytest.mark.parametrize("failure", [EngineError(ErrorCode.DISK_FULL), Canceled(), ValueError()])
def test_other_failures_are_not_tried_again(failure: Exception) -> None:
    attempts = Attempts(failure)

    with pytest.raises(type(failure)):
        attempts.climb(CHUNKS)

    assert len(attempts.rungs) == 1


def test_nothing_of_a_failed_try_is_held_when_the_next_begins() -> None:
    class Tensor:
        pass

    held: list[weakref.ref[Tensor]] = []
    alive_at_retry: list[bool] = []

    def attempt(rung: Rung) -> str:
        if rung.step is not None:
            alive_at_retry.append(held[0]() is not None)
            return "drawn"
        tensor = Tensor()
        held.append(weakref.ref(tensor))
        raise EngineError(ErrorCode.GPU_MEMORY)

    climb(attempt, FIRST, lambda: [Rung(Step.AGAIN, None, 768)], lambda: None)

    assert alive_at_retry == [False]
