"""What a lane needs to start its child."""

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from engine.contracts import Lane
from engine.settings import EngineSettings
from engine.worker.environment import child_environment
from engine.worker.process import Launch

MAX_HEARTBEAT_S = 2.0


@dataclass(frozen=True)
class LanePlan:
    """What a supervisor needs to know about its lane.

    Attributes:
        lane: which one.
        tasks: ``module:NAME`` of the table the child loads.
        temp_dir: for the child's temporary files.
        tasks_per_child: a child is replaced after this many.
        pid_file: where the running child is written down, for lanes that may have one child
            on the whole computer; None for lanes of which every engine has its own.
    """

    lane: Lane
    tasks: str
    temp_dir: Path
    tasks_per_child: int
    pid_file: Path | None = None


def launch_of(plan: LanePlan, settings: EngineSettings) -> Launch:
    """The program, environment and folders of a lane's child."""
    silence_s = settings.heartbeat_timeout_s
    return Launch(
        arguments=[
            *(sys.executable, "-m", "engine.worker.child"),
            *("--lane", plan.lane, "--tasks", plan.tasks),
            *("--heartbeat-s", str(min(MAX_HEARTBEAT_S, silence_s / 4))),
            *("--watchdog-s", str(max(silence_s, settings.child_start_timeout_s))),
        ],
        environment=child_environment(plan.lane, settings, plan.temp_dir, os.environ),
        folder=settings.data_dir,
        log_path=settings.logs_dir / f"{plan.lane}.log",
    )


def settings_in_full(settings: EngineSettings) -> dict[str, Any]:
    """The settings as JSON, secrets included: for the private pipe to a child only."""
    secrets = {
        name: value.get_secret_value() for name, value in settings if isinstance(value, SecretStr)
    }
    return {**settings.model_dump(mode="json"), **secrets}
