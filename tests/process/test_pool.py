"""Several children of one lane: which one gets a task, and who waits for a start."""

import contextlib
import threading
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import pytest
from polling import wait_until

from engine.errors import EngineError, ErrorCode, WorkerLost
from engine.worker.attend import TaskLimits
from engine.worker.pool import ChildPool
from engine.worker.supervisor import ChildState, Supervisor

LIMITS = TaskLimits(total_s=30.0)


@pytest.fixture
def pool(make_supervisor: Callable[..., Supervisor]) -> Iterator[ChildPool]:
    opened = ChildPool([make_supervisor(tasks_per_child=100) for _ in range(2)])
    yield opened
    opened.close()


@pytest.fixture
def both(pool: ChildPool) -> ChildPool:
    """A pool whose children are both ready."""
    pool.warm_up()
    wait_until(lambda: all(one.state is ChildState.READY for one in pool.supervisors))
    return pool


def pid_for(pool: ChildPool, subject: str | None = None) -> int:
    return int(pool.run("where", {}, LIMITS, subject=subject)["pid"])


def sleep(pool: ChildPool, seconds: float) -> threading.Thread:
    """Keep one child busy, or until the pool is closed."""

    def run() -> None:
        with contextlib.suppress(WorkerLost):
            pool.run("sleep", {"seconds": seconds}, LIMITS)

    thread = threading.Thread(target=run)
    thread.start()
    return thread


def keep_busy(pool: ChildPool, seconds: float) -> threading.Thread:
    """Have the first child sleep."""
    thread = sleep(pool, seconds)
    wait_until(lambda: pool.supervisors[0].state is ChildState.BUSY)
    return thread


def test_one_child_suffices_until_two_are_needed(pool: ChildPool) -> None:
    pool.wake()
    wait_until(lambda: pool.pids)

    first = {pid_for(pool) for _ in range(3)}

    assert first == {pool.supervisors[0].pid}
    assert pool.supervisors[1].pid is None


def test_a_task_goes_to_the_child_that_is_free(both: ChildPool) -> None:
    sleeper = keep_busy(both, 2.0)

    assert pid_for(both) == both.supervisors[1].pid
    sleeper.join()
    assert pid_for(both) == both.supervisors[0].pid


def test_a_subject_comes_back_to_the_child_that_knows_it(both: ChildPool) -> None:
    sleeper = keep_busy(both, 1.0)
    knower = pid_for(both, "a photo")
    sleeper.join()

    assert knower == both.supervisors[1].pid
    assert pid_for(both, "a photo") == knower
    assert pid_for(both, "another") == both.supervisors[0].pid


def test_who_waits_for_a_busy_child_has_the_missing_one_started(pool: ChildPool) -> None:
    pool.wake()
    wait_until(lambda: pool.pids)
    sleeper = keep_busy(pool, 20.0)

    assert pid_for(pool) == pool.supervisors[1].pid

    pool.close()
    sleeper.join()


def test_a_task_does_not_wait_longer_than_it_may_take(both: ChildPool) -> None:
    sleepers = [sleep(both, 20.0) for _ in range(2)]
    wait_until(lambda: all(one.state is ChildState.BUSY for one in both.supervisors))

    with pytest.raises(EngineError) as caught:
        both.run("where", {}, TaskLimits(total_s=0.3))

    assert caught.value.code is ErrorCode.TIMED_OUT
    both.close()
    for sleeper in sleepers:
        sleeper.join()


def test_nobody_is_overtaken_by_those_who_ask_again_and_again(
    make_supervisor: Callable[..., Supervisor],
) -> None:
    pool = ChildPool([make_supervisor(tasks_per_child=1000)])
    answered: list[int] = []
    together = threading.Barrier(4)

    def person(number: int) -> None:
        together.wait()
        for _ in range(20):
            pool.run("where", {}, LIMITS)
            answered.append(number)

    try:
        pid_for(pool)
        people = [threading.Thread(target=person, args=(number,)) for number in range(4)]
        for each in people:
            each.start()
        for each in people:
            each.join()
    finally:
        pool.close()

    turns = [[at for at, who in enumerate(answered) if who == number] for number in range(4)]
    assert max(later - earlier for own in turns for earlier, later in pairwise([0, *own])) <= 8


def test_after_the_first_task_of_a_studio_the_other_child_starts_too(pool: ChildPool) -> None:
    pool.wake()
    pool.keep_spares()
    wait_until(lambda: len(pool.pids) == 1)

    pid_for(pool)

    wait_until(lambda: len(pool.pids) == 2)
    prepared = [one.run("where", {}, LIMITS).values["prepared"] for one in pool.supervisors]
    assert prepared == [["usual"], ["all"]]


def spared(make_supervisor: Callable[..., Supervisor], **plan: Any) -> ChildPool:
    """A pool that does one task at a time and keeps another child warm for it."""
    pool = ChildPool([make_supervisor(ends_aside=True, **plan) for _ in range(2)], at_once=1)
    pool.warm_up()
    wait_until(lambda: all(one.state is ChildState.READY for one in pool.supervisors))
    return pool


def test_the_successor_of_a_replaced_child_was_warm_before(
    make_supervisor: Callable[..., Supervisor], monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = spared(make_supervisor, tasks_per_child=3, patience=1000)
    states: list[ChildState] = []
    take = pool._take

    def watched(*given: Any) -> Supervisor:
        taken = take(*given)
        states.append(taken.state)
        return taken

    monkeypatch.setattr(pool, "_take", watched)
    served: list[int] = []
    while len(set(served)) < 4:
        served.append(pid_for(pool))

    assert set(states) == {ChildState.READY}
    assert min(served.count(pid) for pid in set(served[:-1])) >= 3
    pool.close()


def test_a_child_that_is_due_goes_on_while_no_other_is_ready_but_not_without_end(
    make_supervisor: Callable[..., Supervisor],
) -> None:
    first, second = spare = [
        make_supervisor(tasks_per_child=2, patience=2, ends_aside=True) for _ in range(2)
    ]
    second.close()  # it starts no child any more
    pool = ChildPool(spare, at_once=1)
    first.warm_up()
    wait_until(lambda: first.state is ChildState.READY)

    pids = [pid_for(pool) for _ in range(5)]

    assert pids[:4] == [pids[0]] * 4
    assert pids[4] != pids[0]
    pool.close()


def test_children_that_are_due_are_replaced_after_a_rush(
    make_supervisor: Callable[..., Supervisor],
) -> None:
    pool = ChildPool(
        [make_supervisor(tasks_per_child=3, patience=1000, ends_aside=True) for _ in range(2)]
    )
    pool.warm_up()
    wait_until(lambda: all(one.state is ChildState.READY for one in pool.supervisors))
    before = set(pool.pids)
    served: list[int] = []
    together = threading.Barrier(4)

    def person() -> None:
        together.wait()
        for _ in range(8):
            pool.run("sleep", {"seconds": 0.1}, LIMITS)  # a successor would be there meanwhile
            served.append(pid_for(pool))

    people = [threading.Thread(target=person) for _ in range(4)]
    for each in people:
        each.start()
    for each in people:
        each.join()

    assert set(served[:24]) == before
    pid_for(pool)
    wait_until(lambda: len(pool.pids) == 2 and set(pool.pids) != before)
    pool.close()


def test_a_child_that_died_is_replaced_although_nobody_asks(
    make_supervisor: Callable[..., Supervisor],
) -> None:
    pool = spared(make_supervisor)
    with pytest.raises(WorkerLost):
        pool.run("crash", {}, LIMITS)

    assert pid_for(pool)  # by the spare, at once
    wait_until(lambda: all(one.state is ChildState.READY for one in pool.supervisors))
    pool.close()


def test_a_spare_does_no_more_at_once(make_supervisor: Callable[..., Supervisor]) -> None:
    pool = spared(make_supervisor)
    sleeper = keep_busy(pool, 20.0)

    with pytest.raises(EngineError) as caught:
        pool.run("where", {}, TaskLimits(total_s=0.3))

    assert caught.value.code is ErrorCode.TIMED_OUT
    pool.close()
    sleeper.join()
