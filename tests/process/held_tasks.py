"""The product's own tasks, stopped at a door, so that a test can kill them just there.

For children only: it changes the pipeline of the process that imports it. The doors are in `doors`.
"""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from doors import HELD, HOLD

from engine.contracts import Stage
from engine.pipeline import decode, runner, tasks
from engine.pipeline.stage import StageClock
from engine.worker.task import TaskContext


def stand_at(door: str) -> None:
    """Stand still when this is the door that the test named; the data folder is the child's."""
    try:
        if Path(HOLD).read_text("ascii") != door:
            return
        Path(HOLD).unlink()
    except FileNotFoundError:
        return
    Path(HELD).write_text(str(os.getpid()), "ascii")
    time.sleep(3600)


class HeldClock(StageClock):
    """A clock whose stages begin behind a door."""

    @contextmanager
    def running(self, stage: Stage, total: int = 0) -> Iterator[None]:
        with super().running(stage, total):
            stand_at(stage.value)
            yield

    def step(self, done: int) -> None:
        super().step(done)
        if self.stage is Stage.ANIMATE and done == 10:
            stand_at("animating")


def decode_picture(payload: dict[str, Any], context: TaskContext) -> dict[str, Any]:
    stand_at("decode")
    return decode.TASKS["decode_picture"](payload, context)


def intake(payload: dict[str, Any], context: TaskContext) -> dict[str, Any]:
    stand_at("intake")
    return tasks.TASKS["intake"](payload, context)


def render(payload: dict[str, Any], context: TaskContext) -> dict[str, Any]:
    result = tasks.TASKS["render"](payload, context)
    stand_at("done")
    return result


runner.StageClock = HeldClock  # type: ignore[misc]
TASKS = {**tasks.TASKS, "intake": intake, "render": render}
DECODE_TASKS = {**decode.TASKS, "decode_picture": decode_picture}
