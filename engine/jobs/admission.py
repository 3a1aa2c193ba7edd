"""Whether a new job may come in: asked before its inputs are read, and again when it is queued."""

import time
from collections.abc import Callable

from engine.contracts import JobSpec
from engine.errors import EngineError
from engine.jobs.disk import FIXED_JOB_BYTES, DiskGate, job_bytes
from engine.jobs.fairness import Usage, Wait, refusal
from engine.jobs.limits import spoken_duration_s
from engine.jobs.store import JobStore
from engine.jobs.waiting import LOOKED_AT, free_place
from engine.settings import EngineSettings


class Admission:
    """Applies the limits of a person, of the queue and of the disk.

    Args:
        store: of the jobs.
        settings: the limits.
        disk: says whether there is room.
    """

    def __init__(self, store: JobStore, settings: EngineSettings, disk: DiskGate) -> None:
        self._store = store
        self._settings = settings
        self._disk = disk

    def require(self, owner: str, address: str | None = None, count: int = 1) -> None:
        """Refuse early, before any file is read.

        Args:
            owner: who asks.
            address: where they ask from.
            count: jobs they submit at once.

        Raises:
            EngineError: QUEUE_FULL, TOO_MANY_WAITING, SUBMITTED_TOO_FAST, DAILY_LIMIT, DISK_LOW
                or STORAGE_FULL.
        """
        why_not = self.refuse(owner, count)(self._store.usage(owner, address))
        why_not = why_not or self._disk.refusal(FIXED_JOB_BYTES)
        if why_not is not None:
            raise why_not

    def require_room(self, spec: JobSpec, duration_s: float | None) -> None:
        """Refuse a job whose length is known now when the disk has no room for it.

        Raises:
            EngineError: DISK_LOW or STORAGE_FULL.
        """
        length_s = duration_s or spoken_duration_s(spec) or 0.0
        why_not = self._disk.refusal(job_bytes(spec.options, length_s))
        if why_not is not None:
            raise why_not

    def refuse(self, owner: str, count: int = 1) -> Callable[[Usage], EngineError | None]:
        """The rule for one owner, for the transaction that queues their `count` jobs."""

        def wait() -> Wait:
            store = self._store
            running = next(iter(store.list_running()), None)
            return free_place(store.list_queued(LOOKED_AT), running, store.rates(), owner)

        def rule(usage: Usage) -> EngineError | None:
            return refusal(owner, usage, wait, self._settings, time.time(), count)

        return rule
