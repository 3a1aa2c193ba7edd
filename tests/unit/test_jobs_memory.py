"""The memory ledger and the rules about what is held between two jobs."""

import time
from pathlib import Path

import pytest

from engine.contracts import MemoryReading
from engine.gpu.residue import residue_mb, rise_mb
from engine.jobs import ledger
from engine.jobs.store import JobStore
from engine.worker.attend import TaskMemory


def card(used_mb: float | None, ours_mb: float | None = None) -> MemoryReading:
    return MemoryReading(
        kind="vram", device="Card", total_mb=24000, used_mb=used_mb, ours_mb=ours_mb
    )


@pytest.mark.parametrize(
    ("reading", "used_before_mb", "expected"),
    [
        (None, 600, None),
        (MemoryReading(kind="ram", device="x", used_mb=9000, ours_mb=900), 600, None),
        (card(1333, ours_mb=718), 615, 98),  # measured after the caches were emptied
        (card(9653, ours_mb=8974), 615, 8354),  # measured before
        (card(9653), 615, 8418),
        (card(9653, ours_mb=0.0), 615, 8418),  # a container where our ids mean nothing
        (card(700, ours_mb=300), 615, 0),
        (card(None), 615, None),
        (card(9653), None, None),
    ],
)
def test_residue_is_what_a_child_holds_beyond_its_context(
    reading: MemoryReading | None, used_before_mb: float | None, expected: float | None
) -> None:
    assert residue_mb(reading, used_before_mb) == expected


def test_a_rise_is_told_from_the_lowest_of_the_last_ten_minutes() -> None:
    samples = [(0.0, 10.0), (500.0, 300.0), (900.0, 250.0), (1000.0, 600.0)]

    assert rise_mb(samples, 1000.0) == 350.0
    assert rise_mb(samples, 1500.0) == 350.0
    assert rise_mb(samples[::-1], 1550.0) == 0.0
    assert rise_mb([], 0.0) == 0.0


def took(**figures: float) -> TaskMemory:
    known = {"pid": 7, "rss_before_mb": 100.0, "rss_peak_mb": 300.0, "rss_after_mb": 150.0}
    return TaskMemory(**{**known, **figures})


def test_entries_come_back_newest_first_and_old_ones_are_dropped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger, "KEPT_ENTRIES", 3)
    store = JobStore(tmp_path / "s")
    for attempt in range(5):
        store.ledger.add("job", attempt, took(vram_after_mb=640.0, residue_mb=20.0))

    entries = store.ledger.newest(10)

    assert [entry.attempt for entry in entries] == [4, 3, 2]
    assert entries[0].child_pid == 7
    assert (entries[0].rss_before_mb, entries[0].rss_peak_mb, entries[0].rss_after_mb) == (
        100.0,
        300.0,
        150.0,
    )
    assert (entries[0].vram_before_mb, entries[0].vram_after_mb) == (None, 640.0)
    assert abs(entries[0].at.timestamp() - time.time()) < 60
    assert len(store.ledger.newest(1)) == 1


def test_the_rise_of_a_card_and_of_the_computer_are_told_apart(tmp_path: Path) -> None:
    store = JobStore(tmp_path / "s")
    store.ledger.add("job", 1, took(rss_after_mb=150.0, residue_mb=0.0))
    store.ledger.add("job", 2, took(rss_after_mb=550.0))

    assert store.ledger.rise_mb("ram") == pytest.approx(400.0)
    assert store.ledger.rise_mb("vram") == 0.0
