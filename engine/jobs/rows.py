"""Rows of the job table as the types callers know."""

import json
import sqlite3
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from engine.contracts import (
    Artifact,
    JobError,
    JobRecord,
    JobSpec,
    JobStatus,
    Progress,
    utc_now,
)


@dataclass(frozen=True)
class NewJob:
    """What is known of a job when it is added.

    Attributes:
        spec: what to make.
        owner: who asked.
        title: what lists show.
        duration_s: length of the recording, or about how long the text takes; None = not known.
        consent: the caller stated they may use this face and voice.
        priority: higher goes first.
        idempotency_key: the same key of the same owner means the same job.
        address: where the owner submits from, for limits; kept as a hash for a day.
    """

    spec: JobSpec
    owner: str
    title: str = ""
    duration_s: float | None = None
    consent: bool = False
    priority: int = 0
    idempotency_key: str | None = None
    address: str | None = None


@dataclass(frozen=True)
class StoredJob:
    """A job with what only the queue needs to know.

    Attributes:
        record: as callers see it.
        duration_s: length of the recording in seconds, None when not known.
        cancel_requested: the user asked to stop while it ran.
        revision: grows with every change of any job.
    """

    record: JobRecord
    duration_s: float | None
    cancel_requested: bool
    revision: int

    @property
    def job_id(self) -> str:
        """The job's id."""
        return self.record.job_id


def columns_of(new: NewJob, revision: int) -> dict[str, Any]:
    """The columns of a job that is added now."""
    return {
        "job_id": new.spec.job_id,
        "owner": new.owner,
        "title": new.title,
        "spec": new.spec.model_dump_json(),
        "duration_s": new.duration_s,
        "priority": new.priority,
        "created_at": utc_now().isoformat(),
        "consent": int(new.consent),
        "idempotency_key": new.idempotency_key,
        "revision": revision,
    }


def read_row(row: sqlite3.Row) -> StoredJob:
    """Turn a row of `visible_job` into a `StoredJob`."""
    record = JobRecord(
        job_id=row["job_id"],
        owner=row["owner"],
        title=row["title"],
        status=JobStatus(row["status"]),
        spec=JobSpec.model_validate_json(row["spec"]),
        attempt=row["attempt"],
        progress=Progress.model_validate_json(row["progress"]) if row["progress"] else None,
        queue_position=row["queue_position"],
        error=JobError.model_validate_json(row["error"]) if row["error"] else None,
        artifacts=tuple(Artifact.model_validate(item) for item in json.loads(row["artifacts"])),
        report=json.loads(row["report"]),
        created_at=datetime.fromisoformat(row["created_at"]),
        started_at=_maybe_time(row["started_at"]),
        finished_at=_maybe_time(row["finished_at"]),
        consent=bool(row["consent"]),
    )
    return StoredJob(
        record=record,
        duration_s=row["duration_s"],
        cancel_requested=bool(row["cancel_requested"]),
        revision=row["revision"],
    )


def _maybe_time(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


def outcome_columns(
    status: JobStatus,
    *,
    error: JobError | None = None,
    artifacts: tuple[Artifact, ...] = (),
    report: dict[str, Any] | None = None,
) -> dict[str, str | None]:
    """The columns that say how a job ended."""
    return {
        "status": status.value,
        "error": None if error is None else error.model_dump_json(),
        "artifacts": json.dumps([artifact.model_dump() for artifact in artifacts]),
        "report": json.dumps(report or {}),
    }
