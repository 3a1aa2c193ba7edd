"""The executor for ZeroGPU: tasks run in a function to which the Space lends a card for a while.

There the card reaches only functions of the app's own process that are marked with `spaces.GPU`;
a child of ours would never see it. This is the one place where the process of the page loads what
lies behind the wall. Videos that need no card are made in an ordinary child.
"""

import contextvars
import importlib
import logging
import os
import queue
import threading
import time
import wave
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from engine.contracts import JobSpec, Progress
from engine.errors import Canceled, EngineError, ErrorCode, InputError, WorkerLost
from engine.jobs.limits import spoken_duration_s
from engine.settings import EngineSettings
from engine.worker.attend import TaskLimits, TaskMemory, TaskResult, answer_of
from engine.worker.channel import Message
from engine.worker.executor import Executor
from engine.worker.loop import RunningTask, answer_to, load_table, unknown_task
from engine.worker.plan import settings_in_full
from engine.worker.supervisor import ChildState, ignore_memory, ignore_progress, never

CANCEL_NAME = "cancel.flag"
"""In the job's folder: the lent function runs in a process of its own, without our memory."""

TICK_S = 0.5
"""How often the lent function gives the word back while its task has nothing to tell."""

FIXED_S = 30.0
"""Loading the networks."""

TERAFLOPS = 80.0
"""Of the lent card in a second; an assumption after an H200's 78, never measured there."""

TERAFLOP_PER_CALL, CALLS_PER_SECOND_AND_STEP = 94.0, 0.5
"""Counted at 512 pixels, see `engine.pipeline.sonic`."""

SHORTEST_S, LONGEST_S = 60, 600

UNKNOWN_LENGTH_S = 10.0

_log = logging.getLogger(__name__)


class InProcessExecutor:
    """Runs videos of Sonic on a lent card, all others in a child.

    Must be made before the page is launched: a ZeroGPU Space looks for marked functions then.

    Args:
        settings: of the engine.
        tasks: ``module:NAME`` of the table.
        child: makes what needs no card.

    Raises:
        InputError: BAD_OPTION when the package `spaces` is missing.
    """

    def __init__(self, settings: EngineSettings, tasks: str, child: Executor) -> None:
        self._settings = settings
        self._tasks = tasks
        self._child = child
        self._one_task = threading.Lock()
        self._closing = threading.Event()
        self._is_busy = False
        self._askers: dict[str, contextvars.Context] = {}
        try:
            spaces = importlib.import_module("spaces")
        except ImportError:
            reason = "zerogpu needs the package spaces"
            raise InputError(ErrorCode.BAD_OPTION, option="executor", reason=reason) from None
        self._lent = spaces.GPU(duration=seconds_needed)(steps_of)

    @property
    def state(self) -> ChildState:
        """Busy while a card is lent, else what the child is doing."""
        return ChildState.BUSY if self._is_busy else self._child.state

    @property
    def pid(self) -> int | None:
        """The child's."""
        return self._child.pid

    @property
    def is_stuck(self) -> bool:
        """Whether the child is."""
        return self._child.is_stuck

    def warm_up(self) -> None:
        """Begin to start the child; a card is lent when its task comes."""
        self._child.warm_up()

    def remember(self, job_id: str) -> None:
        """Keep who asks: the quota of that visitor counts, not the Space's own."""
        self._askers[job_id] = contextvars.copy_context()

    def unload(self) -> None:
        """End the child when it is idle; the card is lent anew for each video."""
        self._child.unload()

    def run(
        self,
        kind: str,
        payload: dict[str, Any],
        limits: TaskLimits,
        on_progress: Callable[[Progress], None] = ignore_progress,
        is_canceled: Callable[[], bool] = never,
        on_memory: Callable[[TaskMemory], None] = ignore_memory,
    ) -> TaskResult:
        """Have one task done; see `Supervisor.run`.

        Raises:
            EngineError: CARD_NOT_LENT, or as the supervisor's.
        """
        spec = JobSpec.model_validate(payload["spec"])
        asker = self._askers.pop(spec.job_id, None) or contextvars.copy_context()
        if not needs_card(spec, self._settings):
            return self._child.run(kind, payload, limits, on_progress, is_canceled, on_memory)
        with self._one_task:
            self._is_busy = True
            try:
                result = self._on_card(kind, payload, limits, asker, on_progress, is_canceled)
                on_memory(result.memory)
                return result
            finally:
                self._is_busy = False

    def close(self) -> None:
        """End the child; a task on a lent card is asked to stop."""
        self._closing.set()
        self._child.close()

    def _on_card(
        self,
        kind: str,
        payload: dict[str, Any],
        limits: TaskLimits,
        asker: contextvars.Context,
        on_progress: Callable[[Progress], None],
        is_canceled: Callable[[], bool],
    ) -> TaskResult:
        flag = Path(payload["job_dir"]) / CANCEL_NAME
        flag.unlink(missing_ok=True)
        settings = settings_in_full(self._settings)
        steps = asker.run(self._lent, kind, payload, settings, self._tasks)
        was_canceled = False
        deadline = None if limits.total_s is None else time.monotonic() + limits.total_s
        try:
            while True:
                message = asker.run(_next, steps, payload)
                if not was_canceled and (is_canceled() or self._closing.is_set()):
                    was_canceled = True
                    flag.touch()
                if message["type"] == "progress":
                    on_progress(Progress.model_validate(message["progress"]))
                elif message["type"] != "tick":
                    break
                if deadline is not None and time.monotonic() > deadline:
                    raise EngineError(ErrorCode.TIMED_OUT)
        finally:
            steps.close()
            flag.unlink(missing_ok=True)
        answer = answer_of(os.getpid(), message, was_canceled=was_canceled)
        if answer.values is None:
            raise answer.failure or WorkerLost
        return TaskResult(answer.values, answer.memory)


def needs_card(spec: JobSpec, settings: EngineSettings) -> bool:
    """Whether a video is, or by `auto` may be, one of Sonic's."""
    choice = spec.options.animator
    return choice == "sonic" or (choice == "auto" and settings.sonic_dir.is_dir())


def seconds_needed(
    _kind: str, payload: dict[str, Any], _settings: dict[str, Any], _tasks: str
) -> int:
    """For how long to ask for the card: a quota that is smaller is refused, a longer one wasted."""
    spec = JobSpec.model_validate(payload["spec"])
    if spec.lecture is not None:
        return LONGEST_S
    length_s = _recorded_s(spec, Path(payload["job_dir"])) or spoken_duration_s(spec)
    calls = CALLS_PER_SECOND_AND_STEP * spec.options.steps * (length_s or UNKNOWN_LENGTH_S)
    size_factor = (spec.options.output_size_px / 512) ** 2
    work_s = calls * TERAFLOP_PER_CALL * size_factor / TERAFLOPS
    return round(min(LONGEST_S, max(SHORTEST_S, FIXED_S + work_s)))


def steps_of(
    kind: str, payload: dict[str, Any], settings: dict[str, Any], tasks: str
) -> Iterator[Message]:
    """Do a task and yield its messages; the last one is a `result` or an `error`.

    Everything that goes in or out is JSON, because ZeroGPU runs this in a process of its own.

    Args:
        kind: name of the task.
        payload: of the task.
        settings: of the engine, in full.
        tasks: ``module:NAME`` of the table.
    """
    outbox: queue.SimpleQueue[Message] = queue.SimpleQueue()
    task = RunningTask(lambda **message: outbox.put(message), "lent")
    command = {"kind": kind, "payload": payload}

    def work() -> None:
        function = load_table(tasks).get(kind, unknown_task)
        outbox.put(answer_to(command, task, function, EngineSettings(**settings)))

    threading.Thread(target=work, name="lent-card", daemon=True).start()
    flag = Path(payload["job_dir"]) / CANCEL_NAME
    while True:
        if flag.exists():
            task.canceled.set()
        try:
            message = outbox.get(timeout=TICK_S)
        except queue.Empty:
            message = {"type": "tick"}
        yield message
        if message["type"] in ("result", "error"):
            return


def _next(steps: Iterator[Message], payload: dict[str, Any]) -> Message:
    """The next message of a lent function.

    Raises:
        EngineError: CARD_NOT_LENT.
        Canceled: it was asked to stop and said nothing any more.
    """
    try:
        return next(steps)
    except StopIteration:
        raise WorkerLost from None
    except (EngineError, Canceled):
        raise
    except Exception as error:  # the Space's refusals have no types of their own
        _log.warning("the card was not lent: %s", type(error).__name__)
        seconds = seconds_needed("", payload, {}, "")
        raise EngineError(ErrorCode.CARD_NOT_LENT, seconds=seconds) from error


def _recorded_s(spec: JobSpec, job_dir: Path) -> float | None:
    if spec.audio_name is None:
        return None
    try:
        with wave.open(str(job_dir / spec.audio_name), "rb") as sound:
            return sound.getnframes() / sound.getframerate()
    except (OSError, wave.Error, EOFError):
        return None
