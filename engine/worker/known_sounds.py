"""What was said of recordings before: a form asks about its recording after every change in it."""

import threading
from collections import OrderedDict
from pathlib import Path

from engine.contracts import AudioVerdict

MAX_KNOWN = 64

Signature = tuple[str, int, int, int]


class KnownSounds:
    """Remembers verdicts by file; one that was changed meanwhile is not known. Thread-safe."""

    def __init__(self) -> None:
        self._verdicts: OrderedDict[Signature, AudioVerdict] = OrderedDict()
        self._lock = threading.Lock()

    def find(self, recording: Path) -> AudioVerdict | None:
        """What was said of a recording, None when it is not known."""
        with self._lock:
            return self._verdicts.get(_signature_of(recording))

    def keep(self, recording: Path, verdict: AudioVerdict) -> None:
        """Remember what was said of a recording that could be read."""
        if verdict.duration_s is None:
            return
        with self._lock:
            self._verdicts[_signature_of(recording)] = verdict
            while len(self._verdicts) > MAX_KNOWN:
                self._verdicts.popitem(last=False)


def _signature_of(recording: Path) -> Signature:
    """The same only for the same file as it was; sizes and times of a missing one are 0."""
    try:
        facts = recording.stat()
    except OSError:
        return str(recording), 0, 0, 0
    return str(recording), facts.st_size, facts.st_mtime_ns, facts.st_ino
