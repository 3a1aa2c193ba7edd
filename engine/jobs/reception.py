"""The way of a new job into the queue, whatever it makes: limits, a folder, its inputs, its row."""

import dataclasses
import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from engine.contracts import JobRecord
from engine.jobs.admission import Admission
from engine.jobs.backend import JobBackend
from engine.jobs.rows import NewJob
from engine.jobs.store import JobStore
from engine.storage import JobFolders
from engine.worker.quick import no_room

TakeIn = Callable[[str, Path], NewJob]
"""Re-encodes the inputs of a job, given its id and its folder, and says what to make of them."""


@dataclass(frozen=True)
class Asker:
    """Who wants something made.

    Attributes:
        owner: only they (and local callers) see the job.
        idempotency_key: the same key of the same owner gives the same job.
        address: where they ask from; those who share one share wider limits.
    """

    owner: str
    idempotency_key: str | None = None
    address: str | None = None


class Reception:
    """Queues jobs; safe from any thread.

    Args:
        store: of the jobs.
        folders: of the jobs.
        admission: the limits.
        backend: is told about new jobs.
    """

    def __init__(
        self, store: JobStore, folders: JobFolders, admission: Admission, backend: JobBackend
    ) -> None:
        self._store = store
        self._folders = folders
        self._admission = admission
        self._backend = backend

    def receive(self, asker: Asker, take_in: TakeIn) -> JobRecord:
        """Take in one job; when anything is wrong, nothing of it is left.

        Raises:
            EngineError: QUEUE_FULL, TOO_MANY_WAITING, SUBMITTED_TOO_FAST, DAILY_LIMIT, DISK_LOW,
                STORAGE_FULL, DISK_FULL, or what `take_in` raised.
        """
        if asker.idempotency_key is not None:
            known = self._store.find_by_key(asker.owner, asker.idempotency_key)
            if known is not None:
                return known
        self._admission.require(asker.owner, asker.address)
        job_id = secrets.token_hex(16)
        try:
            folder = self._folders.create(job_id)
        except OSError as error:
            raise no_room(error) from error
        try:
            new = dataclasses.replace(
                take_in(job_id, folder),
                idempotency_key=asker.idempotency_key,
                address=asker.address,
            )
            self._admission.require_room(new.spec, new.duration_s)
            record = self._store.add(new, self._admission.refuse(asker.owner))
        except BaseException:
            self._folders.remove(job_id)
            raise
        if record.job_id != job_id:  # the same key came twice at one moment
            self._folders.remove(job_id)
        self.announce([record.job_id])
        return record

    def announce(self, job_ids: Iterable[str]) -> None:
        """Tell the backend, which is started if need be, that jobs wait."""
        self._backend.start()
        for job_id in job_ids:
            self._backend.submitted(job_id)
