"""The decode tasks with a witness: every event of the interpreter that touches the world.

The witness writes to the child's log, which is open already, so that it sees itself not.
"""

import os
import sys
from typing import Any

from engine.pipeline.decode import decode_tasks
from engine.worker.confine import FileGuard
from engine.worker.task import Task, TaskContext, TaskTable

WATCHED = ("open", "socket.", "subprocess.", "os.", "shutil.", "ctypes.dlopen")
MARK = "SEEN "


class Witness:
    """Reports events while a task runs."""

    def __init__(self) -> None:
        self.is_watching = False
        sys.addaudithook(self._hook)

    def _hook(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self.is_watching and event.startswith(WATCHED):
            path = arguments[0] if arguments else None
            line = f"{MARK}{event} {path!r}\n"
            os.write(2, line.encode("utf-8", "replace"))


def watched(task: Task, witness: Witness) -> Task:
    def run(payload: dict[str, Any], context: TaskContext) -> dict[str, Any]:
        witness.is_watching = True
        try:
            return task(payload, context)
        finally:
            witness.is_watching = False

    return run


def watched_tasks() -> TaskTable:
    witness = Witness()
    return {kind: watched(task, witness) for kind, task in decode_tasks(FileGuard()).items()}


TASKS = watched_tasks()
