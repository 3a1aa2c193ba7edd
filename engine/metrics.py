"""Numbers for Prometheus: how many jobs wait, run and ended, how long they took, memory held.

Off unless a port is set. Counts only: no names, texts, titles or addresses of anybody.
"""

import contextlib
import importlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from engine.contracts import JobStatus, MemoryReading
from engine.errors import ErrorCode, InputError
from engine.jobs.counts import Counted, JobCounts
from engine.settings import EngineSettings
from engine.worker.executor import Executor
from engine.worker.supervisor import ChildState

PREFIX = "sonic_studio_"


@dataclass(frozen=True)
class Figures:
    """What a process tells about itself.

    Attributes:
        counted: since it began.
        jobs: in the store by status; None on a worker, which has no store.
        workers: jobs that can run at once.
        busy: of these.
        memory: of the card or the computer; None when it cannot be told.
    """

    counted: Counted
    jobs: Mapping[JobStatus, int] | None
    workers: int
    busy: int
    memory: MemoryReading | None


@contextlib.contextmanager
def serve_metrics(settings: EngineSettings, read: Callable[[], Figures]) -> Iterator[None]:
    """Answer Prometheus while the block runs; nothing is opened when no port is set.

    Args:
        settings: the address.
        read: asked at every scrape.

    Raises:
        InputError: BAD_OPTION when the package is missing or the port is taken.
    """
    if settings.metrics_port is None:
        yield
        return
    try:
        client = importlib.import_module("prometheus_client")
        core = importlib.import_module("prometheus_client.core")
    except ImportError:
        raise _refused("the package prometheus-client is missing") from None
    registry = client.CollectorRegistry()
    registry.register(_Collector(core, read))
    host, port = settings.metrics_host, settings.metrics_port
    try:
        server, thread = client.start_http_server(port, addr=host, registry=registry)
    except OSError:
        raise _refused(f"the port {port} is in use") from None
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def serve_worker_metrics(
    settings: EngineSettings,
    counts: JobCounts,
    executor: Executor,
    memory: Callable[[], MemoryReading | None],
) -> contextlib.AbstractContextManager[None]:
    """The same for a worker process: its own counts, its child, its card."""

    def read() -> Figures:
        busy = int(executor.state is ChildState.BUSY)
        return Figures(counts.read(), None, workers=1, busy=busy, memory=memory())

    return serve_metrics(settings, read)


class _Collector:
    """Turns `Figures` into what the client library writes."""

    def __init__(self, core: Any, read: Callable[[], Figures]) -> None:  # noqa: ANN401 - the library is optional
        self._core = core
        self._read = read

    def describe(self) -> list[Any]:
        """Nothing beforehand: the library must not ask before the first scrape."""
        return []

    def collect(self) -> Iterator[Any]:
        """Every figure, as it is now."""
        figures = self._read()
        gauge, counter = self._core.GaugeMetricFamily, self._core.CounterMetricFamily
        if figures.jobs is not None:
            waiting = figures.jobs.get(JobStatus.QUEUED, 0)
            yield gauge(PREFIX + "queue_length", "Jobs that wait.", value=waiting)
            kept = gauge(PREFIX + "jobs", "Jobs in the store by status.", labels=["status"])
            for status in JobStatus:
                kept.add_metric([status.value], figures.jobs.get(status, 0))
            yield kept
        ended = counter(PREFIX + "jobs_ended", "Jobs that ended here.", labels=["status"])
        for status in JobStatus:
            if status.is_final:
                ended.add_metric([status.value], figures.counted.ended.get(status, 0))
        yield ended
        yield counter(
            PREFIX + "job_seconds", "Seconds of work in jobs.", value=figures.counted.worked_s
        )
        yield counter(PREFIX + "workers_lost", "Children lost.", value=figures.counted.lost)
        yield gauge(PREFIX + "workers", "Jobs that can run at once.", value=figures.workers)
        yield gauge(PREFIX + "workers_busy", "Jobs that run.", value=figures.busy)
        yield from self._memory(figures.memory)

    def _memory(self, reading: MemoryReading | None) -> Iterator[Any]:
        if reading is None:
            return
        sizes = {
            "total": reading.total_mb,
            "used": reading.used_mb,
            "ours": reading.ours_mb,
            "peak": reading.peak_mb,
        }
        name = PREFIX + f"{reading.kind}_megabytes"
        family = self._core.GaugeMetricFamily(name, "Memory by what it is.", labels=["what"])
        for what, size_mb in sizes.items():
            if size_mb is not None:
                family.add_metric([what], size_mb)
        yield family


def _refused(reason: str) -> InputError:
    return InputError(ErrorCode.BAD_OPTION, option="metrics_port", reason=reason)
