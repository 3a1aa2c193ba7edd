"""One worker process: takes orders from the broker and has them made on one card.

Celery's thread pool with one thread: the card belongs to a child of our own, which is started,
watched, recycled and killed by the same supervisor as on a single machine.
"""

import contextlib
import logging
import platform
import shutil
import signal
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from celery.exceptions import Reject
from celery.worker import WorkController, state
from filelock import FileLock, Timeout

from engine.errors import EngineError, ErrorCode
from engine.gpu.gauge import MemoryGauge
from engine.jobs.celery_app import (
    TASK_NAME,
    create_app,
    events_queue,
    open_storage,
    send_event,
)
from engine.jobs.orders import OrderDesk
from engine.jobs.workplace import Delivery, End, Workplace
from engine.lecture.cache import FOLDER_NAME
from engine.metrics import serve_worker_metrics
from engine.settings import EngineSettings
from engine.storage import JobFolders
from engine.worker.cards import named_lane
from engine.worker.lanes import PRODUCT_TASKS
from engine.worker.plan import LanePlan
from engine.worker.supervisor import Supervisor

ALIVE_NAME = "alive"
ALIVE_S = 10.0
"""How often a worker touches its file; one older than a minute belongs to a dead worker."""

NOTICE_END_S = 0.5

STOP_SIGNALS = ("SIGTERM", "SIGINT", "SIGHUP")

EXIT_OK, EXIT_BROKEN = 0, 1

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class WorkerPlan:
    """One worker.

    Attributes:
        name: its own among the workers on one data folder; None = the first that is free.
        device: the card it uses, as CUDA_VISIBLE_DEVICES names it; None = what CUDA chooses.
        max_jobs: it ends after this many; None = never by itself.
        tasks: ``module:NAME`` of the tasks its child can do.
        ends_with_parent: it ends when its standard input does.
    """

    name: str | None = None
    device: str | None = None
    max_jobs: int | None = None
    tasks: str = PRODUCT_TASKS
    ends_with_parent: bool = False


def run_worker(settings: EngineSettings, plan: WorkerPlan) -> int:
    """Work until a signal, the parent or the plan ends it.

    Args:
        settings: of the engine; the data folder is absolute.
        plan: which worker.

    Returns:
        0, or 1 when its child keeps dying and somebody else should have the jobs.

    Raises:
        EngineError: DATA_DIR_BUSY when a worker of this name runs already.
        InputError: BAD_OPTION when the broker or the storage cannot be used.
    """
    with _own_folder(settings.data_dir / "workers", plan.name) as folder:
        return _Worker(settings, plan, folder).run()


class _Worker:
    """Celery's worker around one `Workplace`."""

    def __init__(self, settings: EngineSettings, plan: WorkerPlan, folder: Path) -> None:
        self._settings = settings
        self._plan = plan
        self._folder = folder
        self._name = folder.name
        self._app = create_app(settings)
        self._put_back = threading.Event()
        self._executor, self._gauge = _lane_of(settings, plan, folder)
        self._place = Workplace(
            name=f"{self._name}@{platform.node()}",
            desk=OrderDesk(open_storage(settings)),
            folders=JobFolders(folder / "jobs", settings.data_dir / FOLDER_NAME),
            executor=self._executor,
            stop=self._put_back,
            labels=settings.visible_label or settings.is_public,
        )

        def do_order(job_id: str, ticket: str, host_id: str) -> None:
            self._take(Delivery(job_id, ticket), host_id)

        self._app.task(do_order, name=TASK_NAME)

    def run(self) -> int:
        """Work until something ends it."""
        state.should_stop = None
        worker = WorkController(
            app=self._app,
            hostname=f"{self._name}@{platform.node()}",
            pool="threads",
            concurrency=1,
            without_gossip=True,
            without_mingle=True,
            without_heartbeat=True,
        )
        # The wait for messages does not end by itself when the end is near.
        worker.timer.call_repeatedly(NOTICE_END_S, lambda: None)
        self._obey_signals()
        threading.Thread(target=self._show_life, name="alive", daemon=True).start()
        if self._plan.ends_with_parent:
            threading.Thread(target=self._watch_parent, name="parent", daemon=True).start()
        _log.info("%s waits for jobs", self._name)
        try:
            read = self._gauge.read
            with serve_worker_metrics(self._settings, self._place.counts, self._executor, read):
                worker.start()
        finally:
            self._executor.close()
        return EXIT_BROKEN if self._place.is_broken else EXIT_OK

    def _take(self, delivery: Delivery, host_id: str) -> None:
        """Do one order, and tell the broker whether it is done with.

        Raises:
            Reject: somebody else should do it.
        """
        queue = events_queue(self._settings, host_id)
        end = self._place.do(delivery, lambda facts: send_event(self._app, queue, facts))
        limit = self._plan.max_jobs
        if self._place.is_broken or (limit is not None and self._place.num_orders >= limit):
            self._end()
        if end is End.PUT_BACK:
            raise Reject(requeue=True)

    def _obey_signals(self) -> None:
        def stop(_number: int, _frame: FrameType | None) -> None:
            self._end()

        for name in STOP_SIGNALS:
            if hasattr(signal, name):  # Windows has no SIGHUP
                signal.signal(getattr(signal, name), stop)

    def _end(self) -> None:
        """Take no more orders; the running one may finish within the grace, else it goes back."""
        if state.should_stop is None:
            timer = threading.Timer(self._settings.shutdown_grace_s, self._put_back.set)
            timer.daemon = True
            timer.start()
            state.should_stop = EXIT_OK

    def _watch_parent(self) -> None:
        sys.stdin.buffer.read()
        self._end()

    def _show_life(self) -> None:
        while True:
            with contextlib.suppress(OSError):
                if not self._executor.is_stuck:
                    (self._folder / ALIVE_NAME).touch()
            time.sleep(ALIVE_S)


@contextlib.contextmanager
def _own_folder(root: Path, name: str | None) -> Iterator[Path]:
    """The folder of a worker, held as long as it works.

    Raises:
        EngineError: DATA_DIR_BUSY when a worker of this name works already.
    """
    names = [name] if name is not None else [f"worker-{number}" for number in range(1, 65)]
    for candidate in names:
        folder = root / candidate
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = FileLock(folder / "worker.lock", thread_local=False)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            continue
        try:
            shutil.rmtree(folder / "jobs", ignore_errors=True)  # of one that was killed
            yield folder
        finally:
            lock.release()
        return
    raise EngineError(ErrorCode.DATA_DIR_BUSY)


def _lane_of(
    settings: EngineSettings, plan: WorkerPlan, folder: Path
) -> tuple[Supervisor, MemoryGauge]:
    """The lane of this worker; its child keeps its files in the worker's folder."""
    name = f"render-{folder.name}"
    return named_lane(
        settings,
        LanePlan(
            lane="render",
            tasks=plan.tasks,
            temp_dir=folder / "tmp",
            tasks_per_child=settings.recycle_after_jobs,
            pid_file=folder / f"{name}.pid",
            name=name,
            device=plan.device,
        ),
    )
