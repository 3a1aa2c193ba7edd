"""One job while it runs: progress, time left, lease, cancel and memory, written into its row."""

import logging
import sqlite3
import threading
import time

from engine.contracts import Progress, Stage
from engine.errors import EngineError
from engine.jobs.eta import TimeLeft
from engine.jobs.limits import expected_s
from engine.jobs.rows import StoredJob
from engine.jobs.store import LEASE_S, JobStore
from engine.worker.attend import TaskMemory

PROGRESS_WRITE_S = 0.25
"""Progress within a stage is written at most this often."""

_log = logging.getLogger(__name__)


class RunningJob:
    """The link of one running job to its row: progress, lease, cancel.

    Attributes:
        stage: the last stage that was reported.

    Args:
        store: of the row.
        job: as it was claimed.
        lease_token: of the claim.
        stop: set when the dispatcher should end.
    """

    def __init__(
        self, store: JobStore, job: StoredJob, lease_token: str, stop: threading.Event
    ) -> None:
        self.stage: Stage | None = None
        self._store = store
        self._job_id = job.job_id
        self._attempt = job.record.attempt
        self._token = lease_token
        self._stop = stop
        self._time_left = TimeLeft(expected_s(job.record.spec, job.duration_s, store.rates()))
        self._started_at = time.monotonic()
        self._written_at = self._started_at

    @property
    def elapsed_s(self) -> float:
        """Seconds since the job was claimed."""
        return time.monotonic() - self._started_at

    def report(self, progress: Progress) -> None:
        """Write progress into the row, but not more often than anyone looks."""
        shown = self._time_left.update(progress, self.elapsed_s)
        now = time.monotonic()
        if progress.stage == self.stage and now - self._written_at < PROGRESS_WRITE_S:
            return
        self.stage = progress.stage
        self._written_at = now
        self._store.renew(self._job_id, self._token, shown)

    def keep_memory(self, memory: TaskMemory) -> None:
        """Write down what the job took; a job does not fail because of its books."""
        try:
            self._store.ledger.add(self._job_id, self._attempt, memory)
        except (sqlite3.Error, EngineError):
            _log.exception("what job %s took could not be written down", self._job_id)

    def should_stop(self) -> bool:
        """Whether the user or the end of this engine stops the job; keeps the lease on the way."""
        now = time.monotonic()
        if now - self._written_at > LEASE_S / 6:
            self._written_at = now
            self._store.renew(self._job_id, self._token)
        return self._stop.is_set() or self._store.is_cancel_requested(self._job_id)
