"""How long a job is expected and allowed to take. Pure rules over measured rates.

A rate is seconds of work per second of video at 25 frames a second, beyond the fixed time every
job takes.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from engine.contracts import JobSpec
from engine.settings import EngineSettings
from engine.worker.attend import TaskLimits

Rates = Mapping[tuple[str, int], float]
"""Measured rates by animator and size in pixels."""

PACE = "pace"
"""How the name of a stage's pace begins where it is told beside rates."""

BASE_FPS = 25
CHARACTERS_PER_SECOND = 16.0
"""Characters of text a voice speaks in a second at speed 1."""

UNMEASURED_RATE = 2.0
"""At 512 px, before this machine was measured; only limits use it, so it is a slow laptop's."""

UNMEASURED_SIZE_PX = 512
FIXED_S = 2.0
"""What every job takes however short it is: models are loaded, the face is prepared."""

MIN_MEASURED_S = 5.0
"""A shorter video tells more about the fixed time than about the rate."""

UNMEASURED_SONIC_RATE = 12_000.0
"""The same for Sonic on a processor alone (0.1 trillion operations a second): a card is hundreds
of times faster, but nothing tells here whether there is one."""

LECTURE_NAME = "lecture"
"""Lectures have a rate of their own: most of their picture stands still."""

SLOWEST_CALL_S = 3600.0
"""Sonic tells its progress after each call of its network, at 512 px on a slow processor."""

HALF_TRUSTED_S = 30.0
"""Length of the video whose rate counts as much as all before it; longer ones count more."""

HALF_TRUSTED_STAGE_S = 3.0
"""The same for the cost of one stage."""

TOTAL_FACTOR = 10.0
"""A job may take this many times its estimate."""

STALL_FACTOR = 2.0
"""A single step that tells nothing may take this many times the estimate of the whole job."""


def rate_for(rates: Rates, animator: str, size_px: int) -> float | None:
    """The measured rate of an animator at a size, scaled by pixels from the nearest size.

    Returns:
        None when this animator was never measured here.
    """
    sizes = [size for name, size in rates if name == animator]
    if not sizes:
        return None
    nearest = min(sizes, key=lambda size: abs(size - size_px))
    return rates[animator, nearest] * (size_px / nearest) ** 2


def spoken_duration_s(spec: JobSpec) -> float | None:
    """About how long the text of a job takes to speak; None when it has none."""
    if spec.speech is None:
        return None
    return len(spec.speech.text) / CHARACTERS_PER_SECOND / spec.speech.speed


def expected_s(spec: JobSpec, duration_s: float | None, rates: Rates) -> float | None:
    """How long a job will take on this machine, None when nothing like it was measured.

    Args:
        spec: what to make.
        duration_s: of the recording, None for a text.
        rates: measured here.
    """
    options = spec.options
    if spec.lecture is not None:
        found = [rate_for(rates, LECTURE_NAME, spec.lecture.options.size_px)]
    else:
        names = {name for name, _ in rates} - {LECTURE_NAME}
        chosen = names if options.animator == "auto" else {options.animator}
        found = [rate_for(rates, name, options.output_size_px) for name in chosen]
    known = [rate for rate in found if rate is not None]
    duration_s = duration_s or spoken_duration_s(spec)
    if not known or duration_s is None:
        return None
    return FIXED_S + max(known) * duration_s * options.fps / BASE_FPS


@dataclass(frozen=True)
class MeasuredRate:
    """What one finished job teaches: its rate, and its share in the kept rate (0-1)."""

    rate: float
    weight: float


def measure_rate(elapsed_s: float, duration_s: float, fps: int) -> MeasuredRate | None:
    """The rate of a finished job, None when the video was too short to tell.

    Args:
        elapsed_s: seconds the job took.
        duration_s: seconds of video it made.
        fps: frames a second of the video.
    """
    if duration_s < MIN_MEASURED_S:
        return None
    work_s = max(0.0, elapsed_s - FIXED_S)
    weight = duration_s / (duration_s + HALF_TRUSTED_S)
    return MeasuredRate(work_s / duration_s * BASE_FPS / fps, weight)


def measure_paces(report: Mapping[str, Any]) -> dict[str, MeasuredRate]:
    """How many times longer than in the table of costs each stage of a finished video took.

    Args:
        report: of the video; only those that were foreseen by stage teach anything.
    """
    foreseen: Mapping[str, float] = report.get("stage_costs", {})
    return {
        stage: MeasuredRate(
            report["stages"][stage] / cost_s, cost_s / (cost_s + HALF_TRUSTED_STAGE_S)
        )
        for stage, cost_s in foreseen.items()
        if cost_s > 0 and report["stages"].get(stage, 0.0) > 0
    }


def job_limits(
    spec: JobSpec, duration_s: float | None, rates: Rates, settings: EngineSettings
) -> TaskLimits:
    """When a job counts as hung: far over its estimate, or without progress for long."""
    estimate_s = expected_s(spec, duration_s, rates) or unmeasured_s(spec, duration_s)
    size_factor = _size_factor(spec)
    length_s = duration_s or spoken_duration_s(spec) or 0.0
    total_s = max(settings.job_timeout_min_s, TOTAL_FACTOR * estimate_s)
    stall_s = max(settings.stall_timeout_s, STALL_FACTOR * estimate_s)
    if _may_be_unmeasured_sonic(spec, rates, settings):
        total_s = max(total_s, UNMEASURED_SONIC_RATE * size_factor * length_s)
        stall_s = max(stall_s, SLOWEST_CALL_S * size_factor)
    return TaskLimits(total_s=total_s, stall_s=stall_s)


def unmeasured_s(spec: JobSpec, duration_s: float | None) -> float:
    """How long a job takes on a slow laptop, where nothing like it was measured."""
    length_s = duration_s or spoken_duration_s(spec) or 0.0
    return UNMEASURED_RATE * _size_factor(spec) * length_s * spec.options.fps / BASE_FPS


def _size_factor(spec: JobSpec) -> float:
    return (spec.options.output_size_px / UNMEASURED_SIZE_PX) ** 2


def _may_be_unmeasured_sonic(spec: JobSpec, rates: Rates, settings: EngineSettings) -> bool:
    """Whether Sonic, which was never measured here, may draw the video."""
    choice = spec.options.animator
    if choice == "lite" or any(name == "sonic" for name, _ in rates):
        return False
    return choice == "sonic" or settings.sonic_dir.is_dir()
