"""The memory gauge without a card, with a driver that misbehaves, and with one that answers."""

import os
import threading
import time
from types import SimpleNamespace

import psutil
import pytest

from engine.gpu import gauge
from engine.gpu.gauge import MemoryGauge, read_cards
from tests.patience import PATIENCE

MB = 2**20


class FakeNvmlError(Exception):
    """Stands for every error of the driver."""


class FakeDriver:
    """The few calls of NVML the gauge makes; only the driver is faked, as none is here."""

    NVMLError = FakeNvmlError
    NVML_TEMPERATURE_GPU = 0

    def __init__(self) -> None:
        self.holders: list[SimpleNamespace] = []
        self.is_broken = False
        self.used_mb = 3000
        self.hang = threading.Event()
        self.hang.set()
        self.opened = 0

    def nvmlInit(self) -> None:
        self.hang.wait()
        self.opened += 1

    def nvmlShutdown(self) -> None:
        pass

    def nvmlDeviceGetCount(self) -> int:
        return 2

    def nvmlDeviceGetHandleByIndex(self, index: int) -> int:
        return index

    def nvmlDeviceGetHandleByUUID(self, name: str) -> str:
        return name

    def nvmlDeviceGetName(self, card: object) -> str:
        return f"Card {card}"

    def nvmlDeviceGetMemoryInfo(self, _card: object) -> SimpleNamespace:
        if self.is_broken:
            raise FakeNvmlError
        return SimpleNamespace(total=24000 * MB, used=self.used_mb * MB)

    def nvmlDeviceGetComputeRunningProcesses(self, _card: object) -> list[SimpleNamespace]:
        return self.holders

    def nvmlDeviceGetTemperature(self, _card: object, _sensor: int) -> int:
        raise FakeNvmlError

    def nvmlDeviceGetUtilizationRates(self, _card: object) -> SimpleNamespace:
        return SimpleNamespace(gpu=42)


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> FakeDriver:
    fake = FakeDriver()
    monkeypatch.setattr(gauge, "pynvml", fake)
    return fake


def read_when_known(memory: MemoryGauge) -> gauge.MemoryReading:
    deadline = time.monotonic() + 10
    while (reading := memory.read()).total_mb is None:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return reading


def test_without_a_card_the_computers_memory_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gauge, "pynvml", None)

    reading = read_when_known(MemoryGauge(lambda: [os.getpid()]))

    total_mb = psutil.virtual_memory().total / MB
    assert (reading.kind, reading.device) == ("ram", "This computer")
    assert reading.total_mb == pytest.approx(total_mb, abs=1)
    assert reading.used_mb is not None
    assert 0 < reading.used_mb < total_mb
    assert reading.ours_mb is not None
    assert reading.ours_mb > 20
    assert reading.peak_mb == reading.ours_mb


def test_ours_is_zero_without_a_child(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gauge, "pynvml", None)

    assert read_when_known(MemoryGauge(list)).ours_mb == 0.0


def test_a_card_is_read_with_what_its_driver_tells(driver: FakeDriver) -> None:
    driver.holders = [
        SimpleNamespace(pid=os.getpid(), usedGpuMemory=900 * MB),
        SimpleNamespace(pid=1, usedGpuMemory=500 * MB),
    ]

    reading = read_when_known(MemoryGauge(lambda: [os.getpid()]))

    assert (reading.kind, reading.device) == ("vram", "Card 0")
    assert (reading.total_mb, reading.used_mb, reading.ours_mb) == (24000, 3000, 900)
    assert (reading.temperature_c, reading.load_percent) == (None, 42)


@pytest.mark.parametrize(
    "holder",
    [
        SimpleNamespace(pid=os.getpid(), usedGpuMemory=None),
        SimpleNamespace(pid=2**22 - 1, usedGpuMemory=5 * MB),
    ],
    ids=["windows tells no share", "a container sees ids of the host"],
)
def test_a_share_that_cannot_be_told_is_none(driver: FakeDriver, holder: SimpleNamespace) -> None:
    driver.holders = [holder]

    assert read_when_known(MemoryGauge(lambda: [os.getpid()])).ours_mb is None


@pytest.mark.parametrize(
    ("visible", "device"),
    [
        (None, "Card 0"),
        ("1", "Card 1"),
        ("GPU-abc,0", "Card GPU-abc"),
        ("", "This computer"),
        ("-1", "This computer"),
        ("7,0", "This computer"),
    ],
)
def test_the_card_of_the_child_is_read(
    driver: FakeDriver, visible: str | None, device: str
) -> None:
    assert read_when_known(MemoryGauge(list, visible)).device == device


def test_a_driver_that_fails_is_asked_again_later(
    driver: FakeDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gauge, "FRESH_S", 0.0)
    memory = MemoryGauge(list)
    assert read_when_known(memory).kind == "vram"

    driver.is_broken = True
    deadline = time.monotonic() + 10
    while memory.read().kind == "vram":
        assert time.monotonic() < deadline
    driver.is_broken = False
    monkeypatch.setattr(gauge, "RETRY_S", 0.0)
    while memory.read().kind == "ram":
        assert time.monotonic() < deadline

    assert driver.opened == 2


def test_a_driver_that_hangs_neither_blocks_nor_raises(driver: FakeDriver) -> None:
    driver.hang.clear()
    memory = MemoryGauge(list)
    start = time.perf_counter()

    reading = memory.read()

    # A reading that waits for the driver would wait for ever.
    assert time.perf_counter() - start < 1.0 * PATIENCE
    assert reading.total_mb is None
    driver.hang.set()
    assert read_when_known(memory).kind == "vram"


def test_figures_that_are_too_old_are_unknown(
    driver: FakeDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = MemoryGauge(list)
    read_when_known(memory)

    monkeypatch.setattr(gauge, "STALE_S", -1.0)
    reading = memory.read()

    assert (reading.device, reading.total_mb, reading.used_mb) == ("Card 0", None, None)


def test_every_card_of_this_computer_can_be_listed(driver: FakeDriver) -> None:
    assert [card.device for card in read_cards()] == ["Card 0", "Card 1"]


def test_a_reading_for_the_books_is_taken_now(driver: FakeDriver) -> None:
    memory = MemoryGauge(list)
    first = memory.read_now()
    driver.used_mb = 5000

    second = memory.read_now()

    assert first is not None
    assert second is not None
    assert (first.used_mb, second.used_mb) == (3000, 5000)


def test_a_driver_that_hangs_gives_no_reading_for_the_books(driver: FakeDriver) -> None:
    driver.hang.clear()

    assert MemoryGauge(list).read_now(timeout_s=0.1) is None

    driver.hang.set()
