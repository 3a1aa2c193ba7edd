"""The System page: memory, queue, worker, speed, and whether this computer has what it takes."""

from typing import Any

import gradio as gr

from engine.contracts import PRESETS, JobStatus
from studio.context import Studio
from studio.failures import guarded
from studio.locales import say
from studio.parts.jobs_section import QUIET
from studio.parts.memory_history import history_html
from studio.parts.system_facts import Rates, check_html, facts_html

TICK_S = 2.5
ANIMATORS = ("lite", "sonic")

# More than the queue may hold, so that the counts are true.
NUM_COUNTED = 500


def create_system_page(studio: Studio) -> gr.Timer:
    """Build the page and connect it.

    Returns:
        The timer that keeps it fresh; it needs to run only while the page is seen.
    """
    with gr.Column(elem_id="system"):
        memory = gr.HTML(elem_id="system-memory", apply_default_css=False)
        facts = gr.HTML(elem_id="system-facts", apply_default_css=False)
        with gr.Column(elem_id="system-check"):
            gr.HTML(f"<h2>{say('system.check')}</h2>", apply_default_css=False)
            gr.Markdown(say("system.check_note"), elem_classes="hint")
            run = gr.Button(say("system.check_run"), size="sm", elem_id="system-check-run")
            rows = gr.HTML(visible=False, elem_id="system-check-rows", apply_default_css=False)
    timer = gr.Timer(TICK_S, active=False)

    @guarded
    def refresh() -> tuple[str, str]:
        reading = studio.engine.gauge()
        return history_html(reading, studio.history.samples()), _facts(studio)

    @guarded
    def examine() -> Any:  # noqa: ANN401 - a Gradio update
        return gr.update(value=check_html(studio.engine.doctor()), visible=True)

    timer.tick(refresh, None, [memory, facts], trigger_mode="once", **QUIET)
    gr.on(None, refresh, None, [memory, facts], **QUIET)
    run.click(examine, None, rows, api_visibility="private")
    return timer


def _facts(studio: Studio) -> str:
    records = studio.engine.list_for(None, NUM_COUNTED)
    statuses = [record.status for record in records]
    health = studio.engine.health()
    return facts_html(
        running=statuses.count(JobStatus.RUNNING),
        waiting=statuses.count(JobStatus.QUEUED),
        worker=health.worker,
        is_dispatching=health.is_dispatching,
        rates=_rates(studio),
    )


def _rates(studio: Studio) -> Rates:
    sizes = sorted(preset.size_px for preset in PRESETS.values())
    measured = [
        (animator, size, studio.engine.measured_rate(animator, size))
        for animator in ANIMATORS
        for size in sizes
    ]
    return [(animator, size, rate) for animator, size, rate in measured if rate is not None]
