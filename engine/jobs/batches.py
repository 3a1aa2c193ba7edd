"""Batches: jobs that were asked for together, one for each row of a table.

The rows of a batch stand in one entry of the table `batch`, refused ones with the reason; the
jobs point back at it. A batch has no state of its own: it is what its jobs are.
"""

import json
import sqlite3
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from engine.contracts import JobError, utc_now
from engine.errors import EngineError
from engine.jobs.database import Database
from engine.jobs.fairness import Usage
from engine.jobs.rows import NewJob, StoredJob, columns_of, read_row
from engine.jobs.statements import ADD as ADD_JOB
from engine.jobs.statements import NEXT_REVISION, RETRY
from engine.jobs.submissions import add_submission, usage_of

ADD = """
    INSERT INTO batch (batch_id, owner, title, rows, at, idempotency_key)
    VALUES (:batch_id, :owner, :title, :rows, :at, :idempotency_key)
"""
PLACE = "UPDATE job SET batch_id = :batch_id, batch_row = :batch_row WHERE job_id = :job_id"
FIND = "SELECT * FROM batch WHERE batch_id = ?"
FIND_BY_KEY = "SELECT * FROM batch WHERE owner = ? AND idempotency_key = ?"
LIST = """
    SELECT * FROM batch WHERE :owner IS NULL OR owner = :owner
    ORDER BY at DESC, batch_id LIMIT :limit
"""
JOBS = "SELECT * FROM visible_job WHERE batch_id = ? ORDER BY batch_row"
CANCEL_QUEUED = """
    UPDATE job SET status = 'canceled', finished_at = :now, revision = :revision
    WHERE batch_id = :batch_id AND status = 'queued'
"""
CANCEL_RUNNING = """
    UPDATE job SET cancel_requested = 1, revision = :revision
    WHERE batch_id = :batch_id AND status = 'running'
"""
DELETE = "DELETE FROM batch WHERE batch_id = ?"


@dataclass(frozen=True)
class RowFacts:
    """What is kept of one row beside its job.

    Attributes:
        name, language, voice: as asked.
        error: why it was refused; None when a job was made of it.
    """

    name: str
    language: str | None
    voice: str | None
    error: JobError | None = None


@dataclass(frozen=True)
class NewBatch:
    """A batch to add.

    Attributes:
        batch_id: its random id.
        owner: who asks.
        title: what lists show.
        rows: all of them, in the person's order.
        jobs: one for each row that was not refused, by its index.
        idempotency_key: the same key of the same owner means the same batch.
        address: where the owner submits from, for limits.
    """

    batch_id: str
    owner: str
    title: str
    rows: Sequence[RowFacts]
    jobs: dict[int, NewJob]
    idempotency_key: str | None = None
    address: str | None = None


@dataclass(frozen=True)
class StoredBatch:
    """A batch with its jobs as they are now.

    Attributes:
        batch_id, owner, title: as it was added.
        created_at: UTC.
        rows: in the person's order.
        jobs: by the index of their row; one that was deleted is missing.
    """

    batch_id: str
    owner: str
    title: str
    created_at: datetime
    rows: tuple[RowFacts, ...]
    jobs: dict[int, StoredJob]


class Batches:
    """The table of batches.

    Args:
        database: of the job store.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, new: NewBatch, refuse: Callable[[Usage], EngineError | None]) -> str:
        """Queue every job of a batch, or none.

        Args:
            new: the batch.
            refuse: says why the owner may not submit now, from what is in the queue.

        Returns:
            The id of the batch, or of the one that this owner added with the same key before.

        Raises:
            EngineError: what `refuse` said.
        """
        now = time.time()
        with self._database.transaction() as connection:
            if new.idempotency_key is not None:
                known = connection.execute(FIND_BY_KEY, (new.owner, new.idempotency_key)).fetchone()
                if known is not None:
                    return str(known["batch_id"])
            why_not = refuse(usage_of(connection, new.owner, new.address, now))
            if why_not is not None:
                raise why_not
            connection.execute(
                ADD,
                {
                    "batch_id": new.batch_id,
                    "owner": new.owner,
                    "title": new.title,
                    "rows": json.dumps([_as_json(row) for row in new.rows]),
                    "at": now,
                    "idempotency_key": new.idempotency_key,
                },
            )
            for index, job in sorted(new.jobs.items()):
                add_submission(connection, new.owner, new.address, now)
                connection.execute(ADD_JOB, columns_of(job, _next_revision(connection)))
                place = {"batch_id": new.batch_id, "batch_row": index, "job_id": job.spec.job_id}
                connection.execute(PLACE, place)
        return new.batch_id

    def get(self, batch_id: str) -> StoredBatch | None:
        """One batch, None when there is none of this id."""
        row = self._database.connection().execute(FIND, (batch_id,)).fetchone()
        return None if row is None else self._read(row)

    def find_by_key(self, owner: str, idempotency_key: str) -> StoredBatch | None:
        """The batch this owner submitted with this key, if it still exists."""
        keys = (owner, idempotency_key)
        row = self._database.connection().execute(FIND_BY_KEY, keys).fetchone()
        return None if row is None else self._read(row)

    def list_for(self, owner: str | None, limit: int) -> list[StoredBatch]:
        """The newest batches of one owner (None = of all), newest first."""
        values = {"owner": owner, "limit": limit}
        rows = self._database.connection().execute(LIST, values).fetchall()
        return [self._read(row) for row in rows]

    def request_cancel(self, batch_id: str) -> None:
        """Cancel all jobs that wait and ask the running one to stop, at one moment.

        Job by job, the queue would begin the next one while this one is canceled.
        """
        with self._database.transaction() as connection:
            values: dict[str, Any] = {"batch_id": batch_id, "revision": _next_revision(connection)}
            connection.execute(CANCEL_QUEUED, {**values, "now": utc_now().isoformat()})
            connection.execute(CANCEL_RUNNING, values)

    def retry(self, job_ids: Sequence[str]) -> None:
        """Queue failed and canceled jobs again, in this order."""
        with self._database.transaction() as connection:
            for job_id in job_ids:
                values = {"job_id": job_id, "revision": _next_revision(connection)}
                connection.execute(RETRY, values)

    def delete(self, batch_id: str) -> None:
        """Forget a batch; its jobs are removed by who calls this."""
        with self._database.transaction() as connection:
            connection.execute(DELETE, (batch_id,))

    def _read(self, row: sqlite3.Row) -> StoredBatch:
        connection = self._database.connection()
        jobs = connection.execute(JOBS, (row["batch_id"],)).fetchall()
        return StoredBatch(
            batch_id=row["batch_id"],
            owner=row["owner"],
            title=row["title"],
            created_at=datetime.fromtimestamp(row["at"], UTC),
            rows=tuple(_from_json(item) for item in json.loads(row["rows"])),
            jobs={job["batch_row"]: read_row(job) for job in jobs},
        )


def _next_revision(connection: sqlite3.Connection) -> int:
    return int(connection.execute(NEXT_REVISION).fetchall()[0]["value"])


def _as_json(row: RowFacts) -> dict[str, Any]:
    error = None if row.error is None else row.error.model_dump(mode="json")
    return {**vars(row), "error": error}


def _from_json(item: dict[str, Any]) -> RowFacts:
    error = item["error"]
    return RowFacts(**{**item, "error": error and JobError.model_validate(error)})
