"""What a dispatcher does before its first job: put right what one that died left behind.

Called by the holder of the folder lock only, while nothing runs.
"""

import logging
from dataclasses import dataclass

from engine.contracts import JobError
from engine.errors import ErrorCode
from engine.jobs.rows import StoredJob
from engine.jobs.store import JobStore
from engine.storage import JobFolders

MAX_ATTEMPTS = 2
"""A job whose worker was lost is tried once more; a second loss is its own fault."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Recovered:
    """How many jobs were put back, given up, canceled."""

    requeued: int
    failed: int
    canceled: int


def may_retry(attempt: int) -> bool:
    """Whether a job that was lost in this attempt may be tried again."""
    return attempt < MAX_ATTEMPTS


def recover(store: JobStore, folders: JobFolders, lease_token: str) -> Recovered:
    """Requeue or end what counts as running, remove what was deleted meanwhile.

    Args:
        store: of the data folder.
        folders: of its jobs.
        lease_token: of the new dispatcher.
    """
    for job_id in store.purge_hidden(with_running=True):
        folders.remove(job_id)
    outcomes = [_settle(store, job, lease_token) for job in store.list_running()]
    recovered = Recovered(
        requeued=outcomes.count("requeued"),
        failed=outcomes.count("failed"),
        canceled=outcomes.count("canceled"),
    )
    if outcomes:
        _log.info("recovered after an engine that ended unexpectedly: %s", recovered)
    return recovered


def _settle(store: JobStore, job: StoredJob, lease_token: str) -> str:
    """Decide about one job whose dispatcher is gone."""
    store.take_over(job.job_id, lease_token)
    if job.cancel_requested:
        store.finish_canceled(job.job_id, lease_token)
        return "canceled"
    if may_retry(job.record.attempt):
        store.requeue(job.job_id)
        return "requeued"
    stage = job.record.progress.stage if job.record.progress else None
    store.finish_failed(job.job_id, lease_token, JobError(code=ErrorCode.WORKER_LOST, stage=stage))
    return "failed"
