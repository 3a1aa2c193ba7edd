"""Which backend carries the jobs of an engine."""

from collections.abc import Sequence

from engine.jobs.backend import JobBackend
from engine.jobs.counts import JobCounts
from engine.jobs.disk import DiskGate
from engine.jobs.local import LocalBackend
from engine.jobs.store import JobStore
from engine.settings import EngineSettings
from engine.storage import JobFolders
from engine.worker.executor import Executor


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
        # Only here, so that nobody needs the packages who does not use a broker.
        from engine.jobs.celery_backend import CeleryBackend  # noqa: PLC0415

        return CeleryBackend(store, folders, settings, disk, counts)
    return LocalBackend(store, folders, executors, settings, disk, counts)
