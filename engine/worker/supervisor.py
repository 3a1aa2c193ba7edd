"""The owner of one lane's child process: starts it, gives it one task at a time, replaces it.

Whatever happens to the child, `run` returns or raises, and when it does, the child is either
ready for the next task or confirmed gone.
"""

import logging
import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import replace
from enum import StrEnum
from typing import Any

import psutil

from engine.contracts import MemoryReading, Progress
from engine.errors import Canceled, EngineError, WorkerLost
from engine.gpu.residue import residue_mb
from engine.settings import EngineSettings
from engine.worker import leftover
from engine.worker.attend import Answer, TaskLimits, TaskMemory, TaskResult, attend
from engine.worker.peak import BYTES_PER_MB
from engine.worker.plan import LanePlan, Preparation, launch_of, settings_in_full
from engine.worker.process import ChildProcess
from engine.worker.recycle import ChildHistory, RecycleLimits, back_off_s, recycle_reason

STOP_S = 3.0
"""How long a child may take to end when asked; it has nothing to save between tasks."""

_log = logging.getLogger(__name__)


class ChildNotStarted(WorkerLost):
    """No child could be made ready; whatever it should have done is not to blame."""


class ChildState(StrEnum):
    """What the child of a lane is doing; `dead` also means not started yet or unloaded."""

    STARTING = "starting"
    READY = "ready"
    BUSY = "busy"
    DEAD = "dead"


def never() -> bool:
    """The flag of a task that nobody can cancel."""
    return False


def ignore_progress(_progress: Progress) -> None:
    """Take progress that nobody wants to see."""


def ignore_memory(_memory: TaskMemory) -> None:
    """Take figures that nobody keeps."""


def no_card() -> None:
    """The reading of a lane that never uses a card."""
    return


class Supervisor:
    """Runs tasks of one lane in a child process, one at a time; safe from any thread.

    Args:
        plan: the lane.
        settings: of the engine; the child gets the same.
        read_card: a fresh reading of the card the child uses; None when there is none.
    """

    def __init__(
        self,
        plan: LanePlan,
        settings: EngineSettings,
        read_card: Callable[[], MemoryReading | None] = no_card,
    ) -> None:
        self._plan = plan
        self._settings = settings
        self._read_card = read_card
        self._card_before_mb: float | None = None
        self._one_task = threading.Lock()
        self._closing = threading.Event()
        self._child: ChildProcess | None = None
        self._history = ChildHistory(jobs_done=0, age_s=0.0)
        self._state = ChildState.DEAD
        self._is_leftover_stuck = False
        self._deaths = 0
        self._died_at = 0.0
        self._idle_timer: threading.Timer | None = None
        self._ending: set[ChildProcess] = set()
        self._limits = RecycleLimits(
            jobs=plan.tasks_per_child,
            host_mb=psutil.virtual_memory().total / BYTES_PER_MB,
            kept_mb=plan.kept_mb,
            patience=plan.patience,
        )

    @property
    def state(self) -> ChildState:
        """What the child is doing."""
        child = self._child
        return ChildState.DEAD if child is None or child.is_gone else self._state

    @property
    def pid(self) -> int | None:
        """Process id of the child, None when there is none."""
        child = self._child
        return None if child is None or child.is_gone else child.pid

    @property
    def tasks_left(self) -> int:
        """How many more tasks the child does before it is due."""
        return max(0, self._plan.tasks_per_child - self._history.jobs_done)

    @property
    def is_due(self) -> bool:
        """Whether the child should be replaced once another can take its tasks."""
        child = self._child
        if child is None:
            return False
        history = replace(self._history, age_s=time.monotonic() - child.started_at)
        return recycle_reason(history, replace(self._limits, patience=1)) is not None

    @property
    def is_stuck(self) -> bool:
        """Whether an old child, also of an engine before this one, survives every kill.

        Nothing can run until it is gone: a second one beside it would hang as well.
        """
        child = self._child
        if child is not None and child.is_stuck:
            return True
        return self._is_leftover_stuck and leftover.is_there(self._plan.pid_file)

    def run(
        self,
        kind: str,
        payload: dict[str, Any],
        limits: TaskLimits,
        on_progress: Callable[[Progress], None] = ignore_progress,
        is_canceled: Callable[[], bool] = never,
        on_memory: Callable[[TaskMemory], None] = ignore_memory,
    ) -> TaskResult:
        """Have one task done; waits for the task before it.

        Args:
            kind: name of the task in the child's table.
            payload: JSON.
            limits: its `silence_s` and `cancel_s` are replaced by the settings'.
            on_progress: called in this thread.
            is_canceled: asked ten times a second.
            on_memory: told what the task took, well or not, unless the child was lost.

        Raises:
            Canceled: `is_canceled` said so.
            ChildNotStarted: no child could be started.
            WorkerLost: the child ended or hung.
            EngineError: TIMED_OUT, or what the task raised.
        """
        limits = replace(
            limits,
            silence_s=self._settings.heartbeat_timeout_s,
            cancel_s=self._settings.cancel_grace_s,
        )
        with self._one_task:
            if self._closing.is_set():
                raise ChildNotStarted
            self._stop_idle_timer()
            child = self._ready_child(is_canceled)
            self._state = ChildState.BUSY
            used_mb = _used_mb(self._read_card())
            task_id = uuid.uuid4().hex
            child.send(type="run", id=task_id, kind=kind, payload=payload)
            try:
                answer = attend(child, task_id, limits, on_progress, is_canceled)
            except EngineError as error:
                self._after_loss(child, error)
                raise
            except BaseException:
                child.kill()
                raise
            memory = replace(answer.memory, vram_before_mb=used_mb)
            memory = self._after_answer(child, replace(answer, memory=memory))
            on_memory(memory)
            if answer.values is None:
                raise answer.failure or WorkerLost
            return TaskResult(answer.values, memory)

    def warm_up(self, preparation: Preparation = Preparation.USUAL) -> None:
        """Begin to start the child when there is none, so that the next task finds it ready."""
        if self.state is ChildState.DEAD and not self._closing.is_set():
            threading.Thread(
                target=self._warm_up, args=(preparation,), name="warm-up", daemon=True
            ).start()

    def _warm_up(self, preparation: Preparation) -> None:
        if not self._one_task.acquire(blocking=False):
            return  # whoever has it starts the child
        try:
            self._stop_idle_timer()
            self._start_idle_timer(self._ready_child(never, preparation))
        except WorkerLost:
            _log.info("the %s child could not be started ahead of its task", self._plan.lane)
        finally:
            self._one_task.release()

    def retire(self, preparation: Preparation) -> None:
        """Replace a child that is due; one that has a task again goes on."""
        if not self._one_task.acquire(blocking=False):
            return
        try:
            child = self._child
            if child is not None and self.is_due:
                _log.info("replacing the %s child: it is due", self._plan.lane)
                self._stop_idle_timer()
                self._dismiss(child)
        finally:
            self._one_task.release()
        self.warm_up(preparation)

    def remember(self, job_id: str) -> None:
        """Nothing to do: the child and its card are ours, whoever asks."""

    def close(self) -> None:
        """End the child; a task that runs is lost."""
        self._closing.set()
        self._stop_idle_timer()
        self._kill_child()
        for leaving in tuple(self._ending):
            leaving.kill()
        # Whoever was starting a child at that moment kills it as well; wait for that.
        if self._one_task.acquire(timeout=STOP_S):
            self._kill_child()
            self._one_task.release()

    def _kill_child(self) -> None:
        child = self._child
        if child is not None:
            child.kill()

    def _ready_child(
        self, is_canceled: Callable[[], bool], preparation: Preparation = Preparation.NONE
    ) -> ChildProcess:
        """The running child, or a new one once the old one is gone; see `_start`."""
        self._forget_gone()
        if self._child is not None:
            return self._child
        self._wait_back_off(is_canceled)
        if self._plan.pid_file and not leftover.wait_until_gone(self._plan.pid_file):
            self._is_leftover_stuck = True
            raise ChildNotStarted
        self._is_leftover_stuck = False
        child = self._start(preparation)
        self._child = child
        if self._closing.is_set():
            child.kill()
            raise ChildNotStarted
        self._await_ready(child, is_canceled)
        return child

    def _forget_gone(self) -> None:
        """Drop a child that has ended; never forget one that has not.

        Raises:
            ChildNotStarted: the old child survives every kill, as one does whose driver hangs. A
                second one beside it would make that worse.
        """
        child = self._child
        if child is None or not (child.is_condemned or child.is_gone):
            return
        if not child.kill():
            raise ChildNotStarted
        self._child = None

    def _start(self, preparation: Preparation) -> ChildProcess:
        """Start a child; one that is started ahead of its task loads its models, too."""
        self._state = ChildState.STARTING
        self._history = ChildHistory(jobs_done=0, age_s=0.0)
        self._card_before_mb = _used_mb(self._read_card())
        try:
            self._plan.temp_dir.mkdir(parents=True, exist_ok=True)
            self._settings.logs_dir.mkdir(parents=True, exist_ok=True)
            child = ChildProcess(launch_of(self._plan, self._settings))
        except OSError:
            _log.exception("the %s child could not be started", self._plan.lane)
            self._count_death()
            raise ChildNotStarted from None
        if self._plan.pid_file:
            leftover.remember(self._plan.pid_file, child.pid)
        settings = settings_in_full(self._settings)
        child.send(type="configure", settings=settings, get_ready=preparation.value)
        return child

    def _await_ready(self, child: ChildProcess, is_canceled: Callable[[], bool]) -> None:
        deadline = time.monotonic() + self._settings.child_start_timeout_s
        while True:
            message = child.receive(0.1)
            if message is not None and message["type"] == "ready":
                self._state = ChildState.READY
                return
            is_lost = message is not None and message["type"] == "gone"
            if is_lost or time.monotonic() > deadline:
                if not self._closing.is_set():
                    _log.error("the %s child did not become ready", self._plan.lane)
                child.kill()
                self._count_death()
                raise ChildNotStarted
            if is_canceled():
                child.kill()
                raise Canceled

    def _wait_back_off(self, is_canceled: Callable[[], bool]) -> None:
        """Wait longer after each death in a row, so that a broken machine is not hammered."""
        ready_at = self._died_at + back_off_s(self._deaths)
        while not self._closing.is_set() and time.monotonic() < ready_at:
            if is_canceled():
                raise Canceled
            self._closing.wait(min(0.1, max(0.0, ready_at - time.monotonic())))

    def _count_death(self) -> None:
        self._deaths += 1
        self._died_at = time.monotonic()

    def _after_loss(self, child: ChildProcess, failure: EngineError) -> None:
        """Make sure that a child that gave no answer is gone."""
        if isinstance(failure, WorkerLost) and not self._plan.expects_deaths:
            self._count_death()
        child.kill()
        if child.is_gone:
            self._child = None

    def _after_answer(self, child: ChildProcess, answer: Answer) -> TaskMemory:
        """Decide between two tasks whether the child may go on; returns the whole account."""
        card = self._read_card()
        residue = residue_mb(card, self._card_before_mb)
        memory = replace(answer.memory, vram_after_mb=_used_mb(card), residue_mb=residue)
        self._deaths = 0
        self._history = ChildHistory(
            jobs_done=self._history.jobs_done + 1,
            age_s=time.monotonic() - child.started_at,
            rss_mb=memory.rss_after_mb,
            residues_mb=self._history.residues_mb + (() if residue is None else (residue,)),
            is_broken=answer.failure is not None
            and answer.failure.code in self._plan.breaking_codes,
        )
        card_mb = card.total_mb if card is not None and card.kind == "vram" else None
        reason = recycle_reason(self._history, replace(self._limits, card_mb=card_mb))
        if reason is not None:
            _log.info("replacing the %s child: %s", self._plan.lane, reason)
            self._dismiss(child)
            memory = replace(memory, replaced=reason.value)
        if child.is_gone:
            self._child = None
        elif not child.is_condemned:
            self._state = ChildState.READY
            self._start_idle_timer(child)
        return memory

    def _dismiss(self, child: ChildProcess) -> None:
        """End a child between two tasks; nobody waits for its end where that is aside."""
        if not self._plan.ends_aside:
            child.stop(STOP_S)
            return
        child.is_condemned = True
        self._child = None
        self._ending.add(child)

        def end() -> None:
            if child.stop(STOP_S):
                self._ending.discard(child)

        threading.Thread(target=end, name="child-end", daemon=True).start()

    def _start_idle_timer(self, child: ChildProcess) -> None:
        idle_s = min(self._settings.idle_unload_s, threading.TIMEOUT_MAX)
        self._idle_timer = threading.Timer(idle_s, self._unload, [child])
        self._idle_timer.daemon = True
        self._idle_timer.start()

    def _stop_idle_timer(self) -> None:
        if self._idle_timer is not None:
            self._idle_timer.cancel()
            self._idle_timer = None

    def unload(self) -> None:
        """End an idle child now, so that others can use its memory; a busy one goes on."""
        child = self._child
        if child is not None:
            self._unload(child)

    def _unload(self, child: ChildProcess) -> None:
        """End a child that has nothing to do, so that others can use its memory."""
        if not self._one_task.acquire(blocking=False):
            return
        try:
            if self._child is child:
                _log.info("the %s child is idle and is unloaded", self._plan.lane)
                if child.stop(STOP_S):
                    self._child = None
        finally:
            self._one_task.release()


def _used_mb(card: MemoryReading | None) -> float | None:
    return card.used_mb if card is not None and card.kind == "vram" else None
