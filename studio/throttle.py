"""How often somebody may try something: a number of tries in a stretch of time, per key."""

import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable


class Throttle:
    """Counts tries; safe from any thread, and of bounded memory.

    Args:
        tries: how many are allowed.
        within_s: in how many seconds.
        clock: seconds that never go back.
    """

    MAX_KEYS = 20_000
    """The oldest keys are forgotten beyond; an attacker with more addresses is not held anyway."""

    def __init__(
        self, tries: int, within_s: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._tries, self._within_s, self._clock = tries, within_s, clock
        self._taken: OrderedDict[str, deque[float]] = OrderedDict()
        self._lock = threading.Lock()

    def take(self, key: str) -> float:
        """Use up one try.

        Returns:
            0 when it is allowed, else the seconds until the next one is.
        """
        now = self._clock()
        with self._lock:
            taken = self._taken.setdefault(key, deque())
            self._taken.move_to_end(key)
            while taken and now - taken[0] >= self._within_s:
                taken.popleft()
            while len(self._taken) > self.MAX_KEYS:
                self._taken.popitem(last=False)
            if len(taken) >= self._tries:
                return self._within_s - (now - taken[0])
            taken.append(now)
            return 0.0

    def give_back(self, key: str) -> None:
        """Undo the last `take`: it was no attack."""
        with self._lock:
            taken = self._taken.get(key)
            if taken:
                taken.pop()
