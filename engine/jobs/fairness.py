"""Who may submit how much, and which jobs go first. Pure rules.

The order of the queue itself is the view `queue` in `engine.jobs.statements`.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from engine.contracts import JobSpec
from engine.errors import EngineError, ErrorCode
from engine.settings import EngineSettings

LOCAL_OWNER = "local"
"""The command line; whoever can start it owns the machine, unless strangers can reach it too."""

MINUTE_S = 60.0
DAY_S = 24 * 3600.0

ADDRESS_FACTOR = 5
"""Schools and offices share an address, so it may do this many times what a person may."""

PREVIEW_S = 6.0
PREVIEW_SIDE_PX = 512
"""A video this short and small is a look at what will come; it goes first in its round."""


@dataclass(frozen=True)
class Usage:
    """What is in the queue, and what one person did lately.

    Attributes:
        waiting_in_all: jobs of everybody.
        waiting: jobs of this person.
        submitted_at: when this person submitted in the last 24 hours, oldest first, in seconds.
        submitted_nearby_at: the same for everybody who shares the person's address.
    """

    waiting_in_all: int
    waiting: int
    submitted_at: tuple[float, ...] = ()
    submitted_nearby_at: tuple[float, ...] = ()


@dataclass(frozen=True)
class Wait:
    """How long until a place in the queue is free.

    Attributes:
        any_s: of anybody's.
        own_s: of the person's own.
    """

    any_s: float = MINUTE_S
    own_s: float = MINUTE_S


def refusal(
    owner: str,
    usage: Usage,
    wait: Callable[[], Wait],
    settings: EngineSettings,
    now: float,
    count: int = 1,
) -> EngineError | None:
    """Why a person may not submit `count` jobs at once now; None when they may."""
    if usage.waiting_in_all + count > settings.max_queued_jobs:
        count = usage.waiting_in_all
        return EngineError(ErrorCode.QUEUE_FULL, count=count, minutes=minutes(wait().any_s))
    if owner == LOCAL_OWNER and not settings.is_public:
        return None
    if usage.waiting >= settings.max_waiting_per_owner:
        return EngineError(
            ErrorCode.TOO_MANY_WAITING, count=usage.waiting, minutes=minutes(wait().own_s)
        )
    return _too_often(usage.submitted_at, (1, count), settings, now) or _too_often(
        usage.submitted_nearby_at, (ADDRESS_FACTOR, count), settings, now
    )


def minutes(seconds: float) -> int:
    """Whole minutes to tell a person, at least one."""
    return max(1, math.ceil(seconds / MINUTE_S))


def priority_of(spec: JobSpec, duration_s: float | None) -> int:
    """1 for what is as small as a preview, else 0."""
    is_short = duration_s is not None and duration_s <= PREVIEW_S
    return int(is_short and spec.options.output_size_px <= PREVIEW_SIDE_PX)


def _too_often(
    times: Sequence[float], size: tuple[int, int], settings: EngineSettings, now: float
) -> EngineError | None:
    """Look at the last minute and day; `size` is what the limits grow by, and the new jobs."""
    factor, count = size
    # The jobs of a batch have the same time: they were one act.
    last_minute = sorted({at for at in times if now - at < MINUTE_S})
    limit = factor * settings.max_submits_per_minute
    if len(last_minute) >= limit:
        free_in_s = MINUTE_S - (now - last_minute[-limit])
        seconds = max(1, math.ceil(free_in_s))
        return EngineError(ErrorCode.SUBMITTED_TOO_FAST, limit=limit, seconds=seconds)
    if settings.max_jobs_per_day is None:
        return None
    limit = factor * settings.max_jobs_per_day
    last_day = [at for at in times if now - at < DAY_S]
    too_many = len(last_day) + count - limit
    if too_many > 0:
        last_to_go = last_day[too_many - 1] if too_many <= len(last_day) else now
        free_in_s = DAY_S - (now - last_to_go)
        return EngineError(
            ErrorCode.DAILY_LIMIT, limit=limit, hours=max(1, math.ceil(free_in_s / 3600.0))
        )
    return None
