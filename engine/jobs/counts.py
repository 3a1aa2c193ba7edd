"""How many jobs ended how since this process began; numbers only, for whoever watches."""

import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from engine.contracts import JobStatus


@dataclass(frozen=True)
class Counted:
    """What was counted.

    Attributes:
        ended: jobs by how they ended.
        worked_s: seconds of work in all jobs that gave a video.
        lost: how often a worker was lost.
    """

    ended: Mapping[JobStatus, int] = field(default_factory=dict)
    worked_s: float = 0.0
    lost: int = 0


class JobCounts:
    """Counts; safe from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ended: Counter[JobStatus] = Counter()
        self._worked_s = 0.0
        self._lost = 0

    def note(self, status: JobStatus, worked_s: float = 0.0) -> None:
        """A job ended."""
        with self._lock:
            self._ended[status] += 1
            self._worked_s += worked_s

    def note_lost(self) -> None:
        """A worker was lost."""
        with self._lock:
            self._lost += 1

    def read(self) -> Counted:
        """What was counted so far."""
        with self._lock:
            return Counted(dict(self._ended), self._worked_s, self._lost)
