"""How long a waiting job waits, from what runs and what is ahead. Pure rules."""

import itertools
from collections.abc import Iterable, Sequence

from engine.jobs.fairness import MINUTE_S, Wait
from engine.jobs.limits import Rates, expected_s, unmeasured_s
from engine.jobs.rows import StoredJob

LOOKED_AT = 100
"""Jobs at the head of the queue whose time is added up one by one; further back it is a guess."""


def start_s(queue: Sequence[StoredJob], running: StoredJob | None, rates: Rates) -> list[float]:
    """Seconds until each job of the queue starts, in its order.

    Args:
        queue: waiting jobs, the next one first.
        running: the job that is being made.
        rates: measured here.
    """
    starts, at_s = [], left_s(running, rates)
    for job in queue:
        starts.append(at_s)
        at_s += job_s(job, rates)
    return starts


def start_of_place_s(
    place: int, queue: Sequence[StoredJob], running: StoredJob | None, rates: Rates
) -> float:
    """Seconds until the job at a place of the queue starts; arguments as of `starts_of_places_s`.

    Args:
        place: 1 = next.
        queue: the first jobs of the queue.
        running: the job that is being made.
        rates: measured here.
    """
    return starts_of_places_s([place], queue, running, rates)[place]


def starts_of_places_s(
    places: Iterable[int], queue: Sequence[StoredJob], running: StoredJob | None, rates: Rates
) -> dict[int, float]:
    """Seconds until the jobs at some places of the queue start.

    Args:
        places: 1 = next.
        queue: the first jobs of the queue; those behind count as long as these on average.
        running: the job that is being made.
        rates: measured here.
    """
    now_s = left_s(running, rates)
    ends = list(itertools.accumulate((job_s(job, rates) for job in queue), initial=0.0))
    average_s = ends[-1] / len(queue) if queue else 0.0
    starts = {}
    for place in places:
        known = min(place - 1, len(queue))
        starts[place] = now_s + ends[known] + (place - 1 - known) * average_s
    return starts


def free_place(
    queue: Sequence[StoredJob], running: StoredJob | None, rates: Rates, owner: str
) -> Wait:
    """When the next place in the queue is free: of anybody's, and of one owner's.

    The first jobs of the queue suffice: owners take turns, so everybody has one among them.
    """
    starts = start_s(queue, running, rates)
    own = [start for start, job in zip(starts, queue, strict=True) if job.record.owner == owner]
    return Wait(any_s=starts[0] if starts else MINUTE_S, own_s=own[0] if own else MINUTE_S)


def job_s(job: StoredJob, rates: Rates) -> float:
    """How long a job takes, guessed where nothing like it was measured here."""
    spec = job.record.spec
    return expected_s(spec, job.duration_s, rates) or unmeasured_s(spec, job.duration_s)


def left_s(running: StoredJob | None, rates: Rates) -> float:
    """How much longer the running job takes."""
    if running is None:
        return 0.0
    progress = running.record.progress
    if progress is not None and progress.seconds_left is not None:
        return progress.seconds_left
    return job_s(running, rates)
