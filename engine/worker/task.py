"""What a task running in a child process gets from it. Nothing heavy is imported here."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from threading import Event
from typing import Any

from engine.contracts import Progress
from engine.settings import EngineSettings


@dataclass(frozen=True)
class TaskContext:
    """The link of one running task to its parent.

    Attributes:
        settings: of the engine that started the child.
        canceled: set when the user asked to stop; a task looks at it at least once a second
            and then raises `engine.errors.Canceled`.
        report: tells the parent how far the task is; cheap, may be called for every frame.
    """

    settings: EngineSettings
    canceled: Event
    report: Callable[[Progress], None]


Task = Callable[[dict[str, Any], TaskContext], dict[str, Any]]
"""Takes a JSON payload, returns a JSON result, raises `EngineError` for what it can explain."""

TaskTable = Mapping[str, Task]
"""Every task a child can run, by kind."""
