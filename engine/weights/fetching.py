"""Downloads of weights in the background, one at a time, for the page to start and watch."""

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass

from engine.contracts import JobError, WeightsState
from engine.errors import Canceled, EngineError, ErrorCode
from engine.settings import EngineSettings
from engine.weights.catalog import CATALOG, EVERYTHING, find_set
from engine.weights.download import DownloadProgress
from engine.weights.service import folder_of, get_weights, is_begun
from engine.weights.store import FileStatus, examine
from engine.weights.weight_files import MEGABYTE, WeightSet

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Fetch:
    """One download as it is now."""

    is_running: bool = True
    done_mb: float = 0.0
    total_mb: float | None = None
    error: JobError | None = None


class WeightsFetcher:
    """Fetches sets of weights in a thread.

    Args:
        settings: where to and where from.
        on_end: called from the thread when a download has ended, however it did.
    """

    def __init__(self, settings: EngineSettings, on_end: Callable[[], None] = lambda: None) -> None:
        self._settings = settings
        self._on_end = on_end
        self._lock = threading.Lock()
        self._fetches: dict[str, _Fetch] = {}
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    def states(self, *, everything: bool = False) -> list[WeightsState]:
        """The animators, and what else is here or on its way: how far a download is.

        Args:
            everything: what else could be fetched too.
        """
        return [
            self._state(known)
            for known in EVERYTHING
            if everything
            or known in CATALOG
            or known.name in self._fetches
            or is_begun(known, self._settings)
        ]

    def start(self, name: str) -> None:
        """Fetch what is missing of a set, unless a download runs already.

        Raises:
            InputError: WEIGHTS_UNKNOWN.
        """
        find_set(name)
        with self._lock:
            if self._thread is not None and self._thread.is_alive():
                return
            self._stopped.clear()
            self._fetches[name] = _Fetch()
            self._thread = threading.Thread(
                target=self._run, args=(name,), name="weights", daemon=True
            )
            self._thread.start()

    def stop(self) -> None:
        """End a running download; what came is kept, and the next one goes on from there."""
        self._stopped.set()

    def _run(self, name: str) -> None:
        def tell(progress: DownloadProgress) -> None:
            if self._stopped.is_set():
                raise Canceled
            self._fetches[name] = _Fetch(
                done_mb=progress.done_bytes / MEGABYTE, total_mb=progress.total_bytes / MEGABYTE
            )

        error = None
        try:
            get_weights(name, self._settings, tell)
        except Canceled:
            pass
        except EngineError as fault:
            error = JobError(code=fault.code, values=dict(fault.values))
        except Exception:  # noqa: BLE001 - the edge of a thread; logged with its traceback
            _log.exception("a download of weights failed")
            error = JobError(code=ErrorCode.INTERNAL)
        self._on_end()
        self._fetches[name] = _Fetch(is_running=False, error=error)

    def _state(self, known: WeightSet) -> WeightsState:
        statuses = examine(known, folder_of(known, self._settings))
        fetch = self._fetches.get(known.name, _Fetch(is_running=False))
        return WeightsState(
            name=known.name,
            title=known.title,
            notice=known.notice,
            folder=str(folder_of(known, self._settings)),
            num_files=len(statuses),
            num_usable=sum(status.is_usable for status in statuses),
            missing_mb=sum(map(_missing_mb, statuses)),
            is_running=fetch.is_running,
            done_mb=fetch.done_mb,
            total_mb=fetch.total_mb,
            error=fetch.error,
        )


def _missing_mb(status: FileStatus) -> float:
    return 0.0 if status.is_usable else status.file.max_bytes / MEGABYTE
