"""A stand-in for the package of ZeroGPU Spaces: it lends no card, but works as it does there.

A marked generator runs in a forked process; what goes in and out is pickled; it is ended when its
time is over; and whoever has no quota left is refused.
"""

import json
import multiprocessing
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

FORK = multiprocessing.get_context("fork")
LOG = Path(os.environ["SPACES_STAND_IN_LOG"])


class Error(Exception):
    """What a refusal is."""


def GPU(duration: Callable[..., int]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Mark a generator; the card is lent for `duration(*arguments)` seconds."""

    def mark(function: Callable[..., Iterator[Any]]) -> Callable[..., Iterator[Any]]:
        _note({"marked": function.__name__})

        def lent(*arguments: Any) -> Iterator[Any]:
            seconds = duration(*arguments)
            _note({"lent": seconds, "in": os.getpid()})
            if seconds > float(os.environ.get("SPACES_STAND_IN_QUOTA_S", "600")):
                raise Error("You have exceeded your GPU quota")
            receiver, sender = FORK.Pipe(duplex=False)
            process = FORK.Process(target=_serve, args=(function, arguments, sender), daemon=True)
            process.start()
            sender.close()
            try:
                while True:
                    try:
                        yield receiver.recv()
                    except EOFError:
                        return
            finally:
                process.terminate()
                process.join()

        return lent

    return mark


def _serve(function: Callable[..., Iterator[Any]], arguments: tuple[Any, ...], sender: Any) -> None:
    for item in function(*arguments):
        sender.send(item)
    sender.close()
    os._exit(0)


def _note(facts: dict[str, Any]) -> None:
    with LOG.open("a", encoding="utf-8") as log:
        log.write(json.dumps(facts) + "\n")
