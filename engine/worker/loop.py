"""The work of a child process: take one task after the other, answer each with one message."""

import errno
import importlib
import logging
import os
import queue
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, cast

from engine.contracts import Lane, Progress
from engine.errors import Canceled, EngineError, ErrorCode, InputError
from engine.gpu.cleanup import (
    card_peak_mb,
    release_memory,
    set_aside_what_stays,
    start_card_peak,
)
from engine.settings import EngineSettings
from engine.worker.channel import Channel, Message
from engine.worker.peak import PeakMemory
from engine.worker.plan import Preparation
from engine.worker.priority import lower_priority
from engine.worker.task import Task, TaskContext, TaskTable

PROGRESS_INTERVAL_S = 0.1
"""Progress within a stage is sent at most this often; the page looks about once a second."""

GET_READY = "get_ready"
"""The task, where a table has one, of a child that was started before anybody waits for it."""

_log = logging.getLogger(__name__)


class RunningTask:
    """One task being done: its cancel flag and its progress line.

    Args:
        send: takes its messages.
        task_id: the parent's name for it.
    """

    def __init__(self, send: Callable[..., None], task_id: str) -> None:
        self.task_id = task_id
        self.canceled = threading.Event()
        self.stage: str | None = None
        self._send = send
        self._last_sent = 0.0

    def report(self, progress: Progress) -> None:
        """Send progress on; drops what comes too fast to be seen."""
        now = time.monotonic()
        is_new_stage = progress.stage.value != self.stage
        is_end = 0 < progress.total <= progress.done
        if not (is_new_stage or is_end) and now - self._last_sent < PROGRESS_INTERVAL_S:
            return
        self.stage = progress.stage.value
        self._last_sent = now
        self._send(type="progress", id=self.task_id, progress=progress.model_dump(mode="json"))


class ChildLoop:
    """Runs tasks in the main thread, commands in a second one.

    Args:
        channel: to the parent.
        inbox: messages of the parent as they arrive; the first is `configure`.
        lane: which lane this process serves.
        tasks: ``module:NAME`` of the `TaskTable`.
    """

    def __init__(
        self, channel: Channel, inbox: "queue.SimpleQueue[Message]", lane: Lane, tasks: str
    ) -> None:
        self._channel = channel
        self._inbox = inbox
        self._lane = lane
        self._tasks = tasks
        self._todo: queue.SimpleQueue[tuple[Message, RunningTask] | None] = queue.SimpleQueue()

    def run(self) -> None:
        """Load the tasks, say `ready`, then work until `stop`."""
        logging.basicConfig(
            level=logging.INFO,
            stream=sys.stderr,
            format="%(asctime)s %(levelname)s %(name)s: %(message)s",
        )
        if self._lane == "render":
            lower_priority()
        configured = self._inbox.get()
        settings = EngineSettings(**configured["settings"])
        table = load_table(self._tasks)
        preparation = Preparation(configured.get("get_ready", Preparation.NONE))
        if preparation is not Preparation.NONE and GET_READY in table:
            task = RunningTask(self._channel.send, GET_READY)
            payload = {"preparation": preparation.value}
            answer_to({"kind": GET_READY, "payload": payload}, task, table[GET_READY], settings)
        set_aside_what_stays()
        threading.Thread(target=self._obey, name="commands", daemon=True).start()
        self._channel.send(type="ready", pid=os.getpid())
        is_first = True
        while (todo := self._todo.get()) is not None:
            command, task = todo
            self._answer(command, task, table.get(command["kind"], unknown_task), settings)
            if is_first:
                set_aside_what_stays()  # what the first task loaded, such as the models
                is_first = False

    def _obey(self) -> None:
        """Take commands while a task runs; the parent gives one task at a time."""
        task: RunningTask | None = None
        while True:
            message = self._inbox.get()
            match message["type"]:
                case "run":
                    task = RunningTask(self._channel.send, message["id"])
                    self._todo.put((message, task))
                case "cancel":
                    if task is not None and task.task_id == message.get("id"):
                        task.canceled.set()
                case "ping":
                    self._channel.send(type="pong")
                case "stop":
                    self._todo.put(None)
                case unknown:
                    _log.warning("ignored a command of unknown type %r", unknown)

    def _answer(
        self,
        command: Message,
        task: RunningTask,
        function: Task,
        settings: EngineSettings,
    ) -> None:
        self._channel.send(id=task.task_id, **answer_to(command, task, function, settings))


def answer_to(
    command: Message, task: RunningTask, function: Task, settings: EngineSettings
) -> Message:
    """Do one task; its answer, with what it took of the memory."""
    context = TaskContext(settings=settings, canceled=task.canceled, report=task.report)
    with PeakMemory() as memory:
        before_mb = memory.current_mb()
        start_card_peak()
        answer = perform(function, command, context, task)
    peak_vram_mb = card_peak_mb()
    release_memory()
    return {
        **answer,
        "rss_before_mb": before_mb,
        "rss_peak_mb": memory.peak_mb,
        "rss_after_mb": memory.current_mb(),
        "vram_peak_mb": peak_vram_mb,
    }


def perform(
    function: Task, command: Message, context: TaskContext, task: RunningTask
) -> dict[str, Any]:
    """Do one task; whatever it raises becomes a message."""
    code, values, is_input = ErrorCode.INTERNAL, cast(dict[str, object], {}), False
    try:
        return {"type": "result", "values": function(command["payload"], context)}
    except EngineError as error:
        code, values = error.code, error.values
        is_input = isinstance(error, InputError)
        if not isinstance(error, InputError | Canceled):
            _log.exception("task %s failed", command["kind"])
    except MemoryError:
        code = ErrorCode.OUT_OF_MEMORY
        _log.exception("task %s ran out of memory", command["kind"])
    except Exception as error:  # noqa: BLE001 - the edge of the child: nothing may end its loop
        is_full = isinstance(error, OSError) and error.errno == errno.ENOSPC
        code = ErrorCode.DISK_FULL if is_full else ErrorCode.INTERNAL
        _log.exception("task %s failed", command["kind"])
    return {
        "type": "error",
        "code": code.value,
        "values": values,
        "stage": task.stage,
        "is_input": is_input,
    }


def unknown_task(_payload: dict[str, Any], _context: TaskContext) -> dict[str, Any]:
    """Stand in for a task the table does not have."""
    raise LookupError("the table has no task of this kind")


def load_table(name: str) -> TaskTable:
    """Import the table ``module:NAME`` names."""
    module, _, attribute = name.partition(":")
    table: TaskTable = getattr(importlib.import_module(module), attribute)
    return table
