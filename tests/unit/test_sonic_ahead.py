"""Work in a thread of its own, some items ahead of who takes them."""

import threading
import time
from collections.abc import Callable, Generator
from threading import Event

import pytest

from engine.animators.sonic.ahead import ahead

DEADLINE_S = 10.0


def wait_for(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.002)


class Items:
    """Counts what was begun, and remembers where it ran and that it was closed."""

    def __init__(self, count: int, failure: Exception | None = None) -> None:
        self.begun = 0
        self.threads: set[int] = set()
        self.is_closed = False
        self._count, self._failure = count, failure

    def __call__(self) -> Generator[int, None, None]:
        try:
            for number in range(self._count):
                self.begun += 1
                self.threads.add(threading.get_ident())
                yield number
            if self._failure is not None:
                raise self._failure
        finally:
            self.threads.add(threading.get_ident())
            self.is_closed = True


def test_all_items_come_in_order_from_another_thread() -> None:
    items, given_up = Items(20), Event()

    assert list(ahead(items(), 3, given_up)) == list(range(20))

    assert len(items.threads) == 1
    assert threading.get_ident() not in items.threads
    assert not given_up.is_set()


def test_it_works_while_an_item_is_used_but_no_further_than_allowed() -> None:
    items = Items(20)
    stream = ahead(items(), 3, Event())

    next(stream)

    wait_for(lambda: items.begun == 3)
    time.sleep(0.05)
    assert items.begun == 3
    next(stream)
    wait_for(lambda: items.begun == 4)
    stream.close()


def test_a_failure_comes_after_the_items_before_it() -> None:
    items = Items(2, ValueError("broken"))
    stream = ahead(items(), 9, Event())

    assert [next(stream), next(stream)] == [0, 1]
    with pytest.raises(ValueError, match="broken"):
        next(stream)
    assert items.is_closed


def test_leaving_early_stops_and_closes_the_work() -> None:
    before = threading.active_count()
    items, given_up = Items(1000), Event()
    stream = ahead(items(), 2, given_up)
    next(stream)

    stream.close()

    assert given_up.is_set()
    assert items.is_closed
    assert items.begun < 5
    assert threading.active_count() == before


def test_leaving_early_ends_long_work_that_looks_whether_it_is_wanted() -> None:
    given_up, begun = Event(), Event()

    def endless() -> Generator[int, None, None]:
        yield 0
        begun.set()
        assert given_up.wait(DEADLINE_S)
        raise RuntimeError("nobody sees this")

    stream = ahead(endless(), 2, given_up)
    next(stream)
    assert begun.wait(DEADLINE_S)

    stream.close()
