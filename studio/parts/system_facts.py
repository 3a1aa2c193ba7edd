"""Queue, worker, speed and the check of the machine, in words."""

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from engine.contracts import DiskReading
from studio.locales import decimal, say
from studio.locales.en import TEXT
from studio.presenter import duration_words

Rates = Sequence[tuple[str, int, float]]


@dataclass(frozen=True)
class Facts:
    """What the short lists beside the memory tell.

    Attributes:
        running: how many videos are being made, of all visitors.
        waiting: how many are queued.
        worker: state of the process that makes them.
        is_dispatching: whether this program makes them.
        rates: animator, short side in pixels, seconds of work for one second of video.
        measured_from_s: how long a video has to be to tell a rate.
        disk: the disk the videos lie on.
    """

    running: int
    waiting: int
    worker: str
    is_dispatching: bool
    rates: Rates
    measured_from_s: float
    disk: DiskReading


def facts_html(facts: Facts) -> str:
    """The short lists beside the memory."""
    counts = say("system.queue_counts", running=facts.running, waiting=facts.waiting)
    queue = counts if facts.running or facts.waiting else say("system.queue_empty")
    is_here = facts.is_dispatching
    state = say(f"system.worker_{facts.worker}") if is_here else say("system.elsewhere")
    speeds = [
        say("system.speed_row", animator=name, size=size, time=duration_words(seconds, exact=True))
        for name, size, seconds in facts.rates
    ]
    disk = facts.disk
    room = [
        say("system.disk_free", free=decimal(disk.free_gb), total=decimal(disk.total_gb)),
        say("system.disk_ours", ours=decimal(disk.ours_gb), limit=decimal(disk.limit_gb)),
        *([say("system.disk_low")] if disk.is_low else []),
    ]
    none = say("system.speed_none", seconds=f"{facts.measured_from_s:g}")
    sections = [
        _fact_html("system.queue", [queue]),
        _fact_html("system.worker", [state]),
        _fact_html("system.disk", room),
        _fact_html("system.speed", speeds or [none]),
    ]
    return f'<div class="facts">{"".join(sections)}</div>'


def check_html(report: Mapping[str, Any]) -> str:
    """The rows of the machine's check; their details are the engine's own, in English.

    What is absent and not needed is folded away.
    """
    absent = [row for row in report["checks"] if not row["ok"] and not row["needed"]]
    rows = "".join(_row_html(row) for row in report["checks"] if row not in absent)
    shown = f'<ul class="checks">{rows}</ul>'
    if not absent:
        return shown
    folded = "".join(_row_html(row) for row in absent)
    title = html.escape(say("system.check_absent", count=len(absent)))
    return (
        f'{shown}<details class="used"><summary>{title}</summary>'
        f'<ul class="checks">{folded}</ul></details>'
    )


def _fact_html(title: str, lines: Sequence[str]) -> str:
    text = "".join(f"<p>{html.escape(line)}</p>" for line in lines)
    return f"<section><h2>{html.escape(say(title))}</h2>{text}</section>"


def _row_html(row: Mapping[str, Any]) -> str:
    key = "check_row." + str(row["name"]).lower().replace(" ", "_")
    name = say(key) if key in TEXT else str(row["name"])
    state = "ok" if row["ok"] else "bad" if row["needed"] else "optional"
    return (
        f'<li class="{state}"><b>{html.escape(name)}</b>'
        f'<span class="pill">{html.escape(say(f"system.check_{state}"))}</span>'
        f'<span lang="en" dir="ltr">{html.escape(str(row["detail"]))}</span></li>'
    )
