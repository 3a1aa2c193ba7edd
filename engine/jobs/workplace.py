"""What a worker does with one message of the broker, whatever broker that is.

It knows the shared storage, not the host's store. A message may come twice, late, or after the
worker that had it was killed; what lies in the storage decides what is still to be done.
"""

import dataclasses
import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from engine.contracts import Artifact, JobError, JobStatus, Stage
from engine.errors import Canceled, EngineError, ErrorCode, WorkerLost
from engine.jobs.counts import JobCounts
from engine.jobs.hold import LOOK_S, Hold, Line, Tell
from engine.jobs.orders import Order, OrderDesk, Outcome
from engine.jobs.pause import DeathWatch
from engine.jobs.recovery import may_retry
from engine.storage import JobFolders
from engine.worker.attend import TaskLimits, TaskMemory
from engine.worker.executor import Executor

WATCH_S = 3.0
"""A lease that does not change for this long belongs to a worker that is gone."""

DELIVERY_TRIES = 20

FAULT_PAUSE_S = 3.0
"""Before a message is given back because the storage does not answer."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Delivery:
    """One message of the broker.

    Attributes:
        job_id, ticket: what it is about.
    """

    job_id: str
    ticket: str


class End(StrEnum):
    """What to tell the broker: it is done with, or somebody else should do it."""

    DONE = "done"
    PUT_BACK = "put_back"


class Workplace:
    """Does orders on one executor, one at a time.

    Attributes:
        num_orders: how many were begun here.
        counts: how they ended.

    Args:
        name: of the worker, for the host's list.
        desk: the storage.
        folders: of this worker alone, for files while it works on them.
        executor: renders.
        stop: set when the running job must be put back because the worker ends.
        labels: whether the visible label is drawn here; without it no job of a public host is.
    """

    def __init__(
        self,
        name: str,
        desk: OrderDesk,
        folders: JobFolders,
        executor: Executor,
        stop: threading.Event,
        *,
        labels: bool,
    ) -> None:
        self._labels = labels
        self._name = name
        self._desk = desk
        self._folders = folders
        self._executor = executor
        self._stop = stop
        self._deaths = DeathWatch()
        self.num_orders = 0
        self.counts = JobCounts()

    @property
    def is_broken(self) -> bool:
        """Whether its child keeps dying or hangs; another worker should have the jobs."""
        return self._executor.is_stuck or self._deaths.paused_s() > 0

    def do(self, delivery: Delivery, tell: Tell) -> End:
        """Do what a message asks for.

        Args:
            delivery: the message.
            tell: sends facts to the host.
        """
        try:
            order = self._desk.order(delivery.job_id)
            if order is None or order.ticket != delivery.ticket:
                _log.info("job %s: its message is void", delivery.job_id)
                return End.DONE
            return self._do_order(order, Line(order, self._name, tell), delivery)
        except FileNotFoundError:
            _log.info("job %s was deleted meanwhile", delivery.job_id)
            return End.DONE
        except EngineError as error:
            _log.warning("job %s is put back: %s", delivery.job_id, error.code)
            self._stop.wait(FAULT_PAUSE_S)
            return End.PUT_BACK

    def _do_order(self, order: Order, line: Line, delivery: Delivery) -> End:
        job_id, ticket = delivery.job_id, delivery.ticket
        if self._desk.outcome(job_id, ticket) is not None:
            line.ended()
            return End.DONE
        if self._desk.is_called_off(job_id, ticket):
            self._deliver(order, line, Outcome(status=JobStatus.CANCELED, attempt=0))
            return End.DONE
        if order.is_public and not self._labels:
            _log.error(
                "this worker draws no labels, and the host is public: set STUDIO_PUBLIC here"
            )
            self._deliver(order, line, _failed(0, EngineError(ErrorCode.INTERNAL), None))
            return End.DONE
        if self._has_a_living_holder(order):
            _log.info("job %s: another worker has it", job_id)
            return End.DONE
        begun = self._desk.num_attempts(job_id, ticket)
        if begun > 0 and not may_retry(begun):
            self._deliver(order, line, _lost(begun, None))
            return End.DONE
        self.num_orders += 1
        self._folders.remove(job_id)
        folder = self._folders.create(job_id)
        try:
            self._desk.fetch(order, folder)
            return self._attempt(order, line, folder, begun)
        finally:
            self._folders.remove(job_id)

    def _has_a_living_holder(self, order: Order) -> bool:
        """Whether another worker is at it: the message came twice, or after a broken connection."""
        seen = self._desk.lease(order)
        deadline = time.monotonic() + WATCH_S
        while seen is not None and time.monotonic() < deadline and not self._stop.wait(LOOK_S):
            now = self._desk.lease(order)
            if now is not None and now != seen:
                return True
            seen = now
        return False

    def _attempt(self, order: Order, line: Line, folder: Path, begun: int) -> End:
        """Attempt an order, and once more here when its child is lost."""
        while True:
            begun += 1
            attempt_id = self._desk.begin(order)
            line.started(begun)
            with Hold(self._desk, order, attempt_id, line.alive) as hold:
                try:
                    outcome = self._render(order, line, folder, hold, begun)
                except Canceled:
                    return self._settle_stopped(order, line, hold, begun)
                except WorkerLost:
                    self._deaths.note_death()
                    self.counts.note_lost()
                    if may_retry(begun) and not self._stop.is_set():
                        _log.warning("job %s lost its child and is tried again", line.job_id)
                        continue
                    outcome = _lost(begun, line.stage)
                except EngineError as error:
                    outcome = _failed(begun, error, line.stage)
                self._deliver(order, line, _with_files(outcome, attempt_id), folder)
            return End.DONE

    def _settle_stopped(self, order: Order, line: Line, hold: Hold, begun: int) -> End:
        """End a job that was stopped: by its owner, by this worker's end, or by a rival."""
        if hold.is_lost.is_set():
            _log.warning("job %s was given to another worker", line.job_id)
            return End.DONE
        if hold.is_called_off.is_set():
            self._deliver(order, line, Outcome(status=JobStatus.CANCELED, attempt=begun))
            return End.DONE
        self._desk.take_back(order, hold.attempt_id)
        hold.stop()
        self._desk.release(order, hold.attempt_id)
        line.put_back()
        return End.PUT_BACK

    def _render(self, order: Order, line: Line, folder: Path, hold: Hold, attempt: int) -> Outcome:
        started_at = time.monotonic()
        taken: list[TaskMemory] = []
        result = self._executor.run(
            "render",
            {"spec": order.spec.model_dump(mode="json"), "job_dir": str(folder)},
            TaskLimits(total_s=order.total_s, stall_s=order.stall_s),
            line.progress,
            lambda: hold.must_stop or self._stop.is_set(),
            taken.append,
        )
        artifacts = tuple(Artifact.model_validate(item) for item in result.values["artifacts"])
        for artifact in artifacts:
            self._require_own(order.spec.job_id, artifact.name)
        return Outcome(
            status=JobStatus.SUCCEEDED,
            attempt=attempt,
            report=result.values["report"],
            artifacts=artifacts,
            memory=dataclasses.asdict(taken[-1]) if taken else None,
            elapsed_s=time.monotonic() - started_at,
        )

    def _require_own(self, job_id: str, name: str) -> None:
        try:
            self._folders.file(job_id, name)
        except EngineError:
            raise EngineError(ErrorCode.INTERNAL) from None

    def _deliver(self, order: Order, line: Line, outcome: Outcome, folder: Path = Path()) -> None:
        """Write down how an order ended and say so."""
        self._insist(lambda: self._desk.deliver(order, outcome, folder))
        self.counts.note(outcome.status, outcome.elapsed_s)
        _log.info("job %s %s, attempt %d", line.job_id, outcome.status, outcome.attempt)
        line.ended()

    def _insist(self, deliver: Callable[[], None]) -> None:
        """Try for a while: the work is done, only the storage does not answer."""
        for _ in range(DELIVERY_TRIES - 1):
            try:
                deliver()
            except EngineError:
                self._stop.wait(FAULT_PAUSE_S)
            else:
                return
        deliver()


def _lost(attempt: int, stage: Stage | None) -> Outcome:
    return _failed(attempt, WorkerLost(), stage)


def _failed(attempt: int, error: EngineError, stage: Stage | None) -> Outcome:
    values = {key: value for key, value in error.values.items() if key != "stage"}
    reason = JobError(code=error.code, values=values, stage=stage)
    return Outcome(status=JobStatus.FAILED, attempt=attempt, error=reason)


def _with_files(outcome: Outcome, attempt_id: str) -> Outcome:
    return outcome.model_copy(update={"files": attempt_id})
