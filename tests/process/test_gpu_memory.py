"""The memory of a real card: what a child keeps, when it is replaced, the ladder."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from polling import HERE, python_path, wait_until

from engine.contracts import MemoryReading
from engine.errors import EngineError, ErrorCode
from engine.gpu.gauge import MemoryGauge
from engine.settings import EngineSettings
from engine.worker.attend import TaskLimits, TaskMemory
from engine.worker.plan import LanePlan
from engine.worker.supervisor import Supervisor
from tests.patience import PATIENCE

pytest.importorskip("torch")
pytestmark = [pytest.mark.gpu, pytest.mark.timeout(300)]

BASELINE_MB = 32.0


class Lane:
    """A render lane on the card, and what its tasks took."""

    def __init__(self, settings: EngineSettings, temp_dir: Path, tasks_per_child: int) -> None:
        self.gauge = MemoryGauge(lambda: [pid] if (pid := self.supervisor.pid) else [])
        plan = LanePlan("render", "gpu_tasks:TASKS", temp_dir, tasks_per_child)
        self.supervisor = Supervisor(plan, settings, self.gauge.read_now)
        self.memories: list[TaskMemory] = []

    def run(self, kind: str, **payload: float) -> dict[str, object]:
        result = self.supervisor.run(kind, payload, TaskLimits(), on_memory=self.memories.append)
        return result.values

    def used_mb(self) -> float:
        reading = self.gauge.read_now()
        assert reading is not None
        assert reading.used_mb is not None
        return reading.used_mb


@pytest.fixture
def lane(
    request: pytest.FixtureRequest,
    settings_for: Callable[..., EngineSettings],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    no_child_left: None,
) -> Iterator[Lane]:
    monkeypatch.setenv("PYTHONPATH", python_path(HERE))
    settings = settings_for()
    settings.data_dir.mkdir()
    lane = Lane(settings, tmp_path / "tmp", getattr(request, "param", 1000))
    yield lane
    lane.supervisor.close()


def test_a_task_that_gives_everything_back_leaves_its_context_alone(lane: Lane) -> None:
    for _ in range(4):
        lane.run("take", mb=4000)

    figures = lane.memories
    assert all((memory.vram_peak_mb or 0) >= 4000 for memory in figures)
    assert all(memory.residue_mb is not None and memory.residue_mb < 256 for memory in figures)
    assert [memory.replaced for memory in figures] == [None] * 4
    assert len({memory.pid for memory in figures}) == 1


def test_a_task_that_keeps_memory_costs_its_child_and_the_card_is_as_before(lane: Lane) -> None:
    before_mb = lane.used_mb()
    card: MemoryReading | None = lane.gauge.read_now()
    assert card is not None
    keep_mb = max(512.0, 0.03 * (card.total_mb or 0)) + 300

    lane.run("take", mb=100, keep_mb=keep_mb)

    assert lane.memories[-1].replaced == "residue"
    took_s = wait_until(lambda: lane.used_mb() < before_mb + BASELINE_MB, 10)
    assert took_s < 2
    lane.run("take", mb=100)
    assert len({memory.pid for memory in lane.memories}) == 2


def test_a_killed_child_gives_everything_back(lane: Lane) -> None:
    before_mb = lane.used_mb()
    lane.run("take", mb=8000)
    started = time.monotonic()

    lane.supervisor.close()
    wait_until(lambda: lane.used_mb() < before_mb + BASELINE_MB, 10)

    assert time.monotonic() - started < 2 * PATIENCE


def test_the_ladder_is_climbed_in_order_and_the_next_task_has_the_whole_card(lane: Lane) -> None:
    climbed = lane.run("climb_ladder", limit_mb=1000)
    with pytest.raises(EngineError) as caught:
        lane.run("climb_ladder", limit_mb=500)
    after = lane.run("take", mb=3000)

    assert climbed["steps"] == ["again", "smaller_chunks", "tiled_decode"]
    assert caught.value.code is ErrorCode.GPU_MEMORY
    assert lane.memories[1].replaced == "device_error"
    assert after["pid"] != climbed["pid"]


def mixed_jobs(lane: Lane, count: int) -> None:
    """Videos of several sizes, each after what a speaking network would do for it."""
    for number in range(count):
        if number % 2:
            lane.run("draw_like", side=(64, 96, 128, 192, 256)[number // 2 % 5])
        else:
            lane.run("speak_like", words=50 + 37 * number % 400)


@pytest.mark.parametrize("lane", [1000], indirect=True)
def test_a_hundred_mixed_jobs_in_one_child_leave_no_more_than_a_few(
    lane: Lane, record_property: Callable[[str, object], None]
) -> None:
    mixed_jobs(lane, 120)

    residues = np.array([memory.residue_mb for memory in lane.memories], float)
    peaks = [memory.vram_peak_mb for memory in lane.memories]
    slope = np.polyfit(np.arange(len(residues) - 20), residues[20:], 1)[0]
    record_property("residues_mb", residues.tolist())
    record_property("peaks_mb", peaks)
    record_property("slope_mb_a_job", float(slope))
    assert len({memory.pid for memory in lane.memories}) == 1
    assert abs(slope) < 1.0
    assert residues[20:].max() - residues[20:].min() <= BASELINE_MB


@pytest.mark.parametrize("lane", [10], indirect=True)
def test_a_hundred_mixed_jobs_with_recycling_return_to_the_empty_card(
    lane: Lane, record_property: Callable[[str, object], None]
) -> None:
    before_mb = lane.used_mb()
    empty: list[float] = []
    for _ in range(10):
        mixed_jobs(lane, 10)
        assert lane.memories[-1].replaced == "jobs_done"
        wait_until(lambda: lane.used_mb() < before_mb + BASELINE_MB, 10)
        empty.append(lane.used_mb() - before_mb)

    record_property("over_the_empty_card_mb", empty)
    assert len({memory.pid for memory in lane.memories}) == 10
    assert max(map(abs, empty)) <= BASELINE_MB


def test_a_good_job_follows_one_that_ran_out_of_memory(lane: Lane) -> None:
    lane.run("draw_like", side=128)
    with pytest.raises(EngineError) as caught:
        lane.run("take_all")

    after = lane.run("draw_like", side=128)

    assert caught.value.code is ErrorCode.GPU_MEMORY
    assert lane.memories[1].replaced == "device_error"
    assert after["finite"]
    assert after["pid"] != lane.memories[1].pid
