"""The memory of the last hour, measured by a small thread and kept in memory only."""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from engine.contracts import MemoryReading

SPAN_S = 3600.0
INTERVAL_S = 10.0

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Sample:
    """One reading.

    Attributes:
        age_s: how long ago it was taken.
        used_mb, ours_mb: as the gauge told, None where it could not.
    """

    age_s: float
    used_mb: float | None
    ours_mb: float | None


class GaugeHistory:
    """Reads a gauge every ten seconds while it is entered; usable without, then it stays empty.

    Args:
        read: the gauge.
        clock: seconds that only grow.
        interval_s: time between two readings.
    """

    def __init__(
        self,
        read: Callable[[], MemoryReading],
        clock: Callable[[], float] = time.monotonic,
        interval_s: float = INTERVAL_S,
    ) -> None:
        self._read = read
        self._clock = clock
        self._interval_s = interval_s
        self._rows: deque[tuple[float, float | None, float | None]] = deque(
            maxlen=int(SPAN_S / interval_s) + 1
        )
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="gauge-history", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stopped.set()
        self._thread.join()

    def take(self) -> None:
        """Add one reading."""
        reading = self._read()
        self._rows.append((self._clock(), reading.used_mb, reading.ours_mb))

    def samples(self) -> list[Sample]:
        """The readings of the last hour, oldest first."""
        now = self._clock()
        rows = list(self._rows)
        return [Sample(now - at, used, ours) for at, used, ours in rows if now - at <= SPAN_S]

    def _run(self) -> None:
        while True:
            try:
                self.take()
            except Exception:  # noqa: BLE001 - a gauge that fails once must not end the history
                _log.exception("the memory could not be read")
            if self._stopped.wait(self._interval_s):
                return
