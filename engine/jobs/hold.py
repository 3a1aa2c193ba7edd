"""While a worker makes a video: what its host hears, and the lease that says who is at it."""

import contextlib
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from engine.contracts import Progress, Stage
from engine.errors import EngineError
from engine.jobs.orders import Order, OrderDesk

LOOK_S = 0.5
"""How often the storage is asked whether a running job was called off."""

BEAT_S = 1.0
"""How often a lease is renewed."""

PROGRESS_S = 0.5
"""Progress within a stage is sent at most this often; a page looks once a second."""

Tell = Callable[[Mapping[str, Any]], None]
"""Sends a few facts to the host; may lose them, because the host looks into the storage too."""


class Line:
    """What the host hears about one order.

    Attributes:
        job_id: of the order.
        stage: the last one that was reported.
    """

    def __init__(self, order: Order, worker: str, tell: Tell) -> None:
        self.job_id = order.spec.job_id
        self.stage: Stage | None = None
        self._ticket = order.ticket
        self._worker = worker
        self._send = tell
        self._sent_at = 0.0
        self._attempt = 0

    def started(self, attempt: int) -> None:
        """An attempt was begun."""
        self._attempt = attempt
        self._tell("started")

    def alive(self) -> None:
        """A sign of life."""
        self._tell("alive")

    def ended(self) -> None:
        """The outcome is in the storage."""
        self._tell("ended")

    def put_back(self) -> None:
        """The job was given back to the broker."""
        self._tell("put_back")

    def progress(self, progress: Progress) -> None:
        """How far it is; drops what comes too fast to be seen."""
        now = time.monotonic()
        if progress.stage == self.stage and now - self._sent_at < PROGRESS_S:
            return
        self.stage, self._sent_at = progress.stage, now
        self._tell("progress", progress=progress.model_dump(mode="json"))

    def _tell(self, what: str, **facts: Any) -> None:  # noqa: ANN401 - JSON
        place = {"job_id": self.job_id, "ticket": self._ticket, "worker": self._worker}
        self._send({"what": what, "attempt": self._attempt, **place, **facts})


class Hold:
    """Keeps the lease of a running attempt in a thread of its own, and looks whether it may go on.

    Attributes:
        attempt_id: that holds the lease.
        is_called_off: the owner canceled.
        is_lost: another worker took the lease.
    """

    def __init__(
        self, desk: OrderDesk, order: Order, attempt_id: str, alive: Callable[[], None]
    ) -> None:
        self.attempt_id = attempt_id
        self.is_called_off = threading.Event()
        self.is_lost = threading.Event()
        self._desk = desk
        self._order = order
        self._alive = alive
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._keep, name="lease", daemon=True)

    def __enter__(self) -> "Hold":
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self.stop()

    @property
    def must_stop(self) -> bool:
        """Whether the attempt may not go on."""
        return self.is_called_off.is_set() or self.is_lost.is_set()

    def stop(self) -> None:
        """Renew no more."""
        self._ended.set()
        self._thread.join()

    def _keep(self) -> None:
        renewed_at = told_at = time.monotonic()
        while not self._ended.wait(LOOK_S):
            now = time.monotonic()
            # A storage that does not answer now is asked again; the work goes on meanwhile.
            with contextlib.suppress(EngineError):
                job_id, ticket = self._order.spec.job_id, self._order.ticket
                if self._desk.is_called_off(job_id, ticket):
                    self.is_called_off.set()
                if now - renewed_at >= BEAT_S:
                    renewed_at = now
                    self._renew()
            if now - told_at >= self._order.sign_s:
                told_at = now
                self._alive()

    def _renew(self) -> None:
        lease = self._desk.lease(self._order)
        if lease is None or lease.holder != self.attempt_id:
            self.is_lost.set()  # also when the job was deleted
            return
        self._desk.hold(self._order, lease.model_copy(update={"beat": lease.beat + 1}))
