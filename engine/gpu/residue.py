"""What a child still holds of the card between two jobs, and whether the floor rises. Pure rules.

Only the end of a process gives everything back: measured on an H200, 8.3 GB stayed reserved after
deleting all tensors, 0.7 GB after emptying the caches, nothing after the process had ended.
"""

from collections.abc import Sequence

from engine.contracts import MemoryReading

CONTEXT_MB = 620.0
"""What the driver keeps for a process that uses the card (measured on an H200). It is no leak."""

RISE_MB = 300.0
RISE_WINDOW_S = 600.0
"""Memory held between jobs that rises by more than this within that time is worth a word."""

Sample = tuple[float, float]
"""Seconds on any clock, MB held then."""


def residue_mb(reading: MemoryReading | None, used_before_mb: float | None) -> float | None:
    """Memory of the card that a child holds beyond its context.

    Args:
        reading: of the card after a job was cleaned up.
        used_before_mb: of the card before the child was started.

    Returns:
        0 or more; None when there is no card or it cannot be told.
    """
    if reading is None or reading.kind != "vram":
        return None
    # In a container the driver may not know our ids; then a share of 0 says nothing.
    if reading.ours_mb:
        held_mb = reading.ours_mb
    elif reading.used_mb is not None and used_before_mb is not None:
        held_mb = reading.used_mb - used_before_mb
    else:
        return None
    return round(max(0.0, held_mb - CONTEXT_MB), 1)


def rise_mb(samples: Sequence[Sample], now: float) -> float:
    """How far the newest sample lies above the lowest one of the last ten minutes."""
    recent = [sample for sample in samples if now - sample[0] <= RISE_WINDOW_S]
    if len(recent) < 2:
        return 0.0
    newest = max(recent, key=lambda sample: sample[0])
    return newest[1] - min(mb for _, mb in recent)
