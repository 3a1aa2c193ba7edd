"""The table of contents of a lecture as text: when each slide comes, and what it is about. Pure."""

from collections.abc import Sequence
from fractions import Fraction

HOUR_S = 3600


def contents_text(title: str, chapters: Sequence[tuple[int, int, str]], fps: Fraction) -> str:
    """One line for each slide; video sites read such lines as chapters.

    Args:
        title: of the lecture, may be empty.
        chapters: start and end in frames, and heading.
        fps: frames a second.
    """
    end_s = float(chapters[-1][1] / fps) if chapters else 0.0
    lines = [f"{clock(float(start / fps), end_s)} {heading}" for start, _, heading in chapters]
    return "\n".join([*([title, ""] if title else []), *lines, ""])


def clock(at_s: float, longest_s: float) -> str:
    """`M:SS`, or `H:MM:SS` where the longest one has hours; rounded down."""
    minutes, seconds = divmod(int(at_s + 1e-6), 60)
    if longest_s < HOUR_S:
        return f"{minutes}:{seconds:02}"
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}"
