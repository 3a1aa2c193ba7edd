"""What was said of recordings before: a form asks about its recording after every change in it."""

import threading
from collections import OrderedDict

from engine.contracts import AudioVerdict

MAX_KNOWN = 64


class KnownSounds:
    """Remembers verdicts by the name of the content, see `ContentNames`. Thread-safe."""

    def __init__(self) -> None:
        self._verdicts: OrderedDict[str, AudioVerdict] = OrderedDict()
        self._lock = threading.Lock()

    def find(self, name: str | None) -> AudioVerdict | None:
        """What was said of a recording, None when it is not known."""
        with self._lock:
            return None if name is None else self._verdicts.get(name)

    def keep(self, name: str | None, verdict: AudioVerdict) -> None:
        """Remember what was said of a recording that could be read."""
        if name is None or verdict.duration_s is None:
            return
        with self._lock:
            self._verdicts[name] = verdict
            while len(self._verdicts) > MAX_KNOWN:
                self._verdicts.popitem(last=False)

    def clear(self) -> None:
        """Forget all of it."""
        with self._lock:
            self._verdicts.clear()
