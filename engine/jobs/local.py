"""The embedded backend: one thread that takes jobs from the store and has them rendered.

Whoever holds the lock of the data folder dispatches; every other engine on the same folder
waits for the lock and takes over when the holder ends.
"""

import logging
import sqlite3
import threading
import time
import uuid
from typing import Any

from filelock import FileLock, Timeout

from engine.contracts import Artifact, JobError, Stage
from engine.errors import Canceled, EngineError, ErrorCode, WorkerLost
from engine.jobs.backend import BackendHealth
from engine.jobs.disk import DiskGate
from engine.jobs.fairness import minutes
from engine.jobs.limits import job_limits, measure_rate
from engine.jobs.pause import MAX_DEATHS, DeathWatch
from engine.jobs.recovery import may_retry, recover
from engine.jobs.retention import SWEEP_EVERY_S, sweep_all
from engine.jobs.rows import StoredJob
from engine.jobs.running import RunningJob
from engine.jobs.store import JobStore
from engine.settings import EngineSettings
from engine.storage import JobFolders
from engine.worker.attend import TaskResult
from engine.worker.supervisor import Supervisor

LOCK_NAME = "dispatcher.lock"
IDLE_POLL_S = 0.25
"""How often the store is asked for jobs that another process queued."""

FINISH_POLL_S = 0.5
"""How often the time left is looked at while the last job is waited for."""

ERROR_PAUSE_S = 2.0
CLOSE_S = 15.0
"""What `close` waits for the dispatcher beyond the grace of a canceled task."""

_log = logging.getLogger(__name__)


class LocalBackend:
    """Dispatches to one supervisor of this process.

    Args:
        store: the queue.
        folders: files of the jobs.
        supervisor: of the render lane.
        settings: of the engine.
        disk: says whether there is room to begin a job.
    """

    def __init__(
        self,
        store: JobStore,
        folders: JobFolders,
        supervisor: Supervisor,
        settings: EngineSettings,
        disk: DiskGate,
    ) -> None:
        self._store = store
        self._folders = folders
        self._supervisor = supervisor
        self._settings = settings
        self._token = uuid.uuid4().hex
        self._lock = FileLock(settings.data_dir / LOCK_NAME, thread_local=False)
        self._stop = threading.Event()
        self._wake = threading.Event()
        self._is_finishing = threading.Event()
        self._is_idle = threading.Event()
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None
        self._needs_recovery = True
        self._job: StoredJob | None = None
        self._deaths = DeathWatch()
        self._disk = disk
        self._swept_at: float | None = None

    def start(self) -> None:
        """Start the dispatcher thread; calling it again does nothing."""
        with self._starting:
            if self._thread is None and not self._stop.is_set():
                self._thread = threading.Thread(target=self._main, name="dispatcher", daemon=True)
                self._thread.start()

    def submitted(self, job_id: str) -> None:
        """Look into the store at once."""
        self._wake.set()

    def canceled(self, job_id: str) -> None:
        """Nothing to do: the running task asks the store ten times a second."""

    def health(self) -> BackendHealth:
        """How it is doing."""
        job, pause = self._job, self._pause()
        return BackendHealth(
            is_dispatching=self._lock.is_locked,
            worker=self._supervisor.state,
            job_id=None if job is None else job.job_id,
            pause=None if pause is None else pause.code,
            values={} if pause is None else pause.values,
        )

    def resume(self) -> None:
        """Go on at once after a pause."""
        self._deaths.clear()
        self._wake.set()

    def finish(self, timeout_s: float) -> bool:
        """Begin no more jobs and wait for the running one, unless it cannot end in time."""
        self._is_finishing.set()
        deadline = time.monotonic() + timeout_s
        while (job := self._job) is not None:
            left_s = deadline - time.monotonic()
            if left_s <= 0 or self._needs_longer(job.job_id, left_s):
                return False
            self._is_idle.wait(min(FINISH_POLL_S, left_s))
        return True

    def _needs_longer(self, job_id: str, left_s: float) -> bool:
        now = self._store.get(job_id)
        progress = None if now is None else now.record.progress
        if progress is None or progress.seconds_left is None:
            return False
        return progress.seconds_left > left_s

    def close(self) -> None:
        """Stop claiming, put the running job back into the queue, give the lock away."""
        self._stop.set()
        self._wake.set()
        with self._starting:
            thread = self._thread
        if thread is not None:
            thread.join(self._settings.cancel_grace_s + CLOSE_S)

    def _main(self) -> None:
        try:
            while not self._stop.is_set():
                try:
                    self._turn()
                except Exception:  # noqa: BLE001 - the edge of the dispatcher: it must go on
                    _log.exception("the dispatcher stumbled")
                    self._fail_current()
                    self._needs_recovery = True
                    self._stop.wait(ERROR_PAUSE_S)
        finally:
            self._lock.release()

    def _turn(self) -> None:
        """Do the next thing there is to do."""
        if not self._holds_lock():
            self._stop.wait(IDLE_POLL_S)
            return
        if self._needs_recovery:
            recover(self._store, self._folders, self._token)
            self._needs_recovery = False
            self._swept_at = None
        self._sweep_when_due()
        self._wake.clear()
        job = self._store.claim_next(self._token) if self._may_begin() else None
        if job is None:
            self._remove_hidden()
            self._wake.wait(IDLE_POLL_S)
            return
        self._job = job
        self._is_idle.clear()
        self._run(job)
        self._job = None
        self._is_idle.set()
        self._remove_hidden()

    def _sweep_when_due(self) -> None:
        now = time.monotonic()
        if self._swept_at is None or now - self._swept_at > SWEEP_EVERY_S:
            self._swept_at = now
            sweep_all(self._store, self._folders, self._settings)

    def _may_begin(self) -> bool:
        if self._is_finishing.is_set() or self._supervisor.is_stuck:
            return False
        return self._pause() is None

    def _pause(self) -> EngineError | None:
        """Why no job may be begun now; its sentence is the banner."""
        paused_s = self._deaths.paused_s()
        if paused_s:
            return EngineError(ErrorCode.QUEUE_PAUSED, count=MAX_DEATHS, minutes=minutes(paused_s))
        return self._disk.pause()

    def _holds_lock(self) -> bool:
        if self._lock.is_locked:
            return True
        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            return False
        self._needs_recovery = True
        return True

    def _run(self, job: StoredJob) -> None:
        """Have one job rendered and write down how it ended."""
        running = RunningJob(self._store, job, self._token, self._stop)
        rates = self._store.rates()
        payload = {
            "spec": job.record.spec.model_dump(mode="json"),
            "job_dir": str(self._folders.path(job.job_id)),
        }
        _log.info("job %s starts, attempt %d", job.job_id, job.record.attempt)
        try:
            result = self._supervisor.run(
                "render",
                payload,
                job_limits(job.record.spec, job.duration_s, rates, self._settings),
                running.report,
                running.should_stop,
                running.keep_memory,
            )
        except Canceled:
            self._settle_canceled(job)
        except WorkerLost:
            self._settle_lost(job, running.stage)
        except EngineError as error:
            self._settle_failed(job, error, running.stage)
        else:
            self._settle_succeeded(job, result, running)

    def _settle_succeeded(self, job: StoredJob, result: TaskResult, running: RunningJob) -> None:
        artifacts = tuple(Artifact.model_validate(item) for item in result.values["artifacts"])
        for artifact in artifacts:
            self._folders.file(job.job_id, artifact.name)
        peaks = {
            "peak_rss_mb": result.memory.rss_peak_mb,
            "peak_vram_mb": result.memory.vram_peak_mb or 0.0,
        }
        report = {**peaks, **result.values["report"]}
        if not self._store.finish_succeeded(job.job_id, self._token, report, artifacts):
            self._settle_canceled(job)
            return
        _log.info("job %s succeeded in %.1f s", job.job_id, running.elapsed_s)
        if job.record.attempt == 1:
            self._learn_rate(job, report, report.get("elapsed_s", running.elapsed_s))

    def _learn_rate(self, job: StoredJob, report: dict[str, Any], elapsed_s: float) -> None:
        options = job.record.spec.options
        measured = measure_rate(elapsed_s, report["duration_s"], options.fps)
        if measured is not None:
            self._store.add_rate(
                report["animator"], options.output_size_px, measured.rate, measured.weight
            )

    def _settle_canceled(self, job: StoredJob) -> None:
        if self._put_back_when_stopping(job):
            return
        self._keep_inputs(job)
        self._store.finish_canceled(job.job_id, self._token)
        _log.info("job %s was canceled", job.job_id)

    def _keep_inputs(self, job: StoredJob) -> None:
        """Remove all that a job made."""
        spec = job.record.spec
        inputs = [name for name in (spec.portrait_name, spec.audio_name) if name is not None]
        self._folders.keep_only(job.job_id, inputs)

    def _settle_lost(self, job: StoredJob, stage: Stage | None) -> None:
        if self._store.is_cancel_requested(job.job_id):
            self._settle_canceled(job)
            return
        if self._put_back_when_stopping(job):
            return
        self._deaths.note_death()
        if may_retry(job.record.attempt):
            _log.warning("job %s lost its worker in %s and is tried again", job.job_id, stage)
            self._store.requeue(job.job_id)
        else:
            self._settle_failed(job, WorkerLost(), stage)

    def _put_back_when_stopping(self, job: StoredJob) -> bool:
        """Requeue a job that ends only because this engine does; True when it was."""
        if not self._stop.is_set() or self._store.is_cancel_requested(job.job_id):
            return False
        return self._store.requeue(job.job_id, counted=False)

    def _settle_failed(self, job: StoredJob, error: EngineError, stage: Stage | None) -> None:
        values = {key: value for key, value in error.values.items() if key != "stage"}
        failed = JobError(code=error.code, values=values, stage=stage)
        if error.code is ErrorCode.DISK_FULL:
            self._keep_inputs(job)  # first of all, so that the outcome can be written down
        self._store.finish_failed(job.job_id, self._token, failed)
        _log.warning("job %s failed with %s in %s", job.job_id, error.code, stage)

    def _fail_current(self) -> None:
        """End the job that the dispatcher stumbled over, so that it does not come again."""
        job, self._job = self._job, None
        if job is None:
            return
        try:
            self._settle_failed(job, EngineError(ErrorCode.INTERNAL), None)
        except (sqlite3.Error, EngineError):
            _log.exception("job %s could not be ended", job.job_id)

    def _remove_hidden(self) -> None:
        for job_id in self._store.purge_hidden():
            self._folders.remove(job_id)
