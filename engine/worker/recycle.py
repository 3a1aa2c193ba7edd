"""When a child process is replaced, and how long to wait after one died. Pure rules."""

from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

BACK_OFF_S = (0.0, 1.0, 2.0, 5.0, 15.0, 60.0)
"""Wait before the next start after the first, second, ... death in a row."""

MAX_AGE_S = 6 * 3600.0
"""A child this old is replaced: slow leaks in drivers and libraries have names we do not know."""

MIN_RESIDUE_MB = 512.0
"""A CUDA context with its workspaces keeps about this much (measured: 718 MB with context)."""

RESIDUE_SHARE = 0.03
"""Residue allowed on large cards, as a share of the card."""

GROWTH_MB = 64.0
GROWTH_JOBS = 3
"""Residue that grows by more than this in that many jobs in a row is a leak."""

MAX_RSS_SHARE = 0.8
"""Share of the computer's memory one child may keep between jobs."""


class RecycleReason(StrEnum):
    """Why a child was replaced; written to the log."""

    JOBS = "jobs_done"
    AGE = "age"
    RESIDUE = "residue"
    GROWTH = "residue_grows"
    MEMORY = "host_memory"
    BROKEN = "device_error"


@dataclass(frozen=True)
class ChildHistory:
    """What is known of a child between two jobs.

    Attributes:
        jobs_done: how many it has finished, well or not.
        age_s: since it was started.
        rss_mb: resident memory after the last job.
        residues_mb: memory of the card still held after each job, oldest first; empty when
            there is no card or it cannot be told.
        is_broken: its last job ended with an error of memory or of the device.
    """

    jobs_done: int
    age_s: float
    rss_mb: float = 0.0
    residues_mb: tuple[float, ...] = ()
    is_broken: bool = False


@dataclass(frozen=True)
class RecycleLimits:
    """Limits of one lane on this machine.

    Attributes:
        jobs: replace after this many.
        host_mb: memory of the computer.
        card_mb: memory of the card, None when there is none.
        kept_mb: resident memory allowed between two jobs; None = a share of `host_mb`.
        patience: so many times the usual jobs and age a child may reach before it is replaced
            without a word; its owner replaces it earlier, as soon as another child is ready.
    """

    jobs: int
    host_mb: float
    card_mb: float | None = None
    kept_mb: float | None = None
    patience: int = 1


def recycle_reason(history: ChildHistory, limits: RecycleLimits) -> RecycleReason | None:
    """Why this child must not take another job; None when it may."""
    checks = {
        RecycleReason.BROKEN: history.is_broken,
        RecycleReason.JOBS: history.jobs_done >= limits.patience * limits.jobs,
        RecycleReason.AGE: history.age_s > limits.patience * MAX_AGE_S,
        RecycleReason.MEMORY: history.rss_mb > (limits.kept_mb or MAX_RSS_SHARE * limits.host_mb),
        RecycleReason.RESIDUE: _is_over(history.residues_mb, limits.card_mb),
        RecycleReason.GROWTH: _is_growing(history.residues_mb),
    }
    return next((reason for reason, is_met in checks.items() if is_met), None)


def back_off_s(deaths: int) -> float:
    """Seconds to wait before the next start after `deaths` deaths in a row."""
    if deaths <= 0:
        return 0.0
    return BACK_OFF_S[min(deaths, len(BACK_OFF_S)) - 1]


def _is_over(residues_mb: tuple[float, ...], card_mb: float | None) -> bool:
    if not residues_mb:
        return False
    return residues_mb[-1] > max(MIN_RESIDUE_MB, RESIDUE_SHARE * (card_mb or 0.0))


def _is_growing(residues_mb: tuple[float, ...]) -> bool:
    last = residues_mb[-(GROWTH_JOBS + 1) :]
    if len(last) <= GROWTH_JOBS:
        return False
    return all(later - earlier > GROWTH_MB for earlier, later in pairwise(last))
