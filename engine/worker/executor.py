"""What does the work of a lane: a supervised child, or the process itself where it must be so."""

from collections.abc import Callable
from typing import Any, Protocol

from engine.contracts import Progress
from engine.worker.attend import TaskLimits, TaskMemory, TaskResult
from engine.worker.supervisor import ChildState


class Executor(Protocol):
    """Runs tasks one at a time; safe from any thread."""

    @property
    def state(self) -> ChildState:
        """What it is doing."""
        ...

    @property
    def pid(self) -> int | None:
        """Process that does the work, None when there is none."""
        ...

    @property
    def is_stuck(self) -> bool:
        """Whether nothing can run because an old child survives every kill."""
        ...

    def run(
        self,
        kind: str,
        payload: dict[str, Any],
        limits: TaskLimits,
        on_progress: Callable[[Progress], None],
        is_canceled: Callable[[], bool],
        on_memory: Callable[[TaskMemory], None],
    ) -> TaskResult:
        """Have one task done; see `Supervisor.run`."""
        ...

    def warm_up(self) -> None:
        """Begin to get ready for a task when nothing is; returns at once."""
        ...

    def remember(self, job_id: str) -> None:
        """A job was submitted by whoever calls this; needed only where a quota is theirs."""
        ...

    def unload(self) -> None:
        """Give the memory back now, unless a task runs."""
        ...

    def close(self) -> None:
        """End; a task that runs is lost."""
        ...
