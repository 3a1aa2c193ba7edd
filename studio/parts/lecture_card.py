"""The lectures of one person below the form: in the making, and the finished one with its parts."""

import html

from engine.contracts import JobRecord
from studio.locales import say
from studio.parts.job_card import job_panel_html
from studio.presenter import present

MINUTE_S = 60


def lecture_panel_html(record: JobRecord, live: str, starts_in_s: float | None) -> str:
    """One lecture, with its table of contents once it is there.

    Args:
        record: the job.
        live: base64 of a JPEG, a picture of what is being made; empty without one.
        starts_in_s: how long it waits, where that is known.
    """
    return job_panel_html(present(record, starts_in_s=starts_in_s), live, contents_html(record))


def contents_html(record: JobRecord) -> str:
    """When each slide comes, as a list; nothing before the lecture is there."""
    sections = record.report.get("sections") or ()
    if not sections:
        return ""
    rows = "".join(
        f'<li dir="auto"><span>{_clock(float(section["start_s"]))}</span> '
        f"{html.escape(str(section['heading']))}</li>"
        for section in sections
    )
    title = html.escape(say("lecture.contents"))
    return (
        f"<details open><summary>{title}</summary>"
        f'<ul class="lecture-contents">{rows}</ul></details>'
    )


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds + 1e-6), MINUTE_S)
    return f"{minutes}:{rest:02}"
