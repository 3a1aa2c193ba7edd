"""Stop a slow voice within a sentence when the person does not want to hear it any more."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from engine.speech.voice import SlowEngine, SpeechEngine

LOOK_S = 0.1
"""How often it is looked whether the sentence is over."""


@contextmanager
def interrupting(engine: SpeechEngine, canceled: threading.Event) -> Iterator[None]:
    """While this is open, `canceled` stops what a slow engine speaks; others are quick enough."""
    if not isinstance(engine, SlowEngine):
        yield
        return
    slow: SlowEngine = engine
    is_over = threading.Event()

    def watch() -> None:
        while not is_over.is_set():
            if canceled.wait(LOOK_S):
                slow.interrupt()
                return

    watcher = threading.Thread(target=watch, name="interrupting", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        is_over.set()
        watcher.join()
