"""Peak memory of one task, measured inside the process that does it."""

import contextlib
import threading
from pathlib import Path
from types import TracebackType
from typing import Self

import psutil

BYTES_PER_MB = 2**20
"""What system monitors and nvidia-smi call a megabyte."""

SAMPLE_INTERVAL_S = 0.1

_STATUS = Path("/proc/self/status")
_CLEAR_REFS = Path("/proc/self/clear_refs")


class PeakMemory:
    """Watches the resident memory of this process while a task runs.

    On Linux the kernel keeps the exact peak and can start it anew; elsewhere, or where the
    kernel does not allow that, a thread looks ten times a second.

    Attributes:
        peak_mb: highest resident memory seen, in MB; final after the block.
    """

    def __init__(self) -> None:
        self.peak_mb = 0.0
        self._process = psutil.Process()
        self._done = threading.Event()
        self._sampler: threading.Thread | None = None

    def __enter__(self) -> Self:
        if not _reset_kernel_peak():
            self._sampler = threading.Thread(target=self._sample, name="peak", daemon=True)
            self._sampler.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._done.set()
        if self._sampler is not None:
            self._sampler.join()
            self._note(self.current_mb())
        else:
            self._note(_kernel_peak_mb() or self.current_mb())

    def current_mb(self) -> float:
        """Resident memory of this process now, in MB."""
        return round(self._process.memory_info().rss / BYTES_PER_MB, 1)

    def _sample(self) -> None:
        while not self._done.wait(SAMPLE_INTERVAL_S):
            self._note(self.current_mb())

    def _note(self, mb: float) -> None:
        self.peak_mb = max(self.peak_mb, mb)


def _reset_kernel_peak() -> bool:
    """Start the kernel's high-water mark anew; False where that cannot be done."""
    try:
        _CLEAR_REFS.write_text("5")
    except OSError:
        return False
    return _kernel_peak_mb() is not None


def _kernel_peak_mb() -> float | None:
    with contextlib.suppress(OSError, ValueError, IndexError):
        for line in _STATUS.read_text("ascii").splitlines():
            if line.startswith("VmHWM:"):
                return round(int(line.split()[1]) * 1024 / BYTES_PER_MB, 1)
    return None
