"""Who makes the videos of an engine, and which backend carries its jobs to them."""

from collections.abc import Callable, Sequence
from pathlib import Path

from engine.contracts import MemoryReading
from engine.errors import ErrorCode, InputError
from engine.jobs.backend import JobBackend
from engine.jobs.counts import JobCounts
from engine.jobs.disk import DiskGate
from engine.jobs.local import LocalBackend
from engine.jobs.store import JobStore
from engine.settings import EngineSettings
from engine.storage import JobFolders
from engine.worker.cards import render_lanes
from engine.worker.executor import Executor


def create_executors(
    settings: EngineSettings,
    tasks: str,
    temp_dir: Path,
    read_card: Callable[[], MemoryReading | None],
) -> list[Executor]:
    """What makes the videos of this process: one child, or one for each card of the settings.

    Args:
        settings: of the engine.
        tasks: ``module:NAME`` of the tasks.
        temp_dir: for temporary files.
        read_card: a fresh reading of the card that CUDA chooses where the settings name none.

    Raises:
        InputError: BAD_OPTION when the settings name a card or need a package that is not there.
    """
    executors = render_lanes(settings, tasks, temp_dir, read_card)
    if settings.executor == "child":
        return executors
    # Only here, because it is the one executor that loads the tasks into this process.
    from engine.jobs.in_process import InProcessExecutor  # noqa: PLC0415

    return [InProcessExecutor(settings, tasks, executors[0])]


def create_backend(
    settings: EngineSettings,
    store: JobStore,
    folders: JobFolders,
    executors: Sequence[Executor],
    disk: DiskGate,
    counts: JobCounts,
) -> JobBackend:
    """The backend that the settings name; nothing is started.

    Raises:
        InputError: BAD_OPTION when a setting or a package it needs is missing.
    """
    if settings.backend == "celery":
        try:
            # Only here, so that nobody needs the packages who does not use a broker.
            from engine.jobs.celery_backend import CeleryBackend  # noqa: PLC0415
        except ImportError as error:
            reason = f"the package {error.name} is missing, install requirements-scale.txt"
            raise InputError(ErrorCode.BAD_OPTION, option="backend", reason=reason) from None
        return CeleryBackend(store, folders, settings, disk, counts)
    return LocalBackend(store, folders, executors, settings, disk, counts)
