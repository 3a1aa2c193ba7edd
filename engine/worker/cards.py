"""One render child for each card that makes videos."""

import os
from collections.abc import Callable
from pathlib import Path

from engine.contracts import MemoryReading
from engine.errors import ErrorCode, InputError
from engine.gpu.gauge import MemoryGauge, read_cards
from engine.settings import EngineSettings
from engine.worker.executor import Executor
from engine.worker.lanes import render_lane
from engine.worker.plan import DEVICE_VARIABLE, LanePlan
from engine.worker.supervisor import Supervisor

ALL_CARDS = "all"


def render_lanes(
    settings: EngineSettings,
    tasks: str,
    temp_dir: Path,
    read_card: Callable[[], MemoryReading | None],
) -> list[Executor]:
    """What makes the videos of this engine: one child, or one for each card of the settings.

    Args:
        settings: of the engine.
        tasks: ``module:NAME`` of the tasks.
        temp_dir: for temporary files.
        read_card: a fresh reading of the card that CUDA chooses where the settings name none.

    Raises:
        InputError: BAD_OPTION when the settings name a card that is not there.
    """
    devices = chosen_cards(settings.gpus)
    if not devices:
        return [render_lane(settings, tasks, temp_dir, read_card)]
    return [card_lane(settings, tasks, temp_dir, device) for device in devices]


def chosen_cards(gpus: tuple[str, ...]) -> tuple[str, ...]:
    """The cards to use as CUDA_VISIBLE_DEVICES names them; empty = leave it to CUDA.

    Raises:
        InputError: BAD_OPTION when one of them is not there, or is named twice.
    """
    num_cards = len(read_cards()) if gpus else 0
    if gpus == (ALL_CARDS,):
        visible = os.environ.get(DEVICE_VARIABLE)
        if visible is not None:
            return tuple(name.strip() for name in visible.split(",") if name.strip())
        return tuple(map(str, range(num_cards)))
    if len(set(gpus)) < len(gpus):
        raise InputError(ErrorCode.BAD_OPTION, option="gpus", reason="a card is named twice")
    for name in gpus:
        # Where the driver tells nothing, CUDA itself will say what is not there.
        if name.isdecimal() and num_cards and int(name) >= num_cards:
            reason = f"there is no card {name}, they are counted from 0 to {num_cards - 1}"
            raise InputError(ErrorCode.BAD_OPTION, option="gpus", reason=reason)
    return gpus


def card_lane(settings: EngineSettings, tasks: str, temp_dir: Path, device: str) -> Supervisor:
    """The lane that makes videos on one card; one child for that card on the whole computer."""
    name = "".join(letter for letter in device if letter.isalnum() or letter == "-")
    pid_file = settings.data_dir / f"render-{name}.pid"
    supervisor, _gauge = named_lane(
        settings,
        LanePlan(
            lane="render",
            tasks=tasks,
            temp_dir=temp_dir,
            tasks_per_child=settings.recycle_after_jobs,
            pid_file=pid_file,
            name=pid_file.stem,
            device=device,
        ),
    )
    return supervisor


def named_lane(settings: EngineSettings, plan: LanePlan) -> tuple[Supervisor, MemoryGauge]:
    """A lane with a gauge of its own, which reads the card that its child sees."""
    made: list[Supervisor] = []
    device = os.environ.get(DEVICE_VARIABLE) if plan.device is None else plan.device
    gauge = MemoryGauge(lambda: [lane.pid for lane in made if lane.pid is not None], device)
    made.append(Supervisor(plan, settings, gauge.read_now))
    return made[0], gauge
