"""What was said of a file before.

A form asks about its photo and its recording after every change in it, and once more when the video
is asked for.
"""

import threading
from collections import OrderedDict
from typing import Generic, TypeVar

Verdict = TypeVar("Verdict")

MAX_KNOWN = 64


class KnownVerdicts(Generic[Verdict]):
    """Remembers verdicts by the name of the content, see `ContentNames`. Thread-safe."""

    def __init__(self) -> None:
        self._verdicts: OrderedDict[str, Verdict] = OrderedDict()
        self._lock = threading.Lock()

    def find(self, name: str | None) -> Verdict | None:
        """What was said of a file, None when it is not known."""
        with self._lock:
            return None if name is None else self._verdicts.get(name)

    def keep(self, name: str | None, verdict: Verdict) -> None:
        """Remember what was said of a file that could be read."""
        if name is None:
            return
        with self._lock:
            self._verdicts[name] = verdict
            while len(self._verdicts) > MAX_KNOWN:
                self._verdicts.popitem(last=False)

    def clear(self) -> None:
        """Forget all of it."""
        with self._lock:
            self._verdicts.clear()
