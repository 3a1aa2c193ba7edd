"""The video in the making and the recent ones, kept fresh by a timer; the page is only a viewer."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gradio as gr

from engine.contracts import JobRecord
from engine.errors import EngineError
from studio.context import Studio
from studio.failures import guarded
from studio.language import in_visitors_language
from studio.parts.action_html import action_data, create_action_html
from studio.parts.job_card import job_panel_html, missing_job_html, recent_html
from studio.parts.vram_gauge import gauge_html
from studio.presenter import message_of, present
from studio.session import wanted_job

_log = logging.getLogger(__name__)

NUM_RECENT = 12

# A live job moves fast enough to watch; an idle page only keeps its gauge and list fresh.
LIVE_TICK_S = 1.0
IDLE_TICK_S = 2.5

# Keeps the address in step with the video shown, so that a reload or a copied link finds it.
_SHOW_LINK = """(job) => {
  const address = new URL(window.location);
  if (job) address.searchParams.set('job', job); else address.searchParams.delete('job');
  window.history.replaceState(null, '', address);
}"""

QUIET: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}


@dataclass(frozen=True)
class JobsSection:
    """What the form needs to show a job it has just submitted."""

    shown_job: gr.Textbox
    refresh: Callable[..., tuple[Any, ...]]
    outputs: list[Any]


def create_jobs_section(studio: Studio, gauge: gr.HTML) -> JobsSection:
    """Build both lists and everything that keeps them fresh.

    Args:
        studio: the engine and who is asking.
        gauge: the memory gauge in the page's head, refreshed by the same timer.
    """
    panel = create_action_html("job-panel")
    recent = create_action_html("recent")
    shown_job = gr.Textbox(visible="hidden", elem_id="shown-job")
    timer = gr.Timer(IDLE_TICK_S)
    outputs = [shown_job, panel, recent, gauge, timer]

    @in_visitors_language
    def refresh(shown: str | None, request: gr.Request) -> tuple[Any, ...]:
        """Everything that changes by itself. A failure leaves the page as it is."""
        try:
            return _picture(studio, shown or "", studio.visitors.owner_of(request))
        except Exception:  # noqa: BLE001 - a toast every second would help nobody
            _log.exception("the page could not be refreshed")
            return tuple(gr.skip() for _ in outputs)

    def tick(shown: str | None, request: gr.Request) -> tuple[Any, ...]:
        """As `refresh`, but a late answer never brings back a video that was left meanwhile."""
        now_shown, *rest = refresh(shown, request)
        return gr.skip() if now_shown == (shown or "") else now_shown, *rest

    def arrive(request: gr.Request) -> tuple[Any, ...]:
        return refresh(wanted_job(request), request)

    @guarded
    def act(event: gr.EventData, shown: str | None, request: gr.Request) -> tuple[Any, ...]:
        """Do what a button of a card says, for the owner of the job only."""
        owner = studio.visitors.owner_of(request)
        data = action_data(event)
        shown = _act(studio, data.get("action", ""), data.get("job", ""), shown or "", owner)
        return _picture(studio, shown, owner)

    timer.tick(tick, shown_job, outputs, trigger_mode="once", **QUIET)
    panel.action(act, shown_job, outputs, **QUIET)
    recent.action(act, shown_job, outputs, **QUIET)
    shown_job.change(None, shown_job, None, js=_SHOW_LINK)
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


def _picture(studio: Studio, shown: str, owner: str) -> tuple[Any, ...]:
    """The values of all outputs, in their order."""
    records = studio.engine.list_for(owner, NUM_RECENT)
    live = [record for record in records if not record.status.is_final]
    if not shown and live:
        shown = live[-1].job_id
    return (
        shown,
        _panel_html(studio, shown, owner),
        recent_html([present(record) for record in records]),
        gauge_html(studio.engine.gauge()),
        gr.update(value=LIVE_TICK_S if live else IDLE_TICK_S),
    )


def _panel_html(studio: Studio, shown: str, owner: str) -> str:
    if not shown:
        return ""
    try:
        record: JobRecord = studio.engine.get(shown, owner)
    except EngineError as error:
        message = message_of(error)
        return missing_job_html(message.sentence, message.hint)
    return job_panel_html(present(record))
