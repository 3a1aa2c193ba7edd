"""What a lane needs to start its child."""

import os
import sys
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from engine.contracts import Lane
from engine.errors import ErrorCode
from engine.settings import EngineSettings
from engine.worker.environment import child_environment
from engine.worker.process import Launch

MAX_HEARTBEAT_S = 2.0
DEVICE_VARIABLE = "CUDA_VISIBLE_DEVICES"

_NOT_FOR_CHILDREN = ("broker_url", "storage_url")
"""They carry passwords, and a child that opens files of strangers needs none."""

BREAKING_CODES = frozenset({ErrorCode.OUT_OF_MEMORY, ErrorCode.GPU_MEMORY, ErrorCode.INTERNAL})
"""After one of these a child's memory or device may be in any state."""


class Preparation(StrEnum):
    """What a child loads before it says that it is ready."""

    NONE = "none"
    USUAL = "usual"
    """What most first questions need."""
    ALL = "all"
    """What later questions need, too: for a child that nobody waits for."""


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
        breaking_codes: a child is replaced after answering with one of these.
        memory_mb: what the child may allocate; None = no limit.
        kept_mb: resident memory a child may keep between tasks; None = a share of the computer's.
        expects_deaths: files of strangers may kill the child; the next start does not wait.
        name: of its log; None = the lane's.
        device: the card the child sees, as CUDA_VISIBLE_DEVICES names it; None = all of them.
        patience: of a lane whose pool replaces children; see `RecycleLimits`.
        ends_aside: a child that is replaced may still be ending while the next one starts; never
            where both would need one card.
    """

    lane: Lane
    tasks: str
    temp_dir: Path
    tasks_per_child: int
    pid_file: Path | None = None
    breaking_codes: frozenset[ErrorCode] = BREAKING_CODES
    memory_mb: float | None = None
    kept_mb: float | None = None
    expects_deaths: bool = False
    name: str | None = None
    device: str | None = None
    patience: int = 1
    ends_aside: bool = False


def launch_of(plan: LanePlan, settings: EngineSettings) -> Launch:
    """The program, environment and folders of a lane's child."""
    silence_s = settings.heartbeat_timeout_s
    return Launch(
        arguments=[
            *(sys.executable, "-m", "engine.worker.child"),
            *("--lane", plan.lane, "--tasks", plan.tasks),
            *("--heartbeat-s", str(min(MAX_HEARTBEAT_S, silence_s / 4))),
            *("--watchdog-s", str(max(silence_s, settings.child_start_timeout_s))),
            *(() if plan.memory_mb is None else ("--memory-mb", str(plan.memory_mb))),
        ],
        environment=_environment(plan, settings),
        folder=settings.data_dir,
        log_path=settings.logs_dir / f"{plan.name or plan.lane}.log",
    )


def _environment(plan: LanePlan, settings: EngineSettings) -> dict[str, str]:
    environment = child_environment(plan.lane, settings, plan.temp_dir, os.environ)
    return environment if plan.device is None else {**environment, DEVICE_VARIABLE: plan.device}


def settings_in_full(settings: EngineSettings) -> dict[str, Any]:
    """The settings as JSON, secrets included: for the private pipe to a child only."""
    secrets = {
        name: value.get_secret_value() for name, value in settings if isinstance(value, SecretStr)
    }
    hidden = dict.fromkeys(_NOT_FOR_CHILDREN)
    return {**settings.model_dump(mode="json"), **secrets, **hidden, "backend": "local"}
