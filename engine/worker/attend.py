"""Watch one task of a child until it is answered, lost, hung, over its time or canceled.

The decisions are in `Patience`, which takes seconds and nothing else; `attend` does the talking.
"""

import contextlib
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import psutil

from engine.contracts import Progress
from engine.errors import Canceled, EngineError, ErrorCode, InputError, WorkerLost
from engine.worker.channel import Message
from engine.worker.peak import BYTES_PER_MB
from engine.worker.process import ChildProcess

POLL_S = 0.1
"""How often the flags and clocks are looked at; a message is taken at once."""

MAX_STEP_S = 1.0
"""One look counts as this much at most: a laptop that slept must not find its child silent."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class TaskLimits:
    """How long a task may take.

    Attributes:
        total_s: for all of it; None = no limit.
        stall_s: between two reports of progress; None = no limit.
        silence_s: between two heartbeats.
        cancel_s: to stop by itself after it was asked to.
        cpu_s: processor time; None = no limit.
        memory_mb: resident memory of the child; None = no limit.
    """

    total_s: float | None = None
    stall_s: float | None = None
    silence_s: float = 60.0
    cancel_s: float = 10.0
    cpu_s: float | None = None
    memory_mb: float | None = None


@dataclass(frozen=True)
class TaskMemory:
    """What one task took, in MB; a figure that cannot be told is None.

    Attributes:
        pid: of the child.
        rss_before_mb, rss_peak_mb, rss_after_mb: resident memory of the child.
        vram_before_mb, vram_after_mb: used on the card by everybody, as the driver tells.
        vram_peak_mb: most the child reserved on the card.
        residue_mb: what the child still holds of the card beyond its context.
        replaced: why the child was replaced after the task, None when it was kept.
    """

    pid: int
    rss_before_mb: float
    rss_peak_mb: float
    rss_after_mb: float
    vram_before_mb: float | None = None
    vram_peak_mb: float | None = None
    vram_after_mb: float | None = None
    residue_mb: float | None = None
    replaced: str | None = None


@dataclass(frozen=True)
class TaskResult:
    """What a finished task gave.

    Attributes:
        values: its result.
        memory: what it took.
    """

    values: dict[str, Any]
    memory: TaskMemory


class Verdict(StrEnum):
    """What the clocks say."""

    GO_ON = "go_on"
    SILENT = "silent"
    TOO_LONG = "too_long"
    TOO_BIG = "too_big"
    DEAF = "deaf"


@dataclass
class Patience:
    """The clocks of one task, in seconds."""

    limits: TaskLimits
    total_s: float = 0.0
    stalled_s: float = 0.0
    silent_s: float = 0.0
    canceling_s: float | None = field(default=None)

    def pass_time(self, seconds: float) -> Verdict:
        """Let time pass, then judge."""
        step_s = min(seconds, MAX_STEP_S)
        self.total_s += step_s
        self.stalled_s += step_s
        self.silent_s += step_s
        if self.canceling_s is not None:
            self.canceling_s += step_s
            if self.canceling_s > self.limits.cancel_s:
                return Verdict.DEAF
        if self.silent_s > self.limits.silence_s:
            return Verdict.SILENT
        if _is_over(self.total_s, self.limits.total_s):
            return Verdict.TOO_LONG
        if _is_over(self.stalled_s, self.limits.stall_s):
            return Verdict.TOO_LONG
        return Verdict.GO_ON


class Hunger:
    """Watches what a child takes of the computer, where the limits name any.

    Works on every system; a kernel's own limit, where there is one, strikes earlier.

    Args:
        pid: of the child.
        limits: of the task that begins now.
    """

    def __init__(self, pid: int, limits: TaskLimits) -> None:
        self._limits = limits
        self._process: psutil.Process | None = None
        self._cpu_before_s = 0.0
        if limits.cpu_s is None and limits.memory_mb is None:
            return
        with contextlib.suppress(psutil.Error):
            self._process = psutil.Process(pid)
            self._cpu_before_s = self._cpu_s(self._process)

    def look(self) -> Verdict:
        """Whether the child took more than it may; one that is gone is noticed elsewhere."""
        if self._process is None:
            return Verdict.GO_ON
        try:
            if _is_over(self._process.memory_info().rss / BYTES_PER_MB, self._limits.memory_mb):
                return Verdict.TOO_BIG
            if _is_over(self._cpu_s(self._process) - self._cpu_before_s, self._limits.cpu_s):
                return Verdict.TOO_LONG
        except psutil.Error:
            self._process = None
        return Verdict.GO_ON

    @staticmethod
    def _cpu_s(process: psutil.Process) -> float:
        times = process.cpu_times()
        return times.user + times.system


def attend(
    child: ChildProcess,
    task_id: str,
    limits: TaskLimits,
    on_progress: Callable[[Progress], None],
    is_canceled: Callable[[], bool],
) -> "Answer":
    """Wait for the answer to a task that was sent.

    A child that must be killed is killed and confirmed gone before this returns.

    Returns:
        What the child answered: a result, or what the task raised.

    Raises:
        Canceled: the user asked to stop and the child did not answer any more.
        WorkerLost: the child ended or fell silent.
        EngineError: TIMED_OUT or OUT_OF_MEMORY.
    """
    patience = Patience(limits)
    hunger = Hunger(child.pid, limits)
    looked_at = time.monotonic()
    while True:
        message = child.receive(POLL_S)
        if message is not None:
            patience.silent_s = 0.0
            if message["type"] == "progress" and message.get("id") == task_id:
                patience.stalled_s = 0.0
                on_progress(Progress.model_validate(message["progress"]))
            elif message["type"] == "gone":
                _log.warning("child %d ended with code %s", child.pid, message["exit_code"])
                raise Canceled if patience.canceling_s is not None else WorkerLost
            elif message.get("id") == task_id:
                was_canceled = patience.canceling_s is not None
                return answer_of(child.pid, message, was_canceled=was_canceled)
        else:
            child.notice_end()
        if patience.canceling_s is None and is_canceled():
            patience.canceling_s = 0.0
            child.send(type="cancel", id=task_id)
        now = time.monotonic()
        verdict = patience.pass_time(now - looked_at)
        if verdict is Verdict.GO_ON:
            verdict = hunger.look()
        looked_at = now
        if verdict is not Verdict.GO_ON:
            raise _give_up(child, verdict)


@dataclass(frozen=True)
class Answer:
    """What a child said about a task: either `values` or `failure`, and what it took."""

    memory: TaskMemory
    values: dict[str, Any] | None = None
    failure: EngineError | None = None


def answer_of(pid: int, message: Message, *, was_canceled: bool) -> Answer:
    """Read the last message about a task.

    Args:
        pid: of the process that did it.
        message: a `result` or an `error`.
        was_canceled: it was asked to stop, so whatever it answered counts as that.
    """
    figures = ("rss_before_mb", "rss_peak_mb", "rss_after_mb", "vram_peak_mb")
    memory = TaskMemory(pid=pid, **{name: message[name] for name in figures})
    if was_canceled:
        return Answer(memory, failure=Canceled())
    if message["type"] == "result":
        return Answer(memory, values=message["values"])
    code = ErrorCode(message["code"])
    _log.info("a task answered %s in stage %s", code, message.get("stage"))
    if code is ErrorCode.CANCELED:
        return Answer(memory, failure=Canceled())
    kind = InputError if message.get("is_input") else EngineError
    return Answer(memory, failure=kind(code, **message["values"]))


def _give_up(child: ChildProcess, verdict: Verdict) -> EngineError:
    _log.warning("killing child %d: %s", child.pid, verdict)
    child.kill()
    match verdict:
        case Verdict.DEAF:
            return Canceled()
        case Verdict.TOO_LONG:
            return EngineError(ErrorCode.TIMED_OUT)
        case Verdict.TOO_BIG:
            return EngineError(ErrorCode.OUT_OF_MEMORY)
        case _:
            return WorkerLost()


def _is_over(seconds: float, limit_s: float | None) -> bool:
    return limit_s is not None and seconds > limit_s
