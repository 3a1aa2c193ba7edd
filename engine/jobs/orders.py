"""What a web host and its workers leave for each other in the storage they share.

The broker carries ids only. What has to be done, who does it, how it ended and the files lie in
the storage, so a message that comes twice, late or for a job that is gone does no harm::

    jobs/<job>/order.json            what to do; its ticket makes older messages void
    jobs/<job>/in/<name>             inputs
    jobs/<job>/<ticket>/called-off   the owner canceled
    jobs/<job>/<ticket>/lease.json   who works on it, and that it lives
    jobs/<job>/<ticket>/tries/<id>   one file for each attempt that was begun
    jobs/<job>/<ticket>/out/<id>/    what an attempt made
    jobs/<job>/<ticket>/outcome.json how it ended, written after the files
"""

import secrets
from pathlib import Path
from typing import Any, TypeVar

from pydantic import Field, ValidationError

from engine.contracts import Artifact, Frozen, JobError, JobSpec, JobStatus
from engine.shared_storage import SharedStorage
from engine.storage import JobFolders

Kept = TypeVar("Kept", bound=Frozen)

SIGNS_PER_SILENCE = 6
"""How often a worker tells the host that it lives within the silence that counts as its end."""


class Order(Frozen):
    """One job for a worker.

    Attributes:
        ticket: of this order; a message with another one is void.
        spec: what to make.
        total_s, stall_s: limits of the job, see `TaskLimits`.
        silence_s: a worker not heard of for this long counts as lost.
        is_public: strangers can reach the host, so a video must carry its visible label.
    """

    schema_version: int = 1
    ticket: str
    spec: JobSpec
    total_s: float | None = None
    stall_s: float | None = None
    silence_s: float = 60.0
    is_public: bool = False

    @property
    def sign_s(self) -> float:
        """How often a worker tells the host that it lives."""
        return self.silence_s / SIGNS_PER_SILENCE


class Lease(Frozen):
    """Who works on an order; it is written anew all the time, so that others see who lives.

    Attributes:
        holder: the attempt that has it.
        beat: grows with every renewal; no clocks have to agree.
    """

    holder: str
    beat: int


class Outcome(Frozen):
    """How an order ended.

    Attributes:
        status: succeeded, failed or canceled.
        attempt: how often it was begun.
        files: the attempt whose files count; None when there are none.
        report: of a success.
        artifacts: of a success.
        error: of a failure.
        memory: what it took, as `TaskMemory` has it; None when that is not known.
        elapsed_s: seconds of the last attempt.
    """

    status: JobStatus
    attempt: int
    files: str | None = None
    report: dict[str, Any] = Field(default_factory=dict)
    artifacts: tuple[Artifact, ...] = ()
    error: JobError | None = None
    memory: dict[str, Any] | None = None
    elapsed_s: float = 0.0


class OrderDesk:
    """Reads and writes what belongs to orders. Every method may raise STORAGE_UNREACHABLE.

    Args:
        storage: shared by the host and its workers.
    """

    def __init__(self, storage: SharedStorage) -> None:
        self._storage = storage

    # -- the host ----------------------------------------------------------------------------

    def place(self, order: Order, folders: JobFolders) -> None:
        """Leave a job for a worker: its inputs, then the order itself.

        Raises:
            EngineError: JOB_NOT_FOUND when an input is gone.
        """
        spec = order.spec
        for name in spec.input_names:
            self._storage.upload(folders.file(spec.job_id, name), f"{_job(spec.job_id)}/in/{name}")
        content = order.model_dump_json().encode()
        self._storage.write(f"{_job(spec.job_id)}/order.json", content)

    def call_off(self, job_id: str, ticket: str) -> None:
        """Tell whoever works on an order to stop."""
        self._storage.write(f"{_order(job_id, ticket)}/called-off", b"1")

    def outcome(self, job_id: str, ticket: str) -> Outcome | None:
        """How an order ended, None while it has not."""
        return _parsed(Outcome, self._storage.read(f"{_order(job_id, ticket)}/outcome.json"))

    def collect(self, job_id: str, ticket: str, outcome: Outcome, folder: Path) -> None:
        """Fetch the files of a success into the job's own folder.

        Raises:
            FileNotFoundError: one of them is gone.
            OSError: the disk is full.
        """
        for artifact in outcome.artifacts:
            key = f"{_order(job_id, ticket)}/out/{outcome.files}/{artifact.name}"
            self._storage.download(key, folder / artifact.name)

    def link(self, job_id: str, name: str) -> str | None:
        """An address at which a browser fetches a file of a success itself; None for a folder."""
        order = self.order(job_id)
        outcome = None if order is None else self.outcome(job_id, order.ticket)
        if order is None or outcome is None or outcome.files is None:
            return None
        key = f"{_order(job_id, order.ticket)}/out/{outcome.files}/{name}"
        return self._storage.link(key, f"sonic-studio-{job_id[:8]}-{name}")

    def remove(self, job_id: str) -> None:
        """Remove everything about a job; messages about it are void then."""
        self._storage.remove(_job(job_id))

    # -- both --------------------------------------------------------------------------------

    def order(self, job_id: str) -> Order | None:
        """The order of a job, None when there is none any more."""
        return _parsed(Order, self._storage.read(f"{_job(job_id)}/order.json"))

    # -- a worker ----------------------------------------------------------------------------

    def fetch(self, order: Order, folder: Path) -> None:
        """Fetch the inputs of an order.

        Raises:
            FileNotFoundError: one of them is gone, as after a deletion.
        """
        for name in order.spec.input_names:
            self._storage.download(f"{_job(order.spec.job_id)}/in/{name}", folder / name)

    def is_called_off(self, job_id: str, ticket: str) -> bool:
        """Whether the owner canceled."""
        return self._storage.read(f"{_order(job_id, ticket)}/called-off") is not None

    def num_attempts(self, job_id: str, ticket: str) -> int:
        """How often an order was begun."""
        return len(self._storage.names(f"{_order(job_id, ticket)}/tries"))

    def begin(self, order: Order) -> str:
        """Note a new attempt and take the lease.

        Returns:
            The id of the attempt.
        """
        attempt_id = secrets.token_hex(8)
        self._storage.write(_try(order, attempt_id), b"1")
        self.hold(order, Lease(holder=attempt_id, beat=0))
        return attempt_id

    def take_back(self, order: Order, attempt_id: str) -> None:
        """Make an attempt that was put back through no fault of its own not count."""
        self._storage.remove(_try(order, attempt_id))

    def lease(self, order: Order) -> Lease | None:
        """Who works on an order; None when nobody does."""
        key = f"{_order(order.spec.job_id, order.ticket)}/lease.json"
        return _parsed(Lease, self._storage.read(key))

    def hold(self, order: Order, lease: Lease) -> None:
        """Take the lease or renew it."""
        key = f"{_order(order.spec.job_id, order.ticket)}/lease.json"
        self._storage.write(key, lease.model_dump_json().encode())

    def release(self, order: Order, attempt_id: str) -> None:
        """Give the lease away, if it is still this attempt's."""
        lease = self.lease(order)
        if lease is not None and lease.holder == attempt_id:
            self._storage.remove(f"{_order(order.spec.job_id, order.ticket)}/lease.json")

    def deliver(self, order: Order, outcome: Outcome, folder: Path) -> None:
        """Leave what an order gave: the files first, then how it ended."""
        place = _order(order.spec.job_id, order.ticket)
        for artifact in outcome.artifacts:
            key = f"{place}/out/{outcome.files}/{artifact.name}"
            self._storage.upload(folder / artifact.name, key)
        self._storage.write(f"{place}/outcome.json", outcome.model_dump_json().encode())


def _job(job_id: str) -> str:
    return f"jobs/{job_id}"


def _order(job_id: str, ticket: str) -> str:
    return f"jobs/{job_id}/{ticket}"


def _try(order: Order, attempt_id: str) -> str:
    return f"{_order(order.spec.job_id, order.ticket)}/tries/{attempt_id}"


def _parsed(kind: type[Kept], content: bytes | None) -> Kept | None:
    """What was kept; None when nothing was, or what another version of the program wrote."""
    if content is None:
        return None
    try:
        return kind.model_validate_json(content)
    except ValidationError:
        return None
