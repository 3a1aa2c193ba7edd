"""What an engine consists of: made, connected and ended here; what it does is beside this."""

import os
from contextlib import ExitStack
from types import TracebackType
from typing import Self

from filelock import FileLock, Timeout

from engine.dub.intake import RowIntake
from engine.dub.service import BatchService, BatchTools
from engine.errors import EngineError, ErrorCode
from engine.gpu.gauge import MemoryGauge
from engine.jobs.admission import Admission
from engine.jobs.backend import JobBackend
from engine.jobs.choice import create_backend, create_executors
from engine.jobs.counts import JobCounts
from engine.jobs.disk import DiskGate
from engine.jobs.reception import Reception
from engine.jobs.store import JobStore
from engine.jobs.temp import SessionTemp
from engine.lecture.service import LectureService
from engine.metrics import Figures, serve_metrics
from engine.settings import EngineSettings
from engine.storage import JobFolders
from engine.weights.fetching import WeightsFetcher
from engine.worker.lanes import PRODUCT_DECODE_TASKS, PRODUCT_TASKS, decode_lane, quick_pool
from engine.worker.lecture_lane import LectureLane

STUDIO_LOCK_NAME = "studio.lock"

LEDGER_ENTRIES = 50
"""Of the ledger of memory: so many of the last jobs are shown."""


class EngineParts:
    """The parts of an engine; arguments and attributes as of `StudioEngine`."""

    def __init__(
        self,
        settings: EngineSettings | None = None,
        *,
        exclusive: bool = False,
        tasks: str = PRODUCT_TASKS,
        decode_tasks: str = PRODUCT_DECODE_TASKS,
    ) -> None:
        settings = settings or EngineSettings()
        data_dir = settings.data_dir.expanduser().absolute()
        self.settings = settings.model_copy(update={"data_dir": data_dir})
        try:
            data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._folders = JobFolders(self.settings.jobs_dir)
        except OSError as error:
            raise EngineError(ErrorCode.OUTPUT_NOT_WRITABLE) from error
        self._studio_lock = FileLock(data_dir / STUDIO_LOCK_NAME, thread_local=False)
        if exclusive:
            self._claim_folder()
        self._store = JobStore(self.settings.store_path)
        self._disk = DiskGate(self.settings)
        self._admission = Admission(self._store, self.settings, self._disk)
        self._temp = SessionTemp(self.settings.temp_dir)
        self._gauge = MemoryGauge(self._pids, os.environ.get("CUDA_VISIBLE_DEVICES"))
        temp_dir = self._temp.path
        self._counts = JobCounts()
        self._render = create_executors(self.settings, tasks, temp_dir, self._gauge.read_now)
        self._quick = quick_pool(self.settings, tasks, temp_dir)
        self._decode = decode_lane(self.settings, decode_tasks, temp_dir)
        self._lane = LectureLane(self._quick, self._decode, self.settings, self._temp.create)
        self._backend: JobBackend = create_backend(
            self.settings, self._store, self._folders, self._render, self._disk, self._counts
        )
        self._reception = Reception(self._store, self._folders, self._admission, self._backend)
        self.lectures = LectureService(self._folders, self._lane, self._reception)
        self.batches = BatchService(
            BatchTools(
                store=self._store,
                folders=self._folders,
                admission=self._admission,
                disk=self._disk,
                backend=self._backend,
                reception=self._reception,
                settings=self.settings,
                temp_dir=self._temp.create,
                intake=RowIntake(self._folders, self._lane, self._admission, self.settings),
            )
        )
        self._weights = WeightsFetcher(self.settings, self._lane.forget_voices)
        self._open = ExitStack()
        if exclusive:
            self._open.enter_context(serve_metrics(self.settings, self._figures))
            self._backend.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def finish(self, timeout_s: float | None = None) -> bool:
        """Begin no more jobs and wait for the running one; call it before `close`.

        Args:
            timeout_s: how long it may go on; None = the setting. One that is known to need
                longer is not waited for: `close` puts it back into the queue.

        Returns:
            Whether nothing runs any more.
        """
        limit_s = self.settings.shutdown_grace_s if timeout_s is None else timeout_s
        return self._backend.finish(limit_s)

    def close(self) -> None:
        """End the children, put a running job back into the queue, remove temporary files."""
        self._weights.stop()
        self._open.close()
        self._quick.close()
        self._decode.pool.close()
        self._lane.forget_files()
        self._backend.close()
        for executor in self._render:
            executor.close()
        self._temp.remove()
        self._store.close()
        self._studio_lock.release()

    def _claim_folder(self) -> None:
        try:
            self._studio_lock.acquire(timeout=0)
        except Timeout:
            raise EngineError(ErrorCode.DATA_DIR_BUSY) from None

    def _figures(self) -> Figures:
        health = self._backend.health()
        return Figures(
            counted=self._counts.read(),
            jobs=self._store.count_statuses(),
            workers=health.num_workers,
            busy=len(health.job_ids),
            memory=self._gauge.read(),
        )

    def _pids(self) -> list[int]:
        renders = [child.pid for child in self._render if child.pid is not None]
        return [*renders, *self._quick.pids, *self._decode.pool.pids]
