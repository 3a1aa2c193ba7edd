"""A stored batch as callers know it. Pure: rows, jobs and the queue in, a record out."""

from collections.abc import Sequence

from engine.contracts import BatchPart, BatchRecord, JobRecord
from engine.dub.names import file_stems
from engine.jobs.batches import RowFacts, StoredBatch
from engine.jobs.limits import Rates
from engine.jobs.rows import StoredJob
from engine.jobs.waiting import job_s, left_s, starts_of_places_s


def record_of(
    batch: StoredBatch, queue: Sequence[StoredJob], running: StoredJob | None, rates: Rates
) -> BatchRecord:
    """How far a batch and each of its rows are.

    Args:
        batch: with its jobs.
        queue: the first jobs of everybody that wait, the next one first.
        running: the job that is being made.
        rates: measured here.
    """
    ends = _ends_s(batch, queue, running, rates)
    stems = file_stems((row.name, row.language) for row in batch.rows)
    parts = tuple(
        _part(index, row, stems[index], batch.jobs.get(index), ends)
        for index, row in enumerate(batch.rows)
    )
    lefts = [part.seconds_left for part in parts if part.seconds_left is not None]
    work = [(job_s(job, rates), _percent(job.record)) for job in batch.jobs.values()]
    whole_s = sum(seconds for seconds, _ in work)
    done = sum(seconds * percent for seconds, percent in work)
    return BatchRecord(
        batch_id=batch.batch_id,
        owner=batch.owner,
        title=batch.title,
        created_at=batch.created_at,
        parts=parts,
        percent=round(done / whole_s, 1) if whole_s else 100.0,
        seconds_left=max(lefts) if lefts else None,
    )


def _ends_s(
    batch: StoredBatch, queue: Sequence[StoredJob], running: StoredJob | None, rates: Rates
) -> dict[str, float]:
    """Seconds until each job of a batch that runs or waits will be ready, by its id."""
    jobs = batch.jobs.values()
    waiting = {job.job_id: job.record.queue_position for job in jobs}
    places = {job_id: place for job_id, place in waiting.items() if place is not None}
    starts = starts_of_places_s(places.values(), queue, running, rates)
    return {
        job.job_id: starts[places[job.job_id]] + job_s(job, rates)
        if job.job_id in places
        else left_s(job, rates)
        for job in jobs
        if not job.record.status.is_final
    }


def _part(
    index: int, row: RowFacts, stem: str, job: StoredJob | None, ends: dict[str, float]
) -> BatchPart:
    return BatchPart(
        number=index + 1,
        name=row.name,
        language=row.language,
        voice=row.voice,
        file_stem=stem,
        job=None if job is None else job.record,
        error=row.error,
        seconds_left=None if job is None else ends.get(job.job_id),
    )


def _percent(record: JobRecord) -> float:
    if record.status.is_final:
        return 100.0
    return record.progress.percent if record.progress is not None else 0.0
