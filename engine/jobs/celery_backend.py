"""The backend of an installation with workers: the host's side of the broker.

One thread gives jobs to the broker and hears what workers tell. Jobs go on when this process
ends; the next one on the same data folder takes their results.
"""

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from filelock import FileLock, Timeout
from kombu import Connection, Consumer
from kombu.exceptions import KombuError
from kombu.message import Message as BrokerMessage

from engine.errors import EngineError, ErrorCode
from engine.jobs.backend import BackendHealth
from engine.jobs.celery_app import (
    TASK_NAME,
    create_app,
    events_queue,
    host_id_in,
    is_redis,
    jobs_queue,
    open_storage,
    priority_at_broker,
)
from engine.jobs.counts import JobCounts
from engine.jobs.disk import DiskGate
from engine.jobs.local import LOCK_NAME
from engine.jobs.orders import OrderDesk
from engine.jobs.retention import SWEEP_EVERY_S, sweep_all
from engine.jobs.sent import Message, SentJobs
from engine.jobs.store import JobStore
from engine.settings import EngineSettings
from engine.storage import JobFolders
from engine.worker.supervisor import ChildState

HEAR_S = 0.1
"""How long the broker is listened to before the store is looked at again."""

LOOK_S = 0.5
"""How often cancels and silences are looked for."""

RETRY_S = (1.0, 2.0, 5.0, 10.0)
"""Before the broker or the storage is tried again, the first time, the second, ..."""

CLOSE_S = 15.0

_log = logging.getLogger(__name__)


class CeleryBackend:
    """Carries jobs through a broker.

    Args:
        store: the queue and the record.
        folders: files of the jobs.
        settings: of the engine.
        disk: says whether there is room to begin a job.
        counts: told about every end.

    Raises:
        InputError: BAD_OPTION when the broker's or the storage's address cannot be used.
    """

    def __init__(
        self,
        store: JobStore,
        folders: JobFolders,
        settings: EngineSettings,
        disk: DiskGate,
        counts: JobCounts,
    ) -> None:
        self._store = store
        self._folders = folders
        self._settings = settings
        self._disk = disk
        self._app = create_app(settings)
        self._is_redis = is_redis(settings)
        self._host_id = host_id_in(settings.data_dir)
        self._desk = OrderDesk(open_storage(settings))
        folders.removes_also(self._desk.remove)
        self._sent = SentJobs(store, folders, self._desk, settings, counts, self._publish)
        self._lock = FileLock(settings.data_dir / LOCK_NAME, thread_local=False)
        self._stop = threading.Event()
        self._is_finishing = threading.Event()
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None
        self._line: Connection | None = None
        self._fault: EngineError | None = None
        self._is_adopted = False
        self._swept_at: float | None = None
        self._looked_at = 0.0

    def start(self) -> None:
        """Start the thread; calling it again does nothing."""
        with self._starting:
            if self._thread is None and not self._stop.is_set():
                self._thread = threading.Thread(target=self._main, name="carrier", daemon=True)
                self._thread.start()

    def expect(self) -> None:
        """Nothing to do: workers are elsewhere."""

    def submitted(self, job_id: str) -> None:
        """Nothing to do: the store is looked at ten times a second."""

    def canceled(self, job_id: str) -> None:
        """Nothing to do: cancels are looked for twice a second."""

    def health(self) -> BackendHealth:
        """How it is doing; `worker` is busy while any worker makes a video."""
        job_ids = self._sent.running()
        pause = self._fault or self._disk.pause()
        return BackendHealth(
            is_dispatching=self._lock.is_locked,
            worker=ChildState.BUSY if job_ids else ChildState.READY,
            job_id=job_ids[0] if job_ids else None,
            pause=None if pause is None else pause.code,
            values={} if pause is None else pause.values,
            job_ids=job_ids,
            num_workers=self._sent.num_workers(),
        )

    def resume(self) -> None:
        """Nothing to do: it tries again by itself within seconds."""

    def finish(self, timeout_s: float) -> bool:
        """Send no more jobs; those that workers have go on without this process."""
        self._is_finishing.set()
        return True

    def link(self, job_id: str, name: str) -> str | None:
        """A signed link to a file in the bucket."""
        try:
            return self._desk.link(job_id, name)
        except EngineError:
            return None  # the file is here as well

    def close(self) -> None:
        """Stop listening and give the folder's lock away."""
        self._stop.set()
        with self._starting:
            thread = self._thread
        if thread is not None:
            thread.join(CLOSE_S)

    def _main(self) -> None:
        faults = 0
        try:
            while not self._stop.is_set():
                if not self._holds_lock():
                    self._stop.wait(LOOK_S)
                    continue
                began_at = time.monotonic()
                self._work()
                faults = 1 if time.monotonic() - began_at > max(RETRY_S) else faults + 1
                self._stop.wait(RETRY_S[min(faults, len(RETRY_S)) - 1])
            if self._lock.is_locked:
                self._remove_deleted()
        finally:
            self._lock.release()

    def _work(self) -> None:
        """Carry jobs until something goes wrong or this backend stops."""
        try:
            with self._connected():
                while not self._stop.is_set():
                    self._turn()
        except EngineError as error:
            self._fault = error
            _log.warning("carrying jobs stopped for a while: %s", error.code)
        except (OSError, KombuError, *self._app.connection().connection_errors) as error:
            self._fault = EngineError(ErrorCode.BROKER_UNREACHABLE)
            _log.warning("the broker does not answer: %s", type(error).__name__)
        except Exception:  # noqa: BLE001 - the edge of the carrier: it must go on
            self._fault = EngineError(ErrorCode.INTERNAL)
            _log.exception("the carrier stumbled")

    @contextmanager
    def _connected(self) -> Iterator[None]:
        """Hold one connection that publishes and hears."""
        queue = events_queue(self._settings, self._host_id)
        with self._app.connection_for_write() as line:
            line.ensure_connection(max_retries=1, timeout=5.0)
            with Consumer(line, [queue], callbacks=[self._hear], accept=["json"]):
                self._line = line
                try:
                    self._catch_up(line)
                    self._fault = None
                    yield
                finally:
                    self._line = None

    def _catch_up(self, line: Connection) -> None:
        """Hear what workers told while nobody listened; then send again what none has begun."""
        if not self._is_adopted:
            self._remove_deleted()
            self._sent.adopt()
            self._is_adopted = True
        while self._drain(line):
            pass
        self._sent.forget_waiting()

    def _drain(self, line: Connection) -> bool:
        """Hear one message; False when there is none."""
        try:
            line.drain_events(timeout=HEAR_S)
        except TimeoutError:
            return False
        return True

    def _turn(self) -> None:
        line = self._line
        if line is not None and not self._drain(line):
            line.heartbeat_check()
        now = time.monotonic()
        if now - self._looked_at >= LOOK_S:
            self._looked_at = now
            self._sent.look()
        if self._swept_at is None or now - self._swept_at > SWEEP_EVERY_S:
            self._swept_at = now
            sweep_all(self._store, self._folders, self._settings)
        for job_id in self._store.purge_hidden():
            self._folders.remove(job_id)
        if not self._is_finishing.is_set() and self._disk.pause() is None:
            self._sent.send_waiting()

    def _hear(self, body: object, message: BrokerMessage) -> None:
        message.ack()
        if isinstance(body, dict):
            self._sent.heard(body)

    def _publish(self, message: Message) -> None:
        self._app.send_task(
            TASK_NAME,
            kwargs={
                "job_id": message.job_id,
                "ticket": message.ticket,
                "host_id": self._host_id,
            },
            queue=jobs_queue(self._settings).name,
            priority=priority_at_broker(message.jobs_of_owner, redis=self._is_redis),
            connection=self._line,
            retry=False,
        )

    def _remove_deleted(self) -> None:
        """Remove what was deleted while a worker had it; the worker sees its lease go and stops."""
        for job_id in self._store.purge_hidden(with_running=True):
            self._folders.remove(job_id)

    def _holds_lock(self) -> bool:
        if self._lock.is_locked:
            return True
        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            return False
        return True
