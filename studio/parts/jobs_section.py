"""The video in the making and the recent ones, kept fresh by a timer; the page is only a viewer."""

import base64
import contextlib
import html
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gradio as gr

from engine.contracts import JobStatus, MemoryReading
from engine.errors import EngineError
from studio.context import Studio
from studio.failures import guarded
from studio.language import in_visitors_language
from studio.locales import explain, say
from studio.parts.action_html import action_data, create_action_html
from studio.parts.banner import banner_html
from studio.parts.job_card import job_panel_html, missing_job_html, recent_html
from studio.parts.quiet import QUIET
from studio.parts.vram_gauge import gauge_html
from studio.presenter import JobView, message_of, present
from studio.session import wanted_job

_log = logging.getLogger(__name__)

NUM_RECENT = 12

# A live job moves fast enough to watch; an idle page only keeps its gauge and list fresh.
LIVE_TICK_S = 1.0
IDLE_TICK_S = 4.0

# Keeps the address in step with the video shown, so that a reload or a copied link finds it.
_SHOW_LINK = """(job) => {
  const address = new URL(window.location);
  if (job) address.searchParams.set('job', job); else address.searchParams.delete('job');
  window.history.replaceState(null, '', address);
}"""


@dataclass(frozen=True)
class Head:
    """The parts of the page's head that change by themselves."""

    gauge: gr.HTML
    banner: gr.HTML


@dataclass(frozen=True)
class JobsSection:
    """What the form needs to show a job it has just submitted."""

    shown_job: gr.Textbox
    refresh: Callable[..., tuple[Any, ...]]
    outputs: list[Any]


def create_jobs_section(studio: Studio, head: Head) -> JobsSection:
    """Build both lists and everything that keeps them fresh.

    Args:
        studio: the engine and who is asking.
        head: the memory gauge and the banner, refreshed by the same timer.
    """
    panel = create_action_html("job-panel")
    recent = create_action_html("recent")
    shown_job = gr.Textbox(visible="hidden", elem_id="shown-job")
    window_title = gr.Textbox(visible="hidden", elem_id="window-title")
    live_jobs = gr.Textbox("", visible=False)
    timer = gr.Timer(IDLE_TICK_S)
    outputs = [shown_job, panel, recent, head.gauge, head.banner, window_title, live_jobs, timer]

    @in_visitors_language
    def refresh(shown: str | None, request: gr.Request) -> tuple[Any, ...]:
        """Everything that changes by itself. A failure leaves the page as it is."""
        try:
            may_manage = studio.may_manage(request)
            owner = studio.visitors.owner_of(request)
            return _picture(studio, shown or "", owner, may_manage=may_manage)
        except Exception:  # noqa: BLE001 - a toast every second would help nobody
            _log.exception("the page could not be refreshed")
            return tuple(gr.skip() for _ in outputs)

    @in_visitors_language
    def tick(shown: str | None, were_live: str | None, request: gr.Request) -> tuple[Any, ...]:
        """As `refresh`, but a late answer never brings back a video that was left meanwhile.

        What was live at the last look and has ended is told, wherever on the page one is.
        """
        now_shown, *rest = refresh(shown, request)
        _tell_ended(studio, (were_live or "").split(), studio.visitors.owner_of(request))
        return gr.skip() if now_shown == (shown or "") else now_shown, *rest

    def arrive(request: gr.Request) -> tuple[Any, ...]:
        studio.engine.warm_up()  # a photo will be looked at soon
        return refresh(wanted_job(request), request)

    @guarded
    def act(event: gr.EventData, shown: str | None, request: gr.Request) -> tuple[Any, ...]:
        """Do what a button of a card says, for the owner of the job only."""
        owner = studio.visitors.owner_of(request)
        data = action_data(event)
        action = data.get("action", "")
        if action == "resume" and studio.may_manage(request):
            studio.engine.resume()
        shown = _act(studio, action, data.get("job", ""), shown or "", owner)
        return _picture(studio, shown, owner, may_manage=studio.may_manage(request))

    timer.tick(tick, [shown_job, live_jobs], outputs, trigger_mode="once", **QUIET)
    for source in (panel, recent, head.banner):
        source.action(act, shown_job, outputs, **QUIET)
    shown_job.change(None, shown_job, None, js=_SHOW_LINK)
    window_title.change(None, window_title, None, js="(title) => { document.title = title; }")
    gr.on(None, arrive, None, outputs, **QUIET)  # without triggers: when the page is loaded
    return JobsSection(shown_job, refresh, outputs)


def _act(studio: Studio, action: str, job_id: str, shown: str, owner: str) -> str:
    """Perform one action.

    Returns:
        The job to show afterwards, empty for none.
    """
    engine = studio.engine
    match action:
        case "open":
            return job_id
        case "cancel":
            engine.cancel(job_id, owner)
        case "retry":
            return engine.retry(job_id, owner).job_id
        case "delete":
            engine.delete(job_id, owner)
            return "" if shown == job_id else shown
        case "another":
            return ""
    return shown


def _tell_ended(studio: Studio, were_live: list[str], owner: str) -> None:
    """Show a note for each of these jobs that has ended by itself."""
    for job_id in were_live:
        with contextlib.suppress(EngineError):  # deleted meanwhile
            view = present(studio.engine.get(job_id, owner))
            text = html.escape(f"{view.label} {view.title}")
            if view.status is JobStatus.SUCCEEDED:
                gr.Success(text, title=view.label)
            elif view.status is JobStatus.FAILED:
                gr.Warning(text, title=view.label)


def _picture(studio: Studio, shown: str, owner: str, *, may_manage: bool) -> tuple[Any, ...]:
    """The values of all outputs, in their order."""
    records = studio.engine.list_for(owner, NUM_RECENT)
    live = [record for record in records if not record.status.is_final]
    if not shown and live:
        shown = live[-1].job_id
    panel, window_title = _panel(studio, shown, owner)
    reading = studio.engine.gauge()
    return (
        shown,
        panel,
        recent_html([present(record) for record in records]),
        gauge_html(reading),
        _banner(studio, reading, may_resume=may_manage),
        window_title,
        " ".join(record.job_id for record in live),
        gr.update(value=LIVE_TICK_S if live else IDLE_TICK_S),
    )


def _banner(studio: Studio, reading: MemoryReading, *, may_resume: bool) -> str:
    health = studio.engine.health()
    pause = explain(health.pause, health.values) if health.pause is not None else None
    warning = None
    if reading.warning is not None:
        warning = explain(reading.warning, {"rise_mb": reading.rise_mb})
    return banner_html(pause, warning, may_resume=may_resume)


def _panel(studio: Studio, shown: str, owner: str) -> tuple[str, str]:
    """The card of the video that is shown, and the title of the window."""
    if not shown:
        return "", say("page.title")
    engine = studio.engine
    try:
        record = engine.get(shown, owner)
        starts_in_s = engine.expected_start_s(shown, owner)
        picture = engine.live_picture(shown, owner)
        live = base64.b64encode(picture.read_bytes()).decode() if picture is not None else ""
    except FileNotFoundError:  # the video came between two lines
        live = ""
    except EngineError as error:
        message = message_of(error)
        return missing_job_html(message.sentence, message.hint), say("page.title")
    view = present(record, starts_in_s=starts_in_s)
    return job_panel_html(view, live), _window_title(view)


def _window_title(view: JobView) -> str:
    """What the browser's tab says, so that other work can go on meanwhile."""
    if view.percent is not None:
        return f"{say('job.percent', percent=view.percent)} · {say('page.title')}"
    mark = {JobStatus.SUCCEEDED: "✓", JobStatus.FAILED: "✗"}.get(view.status)
    return f"{mark} {view.label} · {say('page.title')}" if mark else say("page.title")
