"""A polite kill or a closed terminal ends a command as Ctrl-C does: cleaned up, no job left."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

SIGNAL_NAMES = ("SIGTERM", "SIGHUP")
EXIT_BASE = 128
"""A shell expects 128 + the number of the signal."""


class Terminated(BaseException):
    """The process was asked to end. Not an `Exception`: nothing may take it for a failure.

    Attributes:
        exit_code: for the shell.
    """

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.exit_code = EXIT_BASE + number


@contextmanager
def ended_politely() -> Iterator[None]:
    """Turn the first such signal into `Terminated`; later ones do not disturb the cleaning up."""
    numbers = [getattr(signal, name) for name in SIGNAL_NAMES if hasattr(signal, name)]
    if threading.current_thread() is not threading.main_thread():
        yield  # signals belong to the main thread; a program that embeds us has its own
        return

    def end(number: int, _frame: FrameType | None) -> None:
        for other in numbers:
            signal.signal(other, signal.SIG_IGN)
        raise Terminated(number)

    before = {number: signal.signal(number, end) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
