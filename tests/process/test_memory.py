"""What jobs take of the memory: written down for each, and what it makes the supervisor do."""

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from polling import HERE, TASKS, python_path

from engine.api import StudioEngine
from engine.contracts import AnimateRequest, MemoryReading
from engine.errors import ErrorCode
from engine.settings import EngineSettings
from engine.worker.attend import TaskLimits, TaskMemory
from engine.worker.plan import LanePlan
from engine.worker.supervisor import Supervisor
from tests.patience import PATIENCE

WORK = {"kind": "sleep", "seconds": 0}


def test_every_job_is_in_the_ledger_well_or_not(
    engine: StudioEngine, request_for: Callable[..., AnimateRequest]
) -> None:
    good = engine.submit(request_for({"kind": "allocate", "mb": 200}))
    bad = engine.submit(request_for({"kind": "out_of_memory"}))
    lost = engine.submit(request_for({"kind": "crash"}, WORK))
    for job in (good, bad, lost):
        engine.wait(job.job_id, 30 * PATIENCE)

    entries = {entry.job_id: entry for entry in engine.memory_ledger()}

    assert set(entries) == {good.job_id, bad.job_id, lost.job_id}
    one = entries[good.job_id]
    assert one.rss_peak_mb > one.rss_before_mb + 180
    assert one.rss_after_mb < one.rss_before_mb + 60
    assert entries[bad.job_id].replaced == "device_error"
    assert entries[lost.job_id].attempt == 2
    told = {entry["job_id"] for entry in engine.doctor()["memory"]}
    assert told == set(entries)


def test_the_gauge_warns_when_the_floor_rises(engine: StudioEngine) -> None:
    assert engine.gauge().warning is None

    for rss_mb in (200.0, 501.0):
        memory = TaskMemory(
            pid=1,
            rss_before_mb=0,
            rss_peak_mb=0,
            rss_after_mb=rss_mb,
            residue_mb=rss_mb,
        )
        engine._store.ledger.add("job", 1, memory)

    assert (engine.gauge().warning, engine.gauge().rise_mb) == (ErrorCode.MEMORY_RISING, 301)


@pytest.fixture
def with_card(
    settings_for: Callable[..., EngineSettings],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    no_child_left: None,
) -> Iterator[Callable[[list[float]], Supervisor]]:
    """Open a supervisor whose card is used as told, reading by reading; the last one stays."""
    monkeypatch.setenv("PYTHONPATH", python_path(HERE))
    opened: list[Supervisor] = []

    def make(used_mb: list[float]) -> Supervisor:
        told = itertools.chain(used_mb, itertools.repeat(used_mb[-1]))
        settings = settings_for()
        settings.data_dir.mkdir()

        def read() -> MemoryReading:
            return MemoryReading(kind="vram", device="Card", total_mb=24000, used_mb=next(told))

        plan = LanePlan("render", TASKS, tmp_path / "tmp", 100)
        opened.append(Supervisor(plan, settings, read))
        return opened[-1]

    yield make
    for supervisor in opened:
        supervisor.close()


def test_a_child_that_keeps_too_much_of_the_card_is_replaced(
    with_card: Callable[[list[float]], Supervisor],
) -> None:
    # Before the start, then before and after each of two tasks.
    supervisor = with_card([600, 600, 1300, 1300, 600 + 620 + 721])
    memories: list[TaskMemory] = []

    for _ in range(2):
        supervisor.run("where", {}, TaskLimits(), on_memory=memories.append)

    assert [memory.residue_mb for memory in memories] == [80, 721]
    assert [memory.replaced for memory in memories] == [None, "residue"]
    assert (memories[0].vram_before_mb, memories[0].vram_after_mb) == (600, 1300)
    assert supervisor.pid is None


def test_a_child_whose_residue_grows_three_jobs_in_a_row_is_replaced(
    with_card: Callable[[list[float]], Supervisor],
) -> None:
    held = [1220, 1290, 1360, 1430]
    supervisor = with_card([600, *itertools.chain.from_iterable((mb, mb) for mb in held)])
    memories: list[TaskMemory] = []

    for _ in held:
        supervisor.run("where", {}, TaskLimits(), on_memory=memories.append)

    assert [memory.replaced for memory in memories] == [None, None, None, "residue_grows"]
