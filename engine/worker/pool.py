"""Several children of one lane side by side: each task goes to one that is free and ready."""

import logging
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from engine.contracts import Progress
from engine.errors import Canceled, EngineError, ErrorCode, WorkerLost
from engine.worker.attend import TaskLimits
from engine.worker.plan import Preparation
from engine.worker.supervisor import ChildState, Supervisor, ignore_progress, never

SPARE_FROM = 8
"""A child that will be replaced after this many more tasks gets a successor beside it: a start
takes half a second and more, on a busy computer two."""

LOOK_S = 0.02
"""How often a waiting task looks whether a child that is being started is ready."""

MAX_KNOWN_SUBJECTS = 64

_log = logging.getLogger(__name__)


class ChildPool:
    """Has tasks done by the children of some supervisors; safe from any thread.

    Tasks are begun in the order in which they came. None waits for the start of a child while
    another one lives: it takes the first that is ready, and those that are missing are started
    beside it. A child that is due (`patience` of its plan above 1) goes on until as many others
    live as may work at once.

    Attributes:
        supervisors: of the children, in the order in which they are used.

    Args:
        supervisors: see above.
        at_once: so many tasks are done at the same time; those beyond are spares: kept warm once
            `keep_spares` or `warm_up` was called, else started when a child will soon be replaced.
            None = one for each supervisor.
    """

    def __init__(self, supervisors: Sequence[Supervisor], at_once: int | None = None) -> None:
        self.supervisors = supervisors
        self._at_once = at_once or len(supervisors)
        self._keeps_spares = False
        self._free = list(supervisors)
        self._waiting: deque[object] = deque()
        self._changed = threading.Condition()
        self._last_with: OrderedDict[str, Supervisor] = OrderedDict()

    @property
    def pids(self) -> list[int]:
        """Process ids of the children that run."""
        return [one.pid for one in self.supervisors if one.pid is not None]

    def run(
        self,
        kind: str,
        payload: dict[str, Any],
        limits: TaskLimits,
        on_progress: Callable[[Progress], None] = ignore_progress,
        subject: str | None = None,
        is_canceled: Callable[[], bool] = never,
    ) -> dict[str, Any]:
        """Have one task done; a child that dies over it is given one more try.

        Args:
            kind: name of the task.
            payload: of the task.
            limits: of the task; its `total_s` also limits the wait for a child.
            on_progress: called in this thread.
            subject: what the task is about; the child that had it last still knows it.
            is_canceled: asked again and again, while the task waits for a child too.

        Raises:
            Canceled: `is_canceled` said so.
            EngineError: TIMED_OUT, WORKER_LOST, or what the task raised.
        """
        with self._child(limits.total_s, subject, is_canceled) as supervisor:
            try:
                try:
                    return supervisor.run(kind, payload, limits, on_progress, is_canceled).values
                except WorkerLost:
                    _log.warning("a child died over %s; trying once more", kind)
                return supervisor.run(kind, payload, limits, on_progress, is_canceled).values
            finally:
                self._prepare_next(supervisor)

    def wake(self) -> None:
        """Begin to start a child when none lives."""
        if not self.pids:
            self.supervisors[0].warm_up()

    def keep_spares(self) -> None:
        """From the first task on begin to start every child that does not run."""
        self._keeps_spares = True

    def warm_up(self) -> None:
        """Begin to start every child that does not run, and keep spares from now on."""
        self.keep_spares()
        self._start(self.supervisors)

    def close(self) -> None:
        """End the children; a task that runs is lost."""
        for one in self.supervisors:
            one.close()

    def _prepare_next(self, used: Supervisor) -> None:
        """Begin to start the child that the next task needs, so that nobody waits for it."""
        self._start([used])
        if used.tasks_left <= SPARE_FROM or self._keeps_spares:
            self._start(self.supervisors)
        with self._changed:
            if used.is_due and self._has_enough_beside(used):
                used.retire(self._preparation)

    def _start(self, supervisors: Sequence[Supervisor]) -> None:
        """Begin to start those that do not run; spares load all that they may ever need."""
        for one in supervisors:
            one.warm_up(self._preparation)

    @property
    def _preparation(self) -> Preparation:
        return Preparation.ALL if self._keeps_spares else Preparation.USUAL

    def _has_enough_beside(self, used: Supervisor) -> bool:
        """Whether nobody would wait for a start if this child went now.

        Without spares a rush goes first: the others would have to do it alone.
        """
        if self._waiting and len(self.supervisors) <= self._at_once:
            return False
        living = (ChildState.READY, ChildState.BUSY)
        others = sum(one.state in living for one in self.supervisors if one is not used)
        return others >= min(self._at_once, len(self.supervisors) - 1)

    @contextmanager
    def _child(
        self, timeout_s: float | None, subject: str | None, is_canceled: Callable[[], bool]
    ) -> Iterator[Supervisor]:
        chosen = self._take(timeout_s, subject, is_canceled)
        try:
            yield chosen
        finally:
            with self._changed:
                self._free.append(chosen)
                self._free.sort(key=self.supervisors.index)
                self._changed.notify_all()

    def _take(
        self, timeout_s: float | None, subject: str | None, is_canceled: Callable[[], bool]
    ) -> Supervisor:
        """Wait for a child.

        Raises:
            Canceled: `is_canceled` said so.
            EngineError: TIMED_OUT.
        """
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        has_asked = False
        turn = object()
        with self._in_line(turn):
            while (chosen := self._best(turn, subject)) is None:
                if deadline is not None and time.monotonic() > deadline:
                    raise EngineError(ErrorCode.TIMED_OUT)
                if is_canceled():
                    raise Canceled
                if not has_asked and ChildState.STARTING not in self._states():
                    has_asked = True
                    self._start(self.supervisors[: None if self._keeps_spares else self._at_once])
                self._changed.wait(LOOK_S if self._free else 1.0)
            self._free.remove(chosen)
            if subject is not None:
                self._last_with[subject] = chosen
                self._last_with.move_to_end(subject)
                while len(self._last_with) > MAX_KNOWN_SUBJECTS:
                    self._last_with.popitem(last=False)
            return chosen

    @contextmanager
    def _in_line(self, turn: object) -> Iterator[None]:
        """Wait behind all that came before, with the lock in hand.

        Whoever asks again and again would otherwise overtake those that a freed child wakes up.
        """
        with self._changed:
            self._waiting.append(turn)
            try:
                yield
            finally:
                self._waiting.remove(turn)
                self._changed.notify_all()

    def _best(self, turn: object, subject: str | None) -> Supervisor | None:
        """The child to take now, None while others are first or a better one will be ready soon."""
        if self._waiting[0] is not turn:
            return None
        if len(self.supervisors) - len(self._free) >= self._at_once:
            return None
        ready = [one for one in self._free if one.state is ChildState.READY]
        if ready:
            known = self._last_with.get(subject) if subject is not None else None
            return known if known in ready else ready[0]
        if self._free and self._states() == {ChildState.DEAD}:
            return self._free[0]
        return None

    def _states(self) -> set[ChildState]:
        return {one.state for one in self.supervisors}
