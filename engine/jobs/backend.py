"""The seam between the queue and whatever carries a job to a worker."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from engine.errors import ErrorCode
from engine.worker.supervisor import ChildState


@dataclass(frozen=True)
class BackendHealth:
    """How a backend is doing.

    Attributes:
        is_dispatching: this engine runs the jobs; False while another one on the same data
            folder does.
        worker: what the render child is doing, the busiest where there are several; `dead` is
            normal when there is no work.
        job_id: the job that runs, the first where several do; None when none does.
        pause: why no job is begun although some may wait; None when all is well. Its sentence
            is the banner; `values` are the numbers in it.
        job_ids: every job that runs.
        num_workers: jobs that can run at once; of a broker, the workers heard of lately.
    """

    is_dispatching: bool
    worker: ChildState
    job_id: str | None
    pause: ErrorCode | None = None
    values: Mapping[str, object] = field(default_factory=dict)
    job_ids: tuple[str, ...] = ()
    num_workers: int = 1


class JobBackend(Protocol):
    """Carries queued jobs of the store to a worker and their outcome back.

    The store is the record of truth: a backend reads jobs from it and writes progress and
    outcomes into it. `submitted` and `canceled` only say that there is something to look at.
    """

    def start(self) -> None:
        """Begin to carry jobs; calling it again does nothing."""
        ...

    def expect(self) -> None:
        """A job will probably come soon: whatever renders here gets ready; returns at once."""
        ...

    def submitted(self, job_id: str) -> None:
        """A job was queued in the store."""
        ...

    def canceled(self, job_id: str) -> None:
        """A running job was asked to stop in the store."""
        ...

    def health(self) -> BackendHealth:
        """How it is doing; never waits."""
        ...

    def resume(self) -> None:
        """Go on at once after a pause; it begins anew when the reason is still there."""
        ...

    def finish(self, timeout_s: float) -> bool:
        """Begin no more jobs and wait for those that run here, unless one cannot end in time.

        Returns:
            Whether nothing runs here any more.
        """
        ...

    def link(self, job_id: str, name: str) -> str | None:
        """An address at which a browser fetches a finished file itself; None when there is none."""
        ...

    def close(self) -> None:
        """Stop; a job that runs here is put back into the queue."""
        ...


def busiest(states: list[ChildState]) -> ChildState:
    """What to say of several children in one word."""
    order = (ChildState.BUSY, ChildState.STARTING, ChildState.READY)
    return next((state for state in order if state in states), ChildState.DEAD)
