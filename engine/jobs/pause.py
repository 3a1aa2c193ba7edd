"""When the queue rests because its worker keeps dying. A pure rule over a clock."""

import time
from collections.abc import Callable

MAX_DEATHS = 5
WINDOW_S = 600.0
"""So many deaths within this time are the machine's fault, not a video's; hammering on would only
fail everybody's videos."""


class DeathWatch:
    """Counts deaths of the worker; safe from any thread.

    Args:
        clock: seconds that never go back.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._died_at: tuple[float, ...] = ()

    def note_death(self) -> None:
        """The worker was lost."""
        self._died_at = (*self._recent(), self._clock())

    def clear(self) -> None:
        """Somebody put it right, or wants to see whether it works again."""
        self._died_at = ()

    def paused_s(self) -> float:
        """Seconds until the queue goes on by itself; 0 when it is not paused."""
        recent = self._recent()
        if len(recent) < MAX_DEATHS:
            return 0.0
        return WINDOW_S - (self._clock() - recent[-MAX_DEATHS])

    def _recent(self) -> tuple[float, ...]:
        now = self._clock()
        return tuple(at for at in self._died_at if now - at < WINDOW_S)
