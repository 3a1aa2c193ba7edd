"""One render child's share of the queue: claims a job, has it made, settles it, and again.

The embedded backend has one runner for each card, or one where there is no card.
"""

import logging
import sqlite3
import threading
import uuid
from collections.abc import Callable

from engine.contracts import Stage
from engine.errors import Canceled, EngineError, ErrorCode, WorkerLost
from engine.jobs.counts import JobCounts
from engine.jobs.limits import job_limits
from engine.jobs.pause import DeathWatch
from engine.jobs.recovery import may_retry
from engine.jobs.rows import StoredJob
from engine.jobs.running import RunningJob
from engine.jobs.settle import Settler
from engine.jobs.store import JobStore
from engine.settings import EngineSettings
from engine.storage import JobFolders
from engine.worker.executor import Executor
from engine.worker.supervisor import ChildNotStarted

IDLE_POLL_S = 0.25
"""How often the store is asked for jobs that another process queued."""

ERROR_PAUSE_S = 2.0

_log = logging.getLogger(__name__)


class News:
    """Wakes every runner that waits for something to do."""

    def __init__(self) -> None:
        self._condition = threading.Condition()

    def tell(self) -> None:
        """There may be something to do."""
        with self._condition:
            self._condition.notify_all()

    def wait(self, timeout_s: float) -> None:
        """Until it is told, but not longer than this."""
        with self._condition:
            self._condition.wait(timeout_s)


class JobRunner:
    """Runs jobs on one executor, one at a time, in a thread of its own.

    Args:
        executor: renders.
        store: the queue.
        folders: files of the jobs.
        settings: of the engine.
        counts: told about every end.
    """

    def __init__(
        self,
        executor: Executor,
        store: JobStore,
        folders: JobFolders,
        settings: EngineSettings,
        counts: JobCounts,
    ) -> None:
        self._executor = executor
        self._store = store
        self._folders = folders
        self._settings = settings
        self._counts = counts
        self._token = uuid.uuid4().hex
        self._settle = Settler(store, folders, self._token, counts)
        self._job: StoredJob | None = None
        self._stumbled = False

    @property
    def executor(self) -> Executor:
        """What renders for this runner."""
        return self._executor

    @property
    def job_id(self) -> str | None:
        """The job that runs, None when none does."""
        job = self._job
        return None if job is None else job.job_id

    def serve(
        self,
        may_begin: Callable[[], bool],
        deaths: DeathWatch,
        news: News,
        stop: threading.Event,
    ) -> None:
        """Run jobs until `stop`; whatever goes wrong, it goes on.

        Args:
            may_begin: whether another job may be claimed now.
            deaths: told when a worker was lost.
            news: wakes this thread.
            stop: set when it should end.
        """
        while not stop.is_set():
            try:
                if self._turn(may_begin, deaths, stop):
                    news.tell()
                else:
                    news.wait(IDLE_POLL_S)
            except Exception:  # noqa: BLE001 - the edge of the runner: it must go on
                _log.exception("a runner stumbled")
                self._stumbled = True
                stop.wait(ERROR_PAUSE_S)

    def _turn(
        self, may_begin: Callable[[], bool], deaths: DeathWatch, stop: threading.Event
    ) -> bool:
        """Do one job; False when there was none to do."""
        if self._stumbled:
            self._fail_current()
        if self._executor.is_stuck or not may_begin():
            return False
        self._job = self._store.claim_next(self._token)
        if self._job is None:
            return False
        self._run(self._job, deaths, stop)
        self._job = None
        return True

    def _run(self, job: StoredJob, deaths: DeathWatch, stop: threading.Event) -> None:
        """Have one job rendered and write down how it ended."""
        running = RunningJob(self._store, job, self._token, stop)
        payload = {
            "spec": job.record.spec.model_dump(mode="json"),
            "job_dir": str(self._folders.path(job.job_id)),
            "paces": self._store.paces(),
        }
        limits = job_limits(job.record.spec, job.duration_s, self._store.rates(), self._settings)
        _log.info("job %s starts, attempt %d", job.job_id, job.record.attempt)
        try:
            result = self._executor.run(
                "render",
                payload,
                limits,
                running.report,
                running.should_stop,
                running.keep_memory,
            )
        except Canceled:
            if not self._put_back_when_stopping(job, stop):
                self._settle.canceled(job)
        except WorkerLost as loss:
            if isinstance(loss, ChildNotStarted) and self._executor.is_stuck:
                # An old worker hangs in the driver; this job is not to blame and waits.
                self._store.requeue(job.job_id, counted=False)
            else:
                self._settle_lost(job, running.stage, deaths, stop)
        except EngineError as error:
            self._settle.failed(job, error, running.stage)
        else:
            peaks = {
                "peak_rss_mb": result.memory.rss_peak_mb,
                "peak_vram_mb": result.memory.vram_peak_mb or 0.0,
            }
            self._settle.succeeded(job, result.values, peaks, running.elapsed_s)

    def _settle_lost(
        self, job: StoredJob, stage: Stage | None, deaths: DeathWatch, stop: threading.Event
    ) -> None:
        if self._store.is_cancel_requested(job.job_id):
            self._settle.canceled(job)
            return
        if self._put_back_when_stopping(job, stop):
            return
        deaths.note_death()
        self._counts.note_lost()
        if may_retry(job.record.attempt):
            _log.warning("job %s lost its worker in %s and is tried again", job.job_id, stage)
            self._store.requeue(job.job_id)
        else:
            self._settle.failed(job, WorkerLost(), stage)

    def _put_back_when_stopping(self, job: StoredJob, stop: threading.Event) -> bool:
        """Requeue a job that ends only because this engine does; True when it was."""
        if not stop.is_set() or self._store.is_cancel_requested(job.job_id):
            return False
        return self._store.requeue(job.job_id, counted=False)

    def _fail_current(self) -> None:
        """End the job that this runner stumbled over, so that it does not come again."""
        job = self._job
        if job is not None:
            try:
                self._settle.failed(job, EngineError(ErrorCode.INTERNAL), None)
            except (sqlite3.Error, EngineError):
                _log.exception("job %s could not be ended yet", job.job_id)
                raise
        self._job, self._stumbled = None, False
