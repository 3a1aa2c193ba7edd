"""The memory gauge: what the card (or the computer) holds, and how much of it is ours.

Reads the driver's own counters through NVML and makes no CUDA context. A reading never raises
and never takes longer than `MAX_WAIT_S`; a figure that cannot be told is None.
"""

import contextlib
import logging
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import psutil

from engine.contracts import MemoryReading

try:
    import pynvml
except ImportError:  # an install without nvidia-ml-py still shows the computer's memory
    pynvml = None

BYTES_PER_MB = 2**20
"""What system monitors and nvidia-smi call a megabyte."""

MAX_WAIT_S = 0.04
FRESH_S = 0.5
"""Readers within this time share one reading."""

STALE_S = 10.0
"""After this time without an answer of the driver the figures count as unknown."""

RETRY_S = 10.0
"""A driver that is missing or failed is asked again after this time."""

_log = logging.getLogger(__name__)

Card = Any  # pynvml has no types
Pids = Callable[[], Sequence[int]]


class MemoryGauge:
    """Reads the memory of one card, or of the computer where there is no card.

    Args:
        pids: gives the ids of our child processes.
        visible_devices: what CUDA_VISIBLE_DEVICES says, so that the same card is read that
            the child uses; None = all cards.
    """

    def __init__(self, pids: Pids, visible_devices: str | None = None) -> None:
        self._pids = pids
        self._driver = Driver(visible_devices)
        self._lock = threading.Lock()
        self._one_refresh = threading.Lock()
        self._refresher: threading.Thread | None = None
        self._last: MemoryReading | None = None
        self._read_at = 0.0
        self._peak_mb: float | None = None

    def read(self) -> MemoryReading:
        """The newest reading."""
        with self._lock:
            is_fresh = self._last is not None and time.monotonic() - self._read_at < FRESH_S
            if not is_fresh and (self._refresher is None or not self._refresher.is_alive()):
                self._refresher = threading.Thread(target=self._refresh, name="gauge", daemon=True)
                self._refresher.start()
            refresher = self._refresher
        if refresher is not None:
            refresher.join(MAX_WAIT_S)
        last = self._last
        if last is None:
            return MemoryReading(kind="ram", device=computer_name())
        if time.monotonic() - self._read_at > STALE_S:
            return MemoryReading(kind=last.kind, device=last.device, peak_mb=self._peak_mb)
        return last

    def read_now(self, timeout_s: float = 2.0) -> MemoryReading | None:
        """A reading taken after this call; None when the driver does not answer in time."""
        asked_at = time.monotonic()
        thread = threading.Thread(target=self._refresh, name="gauge-now", daemon=True)
        thread.start()
        thread.join(timeout_s)
        return self._last if self._read_at >= asked_at else None

    def _refresh(self) -> None:
        with self._one_refresh:
            asked_at = time.monotonic()
            pids = _with_descendants(self._pids())
            cards = self._driver.read(pids)
            reading = cards[0] if cards else read_computer(pids)
            if reading.ours_mb is not None:
                self._peak_mb = max(self._peak_mb or 0.0, reading.ours_mb)
            self._last = reading.model_copy(update={"peak_mb": self._peak_mb})
            self._read_at = asked_at


class Driver:
    """NVML with everything that can go wrong with it.

    Args:
        visible_devices: see `MemoryGauge`.
    """

    def __init__(self, visible_devices: str | None = None) -> None:
        self._visible_devices = visible_devices
        self._is_open = False
        self._failed_at: float | None = None

    def read(self, pids: set[int]) -> list[MemoryReading]:
        """Read every visible card; empty where there is none or the driver does not answer."""
        if pynvml is None or not self._open():
            return []
        try:
            return [_read_card(card, pids) for card in self._cards()]
        except pynvml.NVMLError as error:
            _log.warning("the driver failed: %s", error)
            self._close()
            return []

    def _open(self) -> bool:
        if self._is_open:
            return True
        now = time.monotonic()
        if self._failed_at is not None and now - self._failed_at < RETRY_S:
            return False
        try:
            pynvml.nvmlInit()
        except pynvml.NVMLError:
            self._failed_at = now
            return False
        self._is_open = True
        return True

    def _close(self) -> None:
        self._is_open = False
        self._failed_at = time.monotonic()
        with contextlib.suppress(pynvml.NVMLError):
            pynvml.nvmlShutdown()

    def _cards(self) -> list[Card]:
        visible = self._visible_devices
        count = pynvml.nvmlDeviceGetCount()
        if visible is None:
            return [pynvml.nvmlDeviceGetHandleByIndex(index) for index in range(count)]
        cards = []
        for name in visible.split(","):
            if name.startswith(("GPU-", "MIG-")):
                cards.append(pynvml.nvmlDeviceGetHandleByUUID(name))
            elif name.isdecimal() and int(name) < count:
                cards.append(pynvml.nvmlDeviceGetHandleByIndex(int(name)))
            else:
                break  # as CUDA does: the first wrong name ends the list
        return cards


def read_cards() -> list[MemoryReading]:
    """Read every card of this computer once; empty where there is none."""
    return Driver().read(set())


def read_computer(pids: set[int]) -> MemoryReading:
    """Read the computer's memory; `ours_mb` is the resident memory of `pids`."""
    memory = psutil.virtual_memory()
    ours = 0
    for pid in pids:
        with contextlib.suppress(psutil.Error):
            ours += psutil.Process(pid).memory_info().rss
    return MemoryReading(
        kind="ram",
        device=computer_name(),
        total_mb=_mb(memory.total),
        used_mb=_mb(memory.total - memory.available),
        ours_mb=_mb(ours),
    )


def computer_name() -> str:
    """What the gauge calls a computer without a card."""
    return "This computer"


def _read_card(card: Card, pids: set[int]) -> MemoryReading:
    name = pynvml.nvmlDeviceGetName(card)
    memory = pynvml.nvmlDeviceGetMemoryInfo(card)
    return MemoryReading(
        kind="vram",
        device=name.decode() if isinstance(name, bytes) else name,
        total_mb=_mb(memory.total),
        used_mb=_mb(memory.used),
        ours_mb=_ours_mb(card, pids),
        temperature_c=_maybe(
            lambda: pynvml.nvmlDeviceGetTemperature(card, pynvml.NVML_TEMPERATURE_GPU)
        ),
        load_percent=_maybe(lambda: pynvml.nvmlDeviceGetUtilizationRates(card).gpu),
    )


def _ours_mb(card: Card, pids: set[int]) -> float | None:
    """Memory of the card held by `pids`; None where the driver does not tell.

    Windows tells no process's share. In a container the driver may count in the host's
    process ids; then some of them do not exist here, and "nothing of ours" would be a guess.
    """
    try:
        holders = pynvml.nvmlDeviceGetComputeRunningProcesses(card)
    except pynvml.NVMLError:
        return None
    ours = [holder.usedGpuMemory for holder in holders if holder.pid in pids]
    if not ours and any(not psutil.pid_exists(holder.pid) for holder in holders):
        return None
    return None if None in ours else _mb(sum(ours))


def _maybe(read: Callable[[], float]) -> float | None:
    try:
        return float(read())
    except pynvml.NVMLError:
        return None


def _with_descendants(pids: Sequence[int]) -> set[int]:
    family = set(pids)
    for pid in pids:
        with contextlib.suppress(psutil.Error):
            family.update(child.pid for child in psutil.Process(pid).children(recursive=True))
    return family


def _mb(size_bytes: int) -> float:
    return round(size_bytes / BYTES_PER_MB, 1)
