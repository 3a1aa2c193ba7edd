"""Videos: asked for, followed, canceled, fetched, removed."""

import time
from collections.abc import Callable
from pathlib import Path

from engine.contracts import AnimateRequest, JobEvent, JobRecord, JobStatus
from engine.errors import EngineError, ErrorCode
from engine.facade.parts import EngineParts
from engine.jobs.fairness import LOCAL_OWNER
from engine.jobs.reception import Asker
from engine.jobs.requests import new_job, require_complete
from engine.jobs.rows import NewJob, StoredJob
from engine.jobs.waiting import LOOKED_AT, start_of_place_s
from engine.lecture.cache import FOLDER_NAME, remove_scope, scope_of
from engine.storage import LIVE_NAME

WAIT_POLL_S = 0.1


class Jobs(EngineParts):
    """Everything about single videos. An owner of None is a trusted local caller."""

    def submit(
        self,
        request: AnimateRequest,
        owner: str = LOCAL_OWNER,
        idempotency_key: str | None = None,
        address: str | None = None,
    ) -> JobRecord:
        """Take in the inputs of one video and queue it.

        The caller's files are read now and not needed afterwards.

        Args:
            request: what to make.
            owner: who asks; only they (and local callers) see the job.
            idempotency_key: the same key of the same owner gives the same job.
            address: where they ask from; those who share one share wider limits.

        Raises:
            InputError: something about the inputs; nothing was queued.
            EngineError: QUEUE_FULL, TOO_MANY_WAITING, SUBMITTED_TOO_FAST, DAILY_LIMIT,
                DISK_LOW, STORAGE_FULL, DISK_FULL, PROBE_TIMEOUT, WORKER_LOST.
        """
        require_complete(request, self.settings)

        def take_in(job_id: str, folder: Path) -> NewJob:
            return new_job(request, self._lane.take_in(request, folder), job_id, owner)

        return self._reception.receive(Asker(owner, idempotency_key, address), take_in)

    def get(self, job_id: str, owner: str | None = None) -> JobRecord:
        """One job. An owner of None is a trusted local caller, here and below.

        Raises:
            EngineError: JOB_NOT_FOUND, also when it belongs to someone else.
        """
        return self._find(job_id, owner).record

    def wait(
        self,
        job_id: str,
        timeout_s: float | None = None,
        on_progress: Callable[[JobRecord], None] | None = None,
        owner: str | None = None,
    ) -> JobRecord:
        """Wait until a job has ended; runs it here when no other engine does.

        Args:
            job_id: which one.
            timeout_s: give up waiting after this time; the job goes on.
            on_progress: called in this thread with every change.
            owner: see `get`.

        Returns:
            The job; its status is final unless the time ran out.
        """
        self._backend.start()
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        seen: tuple[int, int | None] | None = None
        while True:
            job = self._find(job_id, owner)
            state = (job.revision, job.record.queue_position)
            if on_progress is not None and state != seen:
                on_progress(job.record)
            seen = state
            if job.record.status.is_final:
                return job.record
            if deadline is not None and time.monotonic() >= deadline:
                return job.record
            time.sleep(WAIT_POLL_S)

    def cancel(self, job_id: str, owner: str | None = None) -> JobRecord:
        """Stop a job: a waiting one at once, a running one within seconds."""
        self._find(job_id, owner)
        self._store.request_cancel(job_id)
        self._backend.canceled(job_id)
        return self._find(job_id, owner).record

    def retry(self, job_id: str, owner: str | None = None) -> JobRecord:
        """Queue a failed or canceled job again; any other is left as it is.

        Raises:
            EngineError: JOB_NOT_FOUND, or the queue is full for this owner.
        """
        self._admission.require(self._find(job_id, owner).record.owner)
        self._store.retry(job_id)
        self._reception.announce([job_id])
        return self._find(job_id, owner).record

    def delete(self, job_id: str, owner: str | None = None) -> None:
        """Remove a job and its files. It is invisible at once; one that runs is stopped first."""
        self._find(job_id, owner)
        self._store.hide(job_id)
        self._lane.forget_files()
        self._backend.canceled(job_id)
        self._purge_hidden()

    def forget(self, owner: str) -> None:
        """Remove everything about an owner: jobs, files, what limits them. It cannot be undone.

        A job that runs is invisible at once, stopped, and removed within seconds. What was spoken
        for previews, by anybody, is forgotten too.
        """
        self._store.forget(owner)
        self._lane.forget_previews()
        self._lane.forget_files()
        remove_scope(self.settings.data_dir / FOLDER_NAME, scope_of(owner))
        self._purge_hidden()

    def expected_start_s(self, job_id: str, owner: str | None = None) -> float | None:
        """About how many seconds a waiting job waits; None when it does not wait."""
        place = self._find(job_id, owner).record.queue_position
        if place is None:
            return None
        queue = self._store.list_queued(LOOKED_AT)
        running = next(iter(self._store.list_running()), None)
        return start_of_place_s(place, queue, running, self._store.rates())

    def list_for(self, owner: str | None, limit: int = 50) -> list[JobRecord]:
        """The newest jobs of one owner (None = of all), newest first."""
        return self._store.list_jobs(owner, limit)

    def events_since(self, owner: str | None, cursor: int = 0) -> list[JobEvent]:
        """What changed after `cursor`, oldest first; go on with the last event's cursor."""
        return self._store.events_since(owner, cursor)

    def artifact_path(self, job_id: str, kind: str, owner: str | None = None) -> Path:
        """The finished file of a kind, such as `video`.

        Raises:
            EngineError: JOB_NOT_FOUND when there is none or it belongs to someone else.
        """
        name = self._artifact_name(job_id, kind, owner)
        return self._folders.file(job_id, name)

    def artifact_link(self, job_id: str, kind: str, owner: str | None = None) -> str | None:
        """An address at which a browser fetches a finished file from S3 itself; ten minutes long.

        Returns:
            None when there is no such way: serve `artifact_path` then.

        Raises:
            EngineError: JOB_NOT_FOUND when there is none or it belongs to someone else.
        """
        name = self._artifact_name(job_id, kind, owner)
        return self._backend.link(job_id, name) if self.settings.storage_links else None

    def input_path(self, job_id: str, kind: str, owner: str | None = None) -> Path:
        """The file a job was given: `portrait` or `audio`, as it was taken in.

        Raises:
            EngineError: JOB_NOT_FOUND when there is none or it belongs to someone else.
        """
        spec = self._find(job_id, owner).record.spec
        name = {"portrait": spec.portrait_name, "audio": spec.audio_name}.get(kind)
        path = self._folders.file(job_id, name) if name is not None else None
        if path is None or not path.is_file():
            raise EngineError(ErrorCode.JOB_NOT_FOUND)
        return path

    def live_picture(self, job_id: str, owner: str | None = None) -> Path | None:
        """The newest frame of a video in the making as a small JPEG; None before the first.

        Raises:
            EngineError: JOB_NOT_FOUND when it does not exist or belongs to someone else.
        """
        record = self._find(job_id, owner).record
        path = self._folders.path(record.job_id) / LIVE_NAME
        return path if record.status is JobStatus.RUNNING and path.is_file() else None

    def _artifact_name(self, job_id: str, kind: str, owner: str | None) -> str:
        artifacts = self._find(job_id, owner).record.artifacts
        name = next((item.name for item in artifacts if item.kind == kind), None)
        if name is None:
            raise EngineError(ErrorCode.JOB_NOT_FOUND)
        return name

    def _find(self, job_id: str, owner: str | None) -> StoredJob:
        job = self._store.get(job_id)
        if job is None or owner not in (None, job.record.owner):
            raise EngineError(ErrorCode.JOB_NOT_FOUND)
        return job

    def _purge_hidden(self) -> None:
        for job_id in self._store.purge_hidden():
            self._folders.remove(job_id)
