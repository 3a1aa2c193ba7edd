"""The job store: every job, its state and its result, in one SQLite file.

The record of truth for the queue. It never runs anything and never touches the job's files.
Safe from any thread and any process of this machine; the file must lie on a local disk.
"""

import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

from engine.contracts import (
    Artifact,
    JobError,
    JobEvent,
    JobRecord,
    JobStatus,
    Progress,
    utc_now,
)
from engine.errors import EngineError
from engine.jobs import statements
from engine.jobs.batches import Batches
from engine.jobs.database import Database
from engine.jobs.fairness import DAY_S, Usage
from engine.jobs.ledger import Ledger
from engine.jobs.rows import NewJob, StoredJob, columns_of, outcome_columns, read_row
from engine.jobs.submissions import add_submission, usage_of

Refuse = Callable[[Usage], EngineError | None]

LEASE_S = 30.0
"""How long a claim is good without a renewal; a dispatcher renews it every few seconds."""


def welcome(_usage: Usage) -> None:
    """Refuse nobody."""
    return


class JobStore:
    """Rows of jobs and measured rates.

    Attributes:
        ledger: what each job took of the memory.
        batches: jobs that were asked for together.

    Args:
        path: of the SQLite file.

    Raises:
        EngineError: DATA_DIR_TOO_NEW when a newer program wrote the file.
    """

    def __init__(self, path: Path) -> None:
        self._database = Database(path, statements.MIGRATIONS)
        self.ledger = Ledger(self._database)
        self.batches = Batches(self._database)

    def close(self) -> None:
        """Close the connections of every thread."""
        self._database.close()

    def add(self, new: NewJob, refuse: Refuse = welcome) -> JobRecord:
        """Queue a job; the same owner and idempotency key give the job that is already there.

        Args:
            new: the job.
            refuse: says why the owner may not submit now, from what is in the queue.

        Returns:
            The job; its place in the queue is told by `get`.

        Raises:
            EngineError: what `refuse` said.
        """
        now = time.time()
        with self._database.transaction() as connection:
            if new.idempotency_key is not None:
                keys = (new.owner, new.idempotency_key)
                known = connection.execute(statements.FIND_BY_KEY, keys).fetchone()
                if known is not None:
                    return read_row(known).record
            why_not = refuse(usage_of(connection, new.owner, new.address, now))
            if why_not is not None:
                raise why_not
            add_submission(connection, new.owner, new.address, now)
            connection.execute(statements.ADD, columns_of(new, self._next_revision()))
            found = connection.execute(statements.FIND_NEW, (new.spec.job_id,)).fetchone()
        return read_row(found).record

    def usage(self, owner: str, address: str | None) -> Usage:
        """What is in the queue, and what this person and their neighbours did lately."""
        return usage_of(self._database.connection(), owner, address, time.time())

    def find_by_key(self, owner: str, idempotency_key: str) -> JobRecord | None:
        """The job this owner submitted with this key, if it still exists."""
        row = self._one(statements.FIND_BY_KEY, (owner, idempotency_key))
        return None if row is None else row.record

    def claim_next(self, lease_token: str) -> StoredJob | None:
        """Take the first waiting job: it becomes `running`, its attempt grows by one.

        Args:
            lease_token: who takes it; later writes about the job must carry the same one.
        """
        if self.count_queued() == 0:
            return None
        with self._database.transaction() as connection:
            revision = self._next_revision()
            claimed = connection.execute(
                statements.CLAIM_NEXT,
                {
                    "lease_token": lease_token,
                    "lease_until": time.time() + LEASE_S,
                    "now": utc_now().isoformat(),
                    "revision": revision,
                },
            ).fetchall()
            if not claimed:
                return None
            turn = {"owner": claimed[0]["owner"], "revision": revision}
            connection.execute(statements.TAKE_TURN, turn)
            row = connection.execute(statements.FIND, (claimed[0]["job_id"],)).fetchone()
        return read_row(row)

    def send(self, job_id: str) -> bool:
        """Note that a waiting job was given to a broker: its owner had their turn.

        Returns:
            False when it does not wait any more.
        """
        with self._database.transaction() as connection:
            revision = self._next_revision()
            values = {"job_id": job_id, "revision": revision}
            sent = connection.execute(statements.SEND, values).fetchall()
            if not sent:
                return False
            turn = {"owner": sent[0]["owner"], "revision": revision}
            connection.execute(statements.TAKE_TURN, turn)
        return True

    def begin(self, job_id: str, lease_token: str, attempt: int) -> bool:
        """Note that a worker elsewhere has begun a job.

        Args:
            job_id: which one.
            lease_token: who writes about it from now on.
            attempt: which one it is, counted from 1.

        Returns:
            False when it does not wait any more, or this attempt is known.
        """
        return self._change(
            statements.BEGIN,
            job_id=job_id,
            lease_token=lease_token,
            attempt=attempt,
            lease_until=time.time() + LEASE_S,
            now=utc_now().isoformat(),
        )

    def count_statuses(self) -> dict[JobStatus, int]:
        """How many jobs of each status there are."""
        rows = self._database.connection().execute(statements.COUNT_STATUSES)
        return {JobStatus(row["status"]): int(row["jobs"]) for row in rows}

    def renew(self, job_id: str, lease_token: str, progress: Progress | None = None) -> bool:
        """Keep the claim and, where given, write how far the job is.

        Returns:
            False when the claim is not ours any more.
        """
        return self._change(
            statements.RENEW,
            job_id=job_id,
            lease_token=lease_token,
            lease_until=time.time() + LEASE_S,
            progress=None if progress is None else progress.model_dump_json(),
        )

    def take_over(self, job_id: str, lease_token: str) -> bool:
        """Make the claim of a dispatcher that is gone ours."""
        return self._change(
            statements.TAKE_OVER,
            job_id=job_id,
            lease_token=lease_token,
            lease_until=time.time() + LEASE_S,
        )

    def finish_succeeded(
        self,
        job_id: str,
        lease_token: str,
        report: dict[str, Any],
        artifacts: tuple[Artifact, ...],
    ) -> bool:
        """End a job well. False when the claim is not ours any more or the user canceled."""
        columns = outcome_columns(JobStatus.SUCCEEDED, artifacts=artifacts, report=report)
        return self._finish(job_id, lease_token, columns)

    def finish_failed(self, job_id: str, lease_token: str, error: JobError) -> bool:
        """End a job with the reason. False when the claim is not ours any more."""
        return self._finish(job_id, lease_token, outcome_columns(JobStatus.FAILED, error=error))

    def finish_canceled(self, job_id: str, lease_token: str) -> bool:
        """End a job because the user asked to. False when the claim is not ours any more."""
        return self._finish(job_id, lease_token, outcome_columns(JobStatus.CANCELED))

    def requeue(self, job_id: str, *, counted: bool = True) -> bool:
        """Put a running job back to the front of the queue.

        Args:
            job_id: which one.
            counted: whether the attempt it just had counts against it.
        """
        return self._change(statements.REQUEUE_FRONT, job_id=job_id, uncounted=int(not counted))

    def retry(self, job_id: str) -> bool:
        """Queue a failed or canceled job again, last in line, with fresh attempts."""
        return self._change(statements.RETRY, job_id=job_id)

    def request_cancel(self, job_id: str) -> None:
        """Cancel a waiting job at once; ask whoever runs a running one to stop."""
        if not self._change(statements.CANCEL_QUEUED, job_id=job_id, now=utc_now().isoformat()):
            self._change(statements.CANCEL_RUNNING, job_id=job_id)

    def is_cancel_requested(self, job_id: str) -> bool:
        """Whether a running job should stop; a job that is gone should, too."""
        connection = self._database.connection()
        row = connection.execute(statements.IS_CANCEL_REQUESTED, (job_id,)).fetchone()
        return row is None or bool(row["cancel_requested"])

    def hide(self, job_id: str) -> None:
        """Make a job invisible at once and ask for its end; `purge_hidden` removes it."""
        with self._database.transaction() as connection:
            values = {"job_id": job_id, "revision": self._next_revision()}
            connection.execute(statements.BURY, values)
            connection.execute(statements.HIDE, values)

    def forget(self, owner: str) -> None:
        """Hide every job of an owner and remove whatever else tells about them."""
        with self._database.transaction() as connection:
            values = {"owner": owner, "revision": self._next_revision()}
            connection.execute(statements.HIDE_ALL_OF, values)
            for statement in statements.FORGET:
                connection.execute(statement, {"owner": owner})
        self._database.truncate_log()

    def purge_hidden(self, *, with_running: bool = False) -> list[str]:
        """Remove the rows of hidden jobs.

        Args:
            with_running: also those that count as running; only for who knows that none runs.

        Returns:
            The ids, so that their folders can go too.
        """
        if not self._database.connection().execute(statements.HAS_HIDDEN).fetchone()[0]:
            return []
        with self._database.transaction() as connection:
            if with_running:
                connection.execute(statements.CLEAR_HIDDEN_RUNNING)
            rows = connection.execute(statements.PURGE_HIDDEN).fetchall()
        return [row["job_id"] for row in rows]

    def expire(self, before: datetime) -> list[str]:
        """Remove jobs that ended before a time; their ids, so that their folders can go too."""
        values = {"before": before.isoformat()}
        expired = self._database.connection().execute(statements.EXPIRE, values).fetchall()
        for row in expired:
            self.hide(row["job_id"])
        return self.purge_hidden() if expired else []

    def succeeded_before(self, before: datetime) -> list[StoredJob]:
        """Jobs that were finished well before a time."""
        return self._many(statements.SUCCEEDED_BEFORE, {"before": before.isoformat()})

    def prune(self) -> None:
        """Drop what nobody asks for any more: old turns, submissions, deletions."""
        with self._database.transaction() as connection:
            for statement in statements.PRUNE:
                needs_day = ":day_ago" in statement
                values = {"day_ago": time.time() - DAY_S} if needs_day else {}
                connection.execute(statement, values)

    def get(self, job_id: str) -> StoredJob | None:
        """One job, None when there is none of this id."""
        return self._one(statements.FIND, (job_id,))

    def list_jobs(self, owner: str | None, limit: int) -> list[JobRecord]:
        """The newest jobs of one owner (None = of all), newest first."""
        statement = statements.LIST if owner is None else statements.LIST_OF_OWNER
        rows = self._many(statement, {"owner": owner, "limit": limit})
        return [row.record for row in rows]

    def list_running(self) -> list[StoredJob]:
        """Jobs that count as running, the last in line first."""
        return self._many(statements.LIST_RUNNING, {})

    def list_queued(self, limit: int) -> list[StoredJob]:
        """The first jobs that wait, the next one first; the queue may be ten thousand long."""
        return self._many(statements.LIST_QUEUED, {"limit": limit})

    def count_queued(self) -> int:
        """How many jobs wait."""
        connection = self._database.connection()
        return int(connection.execute(statements.COUNT_QUEUED).fetchone()[0])

    def all_ids(self) -> set[str]:
        """The ids of every row, hidden ones too."""
        rows = self._database.connection().execute(statements.ALL_IDS)
        return {row["job_id"] for row in rows}

    def events_since(self, owner: str | None, cursor: int) -> list[JobEvent]:
        """What changed after `cursor`, oldest first; a job appears once, as it is now."""
        values = {"owner": owner, "cursor": cursor}
        events = [
            JobEvent(cursor=row.revision, job_id=row.job_id, record=row.record)
            for row in self._many(statements.CHANGED_SINCE, values)
        ]
        deleted = self._database.connection().execute(statements.DELETED_SINCE, values)
        events += [JobEvent(cursor=row["revision"], job_id=row["job_id"]) for row in deleted]
        return sorted(events, key=lambda event: event.cursor)

    def add_rate(
        self, animator: str, size_px: int, seconds_per_second: float, weight: float
    ) -> None:
        """Learn how long one second of video takes here; `weight` (0-1) of it is taken over."""
        values = {
            "animator": animator,
            "size_px": size_px,
            "rate": seconds_per_second,
            "weight": weight,
        }
        with self._database.transaction() as connection:
            connection.execute(statements.ADD_RATE, values)

    def rates(self) -> dict[tuple[str, int], float]:
        """Measured seconds of work per second of video, by animator and size in pixels."""
        rows = self._database.connection().execute(statements.LIST_RATES)
        return {(row["animator"], row["size_px"]): row["seconds_per_second"] for row in rows}

    def add_pace(self, stage: str, factor: float, weight: float) -> None:
        """Learn how many times longer a stage takes here; `weight` (0-1) of it is taken over."""
        values = {"stage": stage, "factor": factor, "weight": weight}
        with self._database.transaction() as connection:
            connection.execute(statements.ADD_PACE, values)

    def paces(self) -> dict[str, float]:
        """How many times longer than in the table of costs each stage takes here."""
        rows = self._database.connection().execute(statements.LIST_PACES)
        return {row["stage"]: row["factor"] for row in rows}

    def _finish(self, job_id: str, lease_token: str, columns: dict[str, str | None]) -> bool:
        return self._change(
            statements.FINISH,
            job_id=job_id,
            lease_token=lease_token,
            now=utc_now().isoformat(),
            **columns,
        )

    def _change(self, statement: str, **values: object) -> bool:
        """Run one statement that changes a job; True when it changed one."""
        with self._database.transaction() as connection:
            revision = self._next_revision()
            cursor = connection.execute(statement, {**values, "revision": revision})
            return cursor.rowcount == 1

    def _next_revision(self) -> int:
        rows = self._database.connection().execute(statements.NEXT_REVISION).fetchall()
        return int(rows[0]["value"])

    def _one(self, statement: str, values: tuple[str, ...]) -> StoredJob | None:
        row = self._database.connection().execute(statement, values).fetchone()
        return None if row is None else read_row(row)

    def _many(self, statement: str, values: dict[str, Any]) -> list[StoredJob]:
        return [read_row(row) for row in self._database.connection().execute(statement, values)]
