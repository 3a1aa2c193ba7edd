"""Whether a new job may come in: asked before its inputs are read, and again when it is queued."""

import time
from collections.abc import Callable

from engine.errors import EngineError
from engine.jobs.fairness import Usage, refusal
from engine.jobs.store import JobStore
from engine.jobs.waiting import free_place
from engine.settings import EngineSettings


class Admission:
    """Applies the limits of a person and of the queue.

    Args:
        store: of the jobs.
        settings: the limits.
    """

    def __init__(self, store: JobStore, settings: EngineSettings) -> None:
        self._store = store
        self._settings = settings

    def require(self, owner: str, address: str | None = None) -> None:
        """Refuse early, before any file is read.

        Raises:
            EngineError: QUEUE_FULL, TOO_MANY_WAITING, SUBMITTED_TOO_FAST or DAILY_LIMIT.
        """
        why_not = self.refuse(owner)(self._store.usage(owner, address))
        if why_not is not None:
            raise why_not

    def refuse(self, owner: str) -> Callable[[Usage], EngineError | None]:
        """The rule for one owner, for the transaction that queues the job."""
        running = next(iter(self._store.list_running()), None)
        wait = free_place(self._store.list_queued(), running, self._store.rates(), owner)

        def rule(usage: Usage) -> EngineError | None:
            return refusal(owner, usage, wait, self._settings, time.time())

        return rule
