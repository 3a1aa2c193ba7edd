"""When the slides come: a text with one time a line. Pure."""

import math
import re
from dataclasses import dataclass

from engine.errors import ErrorCode, InputError

MIN_SLIDE_S = 0.2
"""A slide is shown for this long at least; five frames."""

_TIME = re.compile(
    r"(?:(?:(?P<hours>\d{1,2}):)?(?P<minutes>\d{1,3}):)?(?P<seconds>\d{1,5}(?:[.,]\d{1,6})?)"
    r"(?:[ \t]+(?P<heading>\S.*))?"
)


@dataclass(frozen=True)
class SlideTime:
    """When one slide comes.

    Attributes:
        start_s: from the start of the recording.
        heading: what stood behind the time, may be empty.
    """

    start_s: float
    heading: str = ""


def parse_times(text: str) -> tuple[SlideTime, ...]:
    """Read times such as `83.5`, `1:23.5` or `0:01:23.5`, each with or without a heading.

    Empty lines and lines that begin with `#` are skipped.

    Raises:
        InputError: TIMES_UNREADABLE with the line, or TIMES_NOT_RISING.
    """
    times: list[SlideTime] = []
    for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), start=1):
        stripped = line.strip()
        if not stripped or stripped.startswith("#"):
            continue
        found = _TIME.fullmatch(stripped)
        if found is None or _is_odd(found):
            raise InputError(ErrorCode.TIMES_UNREADABLE, line=number)
        seconds = float(found["seconds"].replace(",", "."))
        start_s = int(found["hours"] or 0) * 3600 + int(found["minutes"] or 0) * 60 + seconds
        if times and start_s < times[-1].start_s + MIN_SLIDE_S:
            raise InputError(ErrorCode.TIMES_NOT_RISING, line=number)
        times.append(SlideTime(start_s, found["heading"] or ""))
    return tuple(times)


def _is_odd(found: "re.Match[str]") -> bool:
    """Whether there are more than 59 seconds beside minutes, or minutes beside hours."""
    seconds = float(found["seconds"].replace(",", "."))
    is_long = found["minutes"] is not None and seconds >= 60
    return is_long or (found["hours"] is not None and int(found["minutes"]) >= 60)


def spread_times(
    times: tuple[SlideTime, ...], num_slides: int, duration_s: float
) -> tuple[SlideTime, ...]:
    """One time for each slide; the first slide comes at the start.

    Args:
        times: of every slide, or of every slide but the first.
        num_slides: of the deck.
        duration_s: of the recording.

    Raises:
        InputError: TIMES_COUNT, or TIMES_TOO_LATE.
    """
    if len(times) == num_slides - 1 and (not times or times[0].start_s >= MIN_SLIDE_S):
        times = (SlideTime(0.0), *times)
    if len(times) != num_slides:
        raise InputError(ErrorCode.TIMES_COUNT, times=len(times), slides=num_slides)
    if times[-1].start_s > duration_s - MIN_SLIDE_S:
        raise InputError(
            ErrorCode.TIMES_TOO_LATE,
            time=_clock(times[-1].start_s),
            duration=_clock(duration_s),
        )
    return (SlideTime(0.0, times[0].heading), *times[1:])


def _clock(seconds: float) -> str:
    minutes, rest = divmod(math.floor(seconds), 60)
    return f"{minutes}:{rest:02}"
