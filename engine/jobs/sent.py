"""The host's book of the jobs it gave to a broker: what was sent, heard and settled.

Knows the store and the shared storage, not the broker; a function publishes its messages. What
workers tell may get lost: whatever matters is found in the storage after a while.
"""

import logging
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from engine.contracts import JobError, JobStatus, Progress, Stage
from engine.errors import EngineError, ErrorCode, WorkerLost
from engine.jobs.counts import JobCounts
from engine.jobs.limits import job_limits
from engine.jobs.orders import Order, OrderDesk, Outcome
from engine.jobs.recovery import may_retry
from engine.jobs.rows import StoredJob
from engine.jobs.running import RunningJob
from engine.jobs.settle import Settler
from engine.jobs.store import JobStore
from engine.settings import EngineSettings
from engine.storage import JobFolders
from engine.worker.attend import TaskMemory

RESEND_S = 600.0
"""A message that no worker took is sent again after this time, in case the broker lost it; that
it may come twice does no harm."""

CANCEL_S = 5.0
"""How long a worker may take to answer a cancel beyond the grace of its child."""

WORKER_KNOWN_S = 120.0
"""A worker that was heard of within this time counts as there."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Message:
    """What goes to the broker.

    Attributes:
        job_id, ticket: of the order.
        jobs_of_owner: that its owner has at the broker already, so that owners take turns.
    """

    job_id: str
    ticket: str
    jobs_of_owner: int


@dataclass
class _Sent:
    """One job at the broker or with a worker."""

    job: StoredJob
    ticket: str
    sent_at: float = field(default_factory=time.monotonic)
    heard_at: float = field(default_factory=time.monotonic)
    running: RunningJob | None = None
    called_off_at: float | None = None


class SentJobs:
    """Gives waiting jobs to workers and takes their results.

    Args:
        store: the queue and the record.
        folders: files of the jobs.
        desk: the shared storage.
        settings: of the engine.
        counts: told about every end.
        publish: gives a message to the broker.
    """

    def __init__(
        self,
        store: JobStore,
        folders: JobFolders,
        desk: OrderDesk,
        settings: EngineSettings,
        counts: JobCounts,
        publish: Callable[[Message], None],
    ) -> None:
        self._store = store
        self._folders = folders
        self._desk = desk
        self._settings = settings
        self._counts = counts
        self._publish = publish
        self._token = secrets.token_hex(16)
        self._settle = Settler(store, folders, self._token, counts)
        self._sent: dict[str, _Sent] = {}
        self._workers: dict[str, float] = {}
        self._never = threading.Event()

    def running(self) -> tuple[str, ...]:
        """The jobs that workers have begun."""
        return tuple(key for key, sent in list(self._sent.items()) if sent.running is not None)

    def num_workers(self) -> int:
        """How many workers were heard of lately."""
        now = time.monotonic()
        return sum(now - at < WORKER_KNOWN_S for at in list(self._workers.values()))

    def adopt(self) -> None:
        """Go on with the jobs that workers have had since before this host began."""
        for job in self._store.list_running():
            order = self._desk.order(job.job_id)
            if order is None:
                self._store.requeue(job.job_id, counted=False)
                continue
            self._store.take_over(job.job_id, self._token)
            self._sent[job.job_id] = self._begun(_Sent(job, order.ticket))

    def forget_waiting(self) -> None:
        """Send again what no worker has begun: the broker may have lost it."""
        for key in [key for key, sent in self._sent.items() if sent.running is None]:
            del self._sent[key]

    def send_waiting(self) -> None:
        """Give waiting jobs to the broker, in turn, as many as may be there at once.

        Raises:
            EngineError: STORAGE_UNREACHABLE.
        """
        waiting = sum(sent.running is None for sent in self._sent.values())
        is_full = len(self._sent) >= self._settings.broker_window
        if is_full or self._store.count_queued() <= waiting:
            return
        # What was sent already stands first, so this many hold a job for every free place.
        for job in self._store.list_queued(2 * self._settings.broker_window):
            if len(self._sent) >= self._settings.broker_window:
                return
            if job.job_id not in self._sent:
                self._send(job)

    def heard(self, facts: Mapping[str, Any]) -> None:
        """Take what a worker told; whatever is void or unknown is ignored."""
        worker = facts.get("worker")
        if isinstance(worker, str):
            self._workers[worker] = time.monotonic()
        sent = self._sent.get(str(facts.get("job_id")))
        if sent is None or facts.get("ticket") != sent.ticket:
            return
        sent.heard_at = time.monotonic()
        what = facts.get("what")
        if what in ("started", "progress", "alive"):
            self._started(sent, int(facts["attempt"]))  # its first message may have got lost
        match what:
            case "progress" if sent.running is not None:
                sent.running.report(Progress.model_validate(facts["progress"]))
            case "put_back":
                self._store.requeue(sent.job.job_id, counted=False)
                sent.running, sent.sent_at = None, time.monotonic()
            case "ended":
                self._take_outcome(sent)

    def look(self) -> None:
        """See to cancels, to jobs nobody heard of for long, and to leases."""
        for sent in list(self._sent.values()):
            if self._is_canceled(sent):
                self._call_off(sent)
            elif sent.running is None:
                self._resend_when_due(sent)
            elif time.monotonic() - sent.heard_at > self._settings.broker_silence_s:
                self._settle_silent(sent)
            else:
                sent.running.should_stop()  # keeps the claim

    # -- sending -----------------------------------------------------------------------------

    def _send(self, job: StoredJob) -> None:
        known = self._desk.order(job.job_id) if job.record.attempt else None
        if known is None:
            self._desk.remove(job.job_id)
        ticket = secrets.token_hex(8) if known is None else known.ticket
        try:
            self._desk.place(self._order(job, ticket), self._folders)
        except EngineError as error:
            if error.code is not ErrorCode.JOB_NOT_FOUND:
                raise
            self._store.begin(job.job_id, self._token, job.record.attempt + 1)
            self._settle.failed(job, EngineError(ErrorCode.INTERNAL), None)
            return
        if not self._store.send(job.job_id):
            self._desk.remove(job.job_id)  # canceled meanwhile
            return
        owner = job.record.owner
        of_owner = sum(sent.job.record.owner == owner for sent in self._sent.values())
        self._publish(Message(job.job_id, ticket, of_owner))
        self._sent[job.job_id] = _Sent(job, ticket)
        _log.info("job %s was sent", job.job_id)

    def _order(self, job: StoredJob, ticket: str) -> Order:
        spec = job.record.spec
        limits = job_limits(spec, job.duration_s, self._store.rates(), self._settings)
        return Order(
            ticket=ticket,
            spec=spec,
            total_s=limits.total_s,
            stall_s=limits.stall_s,
            silence_s=self._settings.broker_silence_s,
            is_public=self._settings.is_public,
        )

    def _resend_when_due(self, sent: _Sent) -> None:
        limit_s = self._settings.broker_silence_s if sent.job.record.attempt else RESEND_S
        if time.monotonic() - sent.sent_at > limit_s and not self._take_outcome(sent):
            sent.sent_at = time.monotonic()
            self._publish(Message(sent.job.job_id, sent.ticket, 0))

    # -- hearing -----------------------------------------------------------------------------

    def _started(self, sent: _Sent, attempt: int) -> None:
        job_id = sent.job.job_id
        if sent.running is not None and attempt <= sent.job.record.attempt:
            return
        if self._store.begin(job_id, self._token, attempt):
            _log.info("job %s was begun, attempt %d", job_id, attempt)
            if attempt > 1:
                self._counts.note_lost()
        job = self._store.get(job_id)
        if job is not None and job.record.status is JobStatus.RUNNING:
            sent.job = job
            self._begun(sent)

    def _begun(self, sent: _Sent) -> _Sent:
        sent.running = RunningJob(self._store, sent.job, self._token, self._never)
        return sent

    def _take_outcome(self, sent: _Sent) -> bool:
        """Settle a job by what its worker left in the storage; False when that is nothing yet."""
        job_id = sent.job.job_id
        outcome = self._desk.outcome(job_id, sent.ticket)
        if outcome is None:
            return False
        self._store.begin(job_id, self._token, max(1, outcome.attempt))
        sent.job = self._store.get(job_id) or sent.job
        try:
            self._settle_by(sent, outcome)
        except FileNotFoundError:
            self._settle.failed(sent.job, EngineError(ErrorCode.INTERNAL), None)
        self._drop(sent, keep_files=outcome.status is JobStatus.SUCCEEDED)
        return True

    def _settle_by(self, sent: _Sent, outcome: Outcome) -> None:
        job = sent.job
        self._keep_memory(job, outcome)
        if outcome.status is JobStatus.SUCCEEDED:
            try:
                folder = self._folders.path(job.job_id)
                self._desk.collect(job.job_id, sent.ticket, outcome, folder)
            except EngineError as error:
                if error.code is not ErrorCode.DISK_FULL:
                    raise
                self._settle.failed(job, error, Stage.ASSEMBLE)
                return
            memory = outcome.memory or {}
            peaks = {
                "peak_rss_mb": memory.get("rss_peak_mb") or 0.0,
                "peak_vram_mb": memory.get("vram_peak_mb") or 0.0,
            }
            artifacts = [artifact.model_dump() for artifact in outcome.artifacts]
            values = {"report": outcome.report, "artifacts": artifacts}
            self._settle.succeeded(job, values, peaks, outcome.elapsed_s)
        elif outcome.status is JobStatus.CANCELED:
            self._settle.canceled(job)
        else:
            fault = outcome.error or JobError(code=ErrorCode.INTERNAL)
            self._settle.failed(job, EngineError(fault.code, **fault.values), fault.stage)

    def _keep_memory(self, job: StoredJob, outcome: Outcome) -> None:
        if outcome.memory is None:
            return
        try:
            self._store.ledger.add(job.job_id, outcome.attempt, TaskMemory(**outcome.memory))
        except (TypeError, sqlite3.Error, EngineError):
            _log.exception("what job %s took could not be written down", job.job_id)

    def _drop(self, sent: _Sent, *, keep_files: bool = False) -> None:
        self._sent.pop(sent.job.job_id, None)
        if not (keep_files and self._settings.storage_links):
            self._desk.remove(sent.job.job_id)

    # -- looking -----------------------------------------------------------------------------

    def _is_canceled(self, sent: _Sent) -> bool:
        if sent.running is not None:
            return self._store.is_cancel_requested(sent.job.job_id)
        row = self._store.get(sent.job.job_id)
        return row is None or row.record.status is not JobStatus.QUEUED

    def _call_off(self, sent: _Sent) -> None:
        """Make a worker stop; without an answer the job ends here all the same."""
        job_id, now = sent.job.job_id, time.monotonic()
        if sent.running is None:
            self._drop(sent)  # no worker has begun: its message is void now
            return
        if sent.called_off_at is None:
            sent.called_off_at = now
            self._desk.call_off(job_id, sent.ticket)
        elif now - sent.called_off_at > self._settings.cancel_grace_s + CANCEL_S:
            self._settle.canceled(sent.job)
            self._drop(sent)

    def _settle_silent(self, sent: _Sent) -> None:
        """A worker was not heard of for long: look what it left, else give the job to another."""
        job_id = sent.job.job_id
        if self._take_outcome(sent):
            return
        stage = None if sent.running is None else sent.running.stage
        if may_retry(sent.job.record.attempt):
            _log.warning("job %s lost its worker in %s and is sent again", job_id, stage)
            self._store.requeue(job_id)
            self._publish(Message(job_id, sent.ticket, 0))
            sent.running, sent.sent_at = None, time.monotonic()
        else:
            self._settle.failed(sent.job, WorkerLost(), stage)
            self._drop(sent)
