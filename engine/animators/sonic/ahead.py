"""Work that goes on in a thread of its own while what it made before is used. Knows no torch."""

import threading
from collections.abc import Callable, Generator
from dataclasses import dataclass
from queue import SimpleQueue
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class _End:
    """Nothing more comes."""

    failure: BaseException | None = None


def ahead(
    items: Generator[T, None, None],
    depth: int,
    given_up: threading.Event,
) -> Generator[T, None, None]:
    """The same items, made in a thread that runs up to `depth` items ahead.

    What is raised there is raised here in its turn. Leaving early sets `given_up` and waits until
    the thread has noticed and closed `items`.

    Args:
        items: runs in the thread alone.
        depth: items that are made or wait to be taken at the same time, at least 1.
        given_up: looked at by `items`, so that they stop in the middle of long work.
    """
    room = threading.Semaphore(depth)
    made: SimpleQueue[T | _End] = SimpleQueue()

    def work() -> None:
        end = _End()
        try:
            _make(items, made.put, room, given_up)
        except BaseException as failure:  # noqa: BLE001 - raised where the items are used
            end = _End(failure)
        made.put(end)

    thread = threading.Thread(target=work, name="ahead", daemon=True)
    thread.start()
    end: _End | None = None
    try:
        while end is None:
            item = made.get()
            if isinstance(item, _End):
                end = item
            else:
                yield item
                room.release()
            del item
    finally:
        if end is None:
            given_up.set()
            room.release()
        thread.join()
    if end.failure is not None:
        raise end.failure


def _make(
    items: Generator[T, None, None],
    take: Callable[[T], None],
    room: threading.Semaphore,
    given_up: threading.Event,
) -> None:
    try:
        while True:
            room.acquire()
            if given_up.is_set():
                return
            try:
                take(next(items))
            except StopIteration:
                return
    finally:
        items.close()
