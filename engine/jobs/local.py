"""The embedded backend: has the jobs of the store rendered by children of this process.

Whoever holds the lock of the data folder dispatches; every other engine on the same folder
waits for the lock and takes over when the holder ends.
"""

import logging
import threading
import time
import uuid
from collections.abc import Sequence

from filelock import FileLock, Timeout

from engine.errors import EngineError, ErrorCode
from engine.jobs.backend import BackendHealth, busiest
from engine.jobs.counts import JobCounts
from engine.jobs.disk import DiskGate
from engine.jobs.fairness import minutes
from engine.jobs.pause import MAX_DEATHS, DeathWatch
from engine.jobs.recovery import recover
from engine.jobs.retention import SWEEP_EVERY_S, sweep_all
from engine.jobs.runner import ERROR_PAUSE_S, IDLE_POLL_S, JobRunner, News
from engine.jobs.store import JobStore
from engine.settings import EngineSettings
from engine.storage import JobFolders
from engine.worker.executor import Executor
from engine.worker.supervisor import ChildState

LOCK_NAME = "dispatcher.lock"

FINISH_POLL_S = 0.5
"""How often the time left is looked at while the last jobs are waited for."""

CLOSE_S = 15.0
"""What `close` waits for the runners beyond the grace of a canceled task."""

_log = logging.getLogger(__name__)


class LocalBackend:
    """One thread keeps the folder in order; one runner for each executor does the jobs.

    Args:
        store: the queue.
        folders: files of the jobs.
        executors: of the render lane, one for each card.
        settings: of the engine.
        disk: says whether there is room to begin a job.
        counts: told about every end.
    """

    def __init__(
        self,
        store: JobStore,
        folders: JobFolders,
        executors: Sequence[Executor],
        settings: EngineSettings,
        disk: DiskGate,
        counts: JobCounts,
    ) -> None:
        self._store = store
        self._folders = folders
        self._settings = settings
        self._disk = disk
        self._runners = [
            JobRunner(executor, store, folders, settings, counts) for executor in executors
        ]
        self._lock = FileLock(settings.data_dir / LOCK_NAME, thread_local=False)
        self._stop = threading.Event()
        self._is_finishing = threading.Event()
        self._news = News()
        self._starting = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._is_in_order = False
        self._deaths = DeathWatch()
        self._swept_at: float | None = None

    def start(self) -> None:
        """Start the threads; calling it again does nothing."""
        with self._starting:
            if self._threads or self._stop.is_set():
                return
            dispatcher = threading.Thread(target=self._main, name="dispatcher", daemon=True)
            self._threads = [dispatcher, *map(self._thread_of, self._runners)]
            for thread in self._threads:
                thread.start()

    def _thread_of(self, runner: JobRunner) -> threading.Thread:
        arguments = (self._may_begin, self._deaths, self._news, self._stop)
        return threading.Thread(target=runner.serve, args=arguments, name="runner", daemon=True)

    def expect(self) -> None:
        """Begin to start a child where none runs, but never beside that of another engine."""
        executors = [runner.executor for runner in self._runners]
        if self._may_begin() and {one.state for one in executors} == {ChildState.DEAD}:
            executors[0].warm_up()

    def submitted(self, job_id: str) -> None:
        """Look into the store at once."""
        for runner in self._runners:
            runner.executor.remember(job_id)
        self._news.tell()

    def canceled(self, job_id: str) -> None:
        """Nothing to do: the running task asks the store ten times a second."""

    def health(self) -> BackendHealth:
        """How it is doing."""
        job_ids, pause = self._job_ids(), self._pause()
        return BackendHealth(
            is_dispatching=self._lock.is_locked,
            worker=busiest([runner.executor.state for runner in self._runners]),
            job_id=job_ids[0] if job_ids else None,
            pause=None if pause is None else pause.code,
            values={} if pause is None else pause.values,
            job_ids=job_ids,
            num_workers=len(self._runners),
        )

    def resume(self) -> None:
        """Go on at once after a pause."""
        self._deaths.clear()
        self._news.tell()

    def finish(self, timeout_s: float) -> bool:
        """Begin no more jobs and wait for those that run, unless one cannot end in time."""
        self._is_finishing.set()
        deadline = time.monotonic() + timeout_s
        while job_ids := self._job_ids():
            left_s = deadline - time.monotonic()
            if left_s <= 0 or all(self._needs_longer(job_id, left_s) for job_id in job_ids):
                return False
            self._news.wait(min(FINISH_POLL_S, left_s))
        return True

    def _job_ids(self) -> tuple[str, ...]:
        running = (runner.job_id for runner in self._runners)
        return tuple(job_id for job_id in running if job_id is not None)

    def _needs_longer(self, job_id: str, left_s: float) -> bool:
        now = self._store.get(job_id)
        progress = None if now is None else now.record.progress
        if progress is None or progress.seconds_left is None:
            return False
        return progress.seconds_left > left_s

    def link(self, job_id: str, name: str) -> str | None:
        """None: the files are here."""
        return None

    def close(self) -> None:
        """Stop claiming, put the running jobs back into the queue, give the lock away."""
        self._stop.set()
        self._news.tell()
        with self._starting:
            threads = self._threads
        deadline = time.monotonic() + self._settings.cancel_grace_s + CLOSE_S
        for thread in threads:
            thread.join(max(0.0, deadline - time.monotonic()))

    def _main(self) -> None:
        try:
            while not self._stop.is_set():
                try:
                    self._keep_order()
                except Exception:  # noqa: BLE001 - the edge of the dispatcher: it must go on
                    _log.exception("the dispatcher stumbled")
                    self._stop.wait(ERROR_PAUSE_S)
                self._news.wait(IDLE_POLL_S)
            for runner in self._threads[1:]:
                runner.join(self._settings.cancel_grace_s + CLOSE_S)
            if self._lock.is_locked:
                self._remove_hidden()  # what was deleted while it ran
        finally:
            self._lock.release()

    def _keep_order(self) -> None:
        """Hold the folder; put right what an engine that died left; remove what is not needed."""
        if not self._holds_lock():
            return
        if not self._is_in_order:
            recover(self._store, self._folders, uuid.uuid4().hex)
            self._is_in_order = True
            self._news.tell()
        now = time.monotonic()
        if self._swept_at is None or now - self._swept_at > SWEEP_EVERY_S:
            self._swept_at = now
            sweep_all(self._store, self._folders, self._settings)
        self._remove_hidden()

    def _remove_hidden(self) -> None:
        for job_id in self._store.purge_hidden():
            self._folders.remove(job_id)

    def _may_begin(self) -> bool:
        return (
            self._is_in_order
            and not self._stop.is_set()
            and not self._is_finishing.is_set()
            and self._pause() is None
        )

    def _pause(self) -> EngineError | None:
        """Why no job may be begun now; its sentence is the banner."""
        if all(runner.executor.is_stuck for runner in self._runners):
            return EngineError(ErrorCode.WORKER_STUCK)
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
        return True
