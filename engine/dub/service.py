"""Batches as callers know them: taken in, told about, canceled, retried, packed.

Every row becomes a job of its own, so that turns, limits, recovery and retention are those of
the queue. A row that cannot be used is kept with the reason and never stops the others.
"""

import contextlib
import hashlib
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from engine.contracts import BatchPart, BatchRecord, BatchRequest, JobRecord, JobStatus
from engine.dub.archive import ENGLISH, KINDS, Entry, TableWords, write_archive
from engine.dub.intake import RowIntake
from engine.dub.record import record_of
from engine.errors import EngineError, ErrorCode, InputError
from engine.jobs.admission import Admission
from engine.jobs.backend import JobBackend
from engine.jobs.batches import NewBatch, StoredBatch
from engine.jobs.disk import DiskGate
from engine.jobs.fairness import LOCAL_OWNER
from engine.jobs.reception import Reception
from engine.jobs.rows import NewJob
from engine.jobs.store import JobStore
from engine.jobs.waiting import LOOKED_AT
from engine.settings import EngineSettings
from engine.storage import JobFolders
from engine.worker.quick import no_room

ARCHIVE_AGE_S = 3600.0
"""A browser has begun to fetch a ZIP within seconds; after an hour it is litter."""

WAIT_POLL_S = 0.2


@dataclass(frozen=True)
class BatchTools:
    """What the engine lends to its batches.

    Attributes:
        store, folders, admission, disk, backend, reception, settings: of the engine.
        temp_dir: makes the folder for short-lived files and returns it.
        intake: of rows.
    """

    store: JobStore
    folders: JobFolders
    admission: Admission
    disk: DiskGate
    backend: JobBackend
    reception: Reception
    settings: EngineSettings
    temp_dir: Callable[[], Path]
    intake: RowIntake


class BatchService:
    """Everything a page, a command or a script may ask about batches.

    An owner of None is a trusted local caller.
    """

    def __init__(self, tools: BatchTools) -> None:
        self._tools = tools
        self._batches = tools.store.batches

    def submit(
        self,
        request: BatchRequest,
        owner: str = LOCAL_OWNER,
        idempotency_key: str | None = None,
        address: str | None = None,
    ) -> BatchRecord:
        """Take in a portrait and the rows of a table, and queue a job for each.

        The portrait is decoded once. A row that cannot be used stands in the record with its
        error; the rest is made.

        Args:
            request: what to make.
            owner: who asks.
            idempotency_key: the same key of the same owner gives the same batch.
            address: where they ask from.

        Raises:
            InputError: about the portrait, the options or the number of rows; nothing was queued.
            EngineError: QUEUE_FULL, TOO_MANY_WAITING, SUBMITTED_TOO_FAST, DAILY_LIMIT,
                DISK_LOW, STORAGE_FULL, DISK_FULL, WORKER_LOST; nothing was queued.
        """
        tools = self._tools
        self._require(request)
        if idempotency_key is not None:
            known = self._batches.find_by_key(owner, idempotency_key)
            if known is not None:
                return self._record(known)
        count = len(request.rows)
        tools.admission.require(owner, address, count)
        taken: dict[int, NewJob] = {}
        try:
            facts = tools.intake.take_in(request, owner, taken)
            new = NewBatch(
                batch_id=secrets.token_hex(16),
                owner=owner,
                title=request.title or Path(request.portrait).stem,
                rows=facts,
                jobs=taken,
                idempotency_key=idempotency_key,
                address=address,
            )
            batch_id = self._batches.add(new, tools.admission.refuse(owner, len(taken)))
        except BaseException:
            self._remove_folders(taken)
            raise
        if batch_id != new.batch_id:
            self._remove_folders(taken)
        tools.reception.announce(job.spec.job_id for job in taken.values())
        return self.get(batch_id, owner)

    def get(self, batch_id: str, owner: str | None = None) -> BatchRecord:
        """One batch.

        Raises:
            EngineError: JOB_NOT_FOUND, also when it belongs to someone else.
        """
        return self._record(self._find(batch_id, owner))

    def list_for(self, owner: str | None, limit: int = 10) -> list[BatchRecord]:
        """The newest batches of one owner (None = of all), newest first."""
        return [self._record(batch) for batch in self._batches.list_for(owner, limit)]

    def wait(
        self,
        batch_id: str,
        on_change: Callable[[BatchRecord], None],
        owner: str | None = None,
    ) -> BatchRecord:
        """Wait until every row has ended; runs the jobs here when no other engine does.

        Args:
            batch_id: which one.
            on_change: called in this thread with the batch as it is, a few times a second.
            owner: see `get`.
        """
        self._tools.backend.start()
        while True:
            batch = self.get(batch_id, owner)
            on_change(batch)
            if batch.is_final:
                return batch
            time.sleep(WAIT_POLL_S)

    def cancel(self, batch_id: str, owner: str | None = None) -> BatchRecord:
        """Stop every row that has not ended; what is ready stays."""
        batch = self._find(batch_id, owner)
        self._batches.request_cancel(batch_id)
        for job in batch.jobs.values():
            if job.record.status is JobStatus.RUNNING:
                self._tools.backend.canceled(job.job_id)
        return self.get(batch_id, owner)

    def retry(self, batch_id: str, owner: str | None = None) -> BatchRecord:
        """Queue the failed and canceled rows again; the others are left as they are.

        Raises:
            EngineError: JOB_NOT_FOUND, or the queue is full for this owner.
        """
        batch = self._find(batch_id, owner)
        again = [job.job_id for _, job in sorted(batch.jobs.items()) if _can_retry(job.record)]
        if again:
            self._tools.admission.require(batch.owner, count=len(again))
            self._batches.retry(again)
            self._tools.reception.announce(again)
        return self.get(batch_id, owner)

    def delete(self, batch_id: str, owner: str | None = None) -> None:
        """Remove a batch with its jobs and their files; what runs is stopped first."""
        tools = self._tools
        batch = self._find(batch_id, owner)
        for job in batch.jobs.values():
            tools.store.hide(job.job_id)
            tools.backend.canceled(job.job_id)
        self._batches.delete(batch_id)
        for job_id in tools.store.purge_hidden():
            tools.folders.remove(job_id)

    def archive(self, batch_id: str, owner: str | None = None, words: TableWords = ENGLISH) -> Path:
        """The finished videos and captions as a ZIP, a temporary file that lives for an hour.

        Args:
            batch_id: which one.
            owner: whose it must be; None = anybody's.
            words: of the table inside.

        Raises:
            EngineError: JOB_NOT_FOUND when there is no video yet; DISK_LOW or DISK_FULL.
        """
        batch = self.get(batch_id, owner)
        if not batch.num_ready:
            raise EngineError(ErrorCode.JOB_NOT_FOUND)
        entries = [self._entry(part, words) for part in batch.parts]
        rows = (f"{entry.stem} {entry.state} {entry.files}" for entry in entries)
        states = "\n".join((" ".join(words.heads), *rows))
        digest = hashlib.sha256(states.encode()).hexdigest()[:16]
        folder = self._tools.temp_dir()
        _remove_old_archives(folder)
        target = folder / f"batch-{batch.batch_id}-{digest}.zip"
        if target.is_file():
            target.touch()
            return target
        size_bytes = sum(path.stat().st_size for entry in entries for path in entry.files.values())
        why_not = self._tools.disk.refusal(size_bytes)
        if why_not is not None:
            raise why_not
        try:
            write_archive(target, entries, words)
        except OSError as error:
            raise no_room(error) from error
        return target

    # -- inside ------------------------------------------------------------------------------

    def _require(self, request: BatchRequest) -> None:
        """Refuse what can be seen without opening a file."""
        if not request.consent:
            raise InputError(ErrorCode.CONSENT_MISSING)
        if not request.rows:
            raise InputError(ErrorCode.TABLE_EMPTY)
        limit = self._tools.settings.max_batch_rows
        if len(request.rows) > limit:
            raise InputError(ErrorCode.TABLE_TOO_LONG, count=len(request.rows), limit=limit)
        if not Path(request.portrait).is_file():
            raise InputError(ErrorCode.FILE_NOT_FOUND, name=Path(request.portrait).name)

    def _remove_folders(self, jobs: dict[int, NewJob]) -> None:
        for job in jobs.values():
            self._tools.folders.remove(job.spec.job_id)

    def _find(self, batch_id: str, owner: str | None) -> StoredBatch:
        batch = self._batches.get(batch_id)
        if batch is None or owner not in (None, batch.owner):
            raise EngineError(ErrorCode.JOB_NOT_FOUND)
        return batch

    def _record(self, batch: StoredBatch) -> BatchRecord:
        store = self._tools.store
        running = next(iter(store.list_running()), None)
        return record_of(batch, store.list_queued(LOOKED_AT), running, store.rates())

    def _entry(self, part: BatchPart, words: TableWords) -> Entry:
        files: dict[str, Path] = {}
        state = words.gone if part.job is None else words.states[part.job.status]
        if part.job is not None and part.is_ready:
            for artifact in part.job.artifacts:
                if artifact.kind in KINDS:
                    path = self._tools.folders.file(part.job.job_id, artifact.name)
                    files[KINDS[artifact.kind]] = path
        elif part.fault is not None:
            state = words.explain(part.fault.code, part.fault.values).sentence
        return Entry(part.file_stem, part.name, part.language or "", state, files)


def _can_retry(record: JobRecord) -> bool:
    return record.status in (JobStatus.FAILED, JobStatus.CANCELED)


def _remove_old_archives(folder: Path) -> None:
    oldest = time.time() - ARCHIVE_AGE_S
    for old in folder.glob("batch-*.zip"):
        with contextlib.suppress(OSError):  # being read on Windows, or just removed
            if old.stat().st_mtime < oldest:
                old.unlink()
