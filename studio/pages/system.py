"""The System page: memory, disk, queue, worker, speed, weights, settings, check of the machine."""

import html
from typing import Any

import gradio as gr

from engine.contracts import PRESETS, JobStatus
from studio.context import Studio
from studio.failures import guarded
from studio.locales import say
from studio.parts.ledger_table import ledger_html
from studio.parts.memory_history import history_html
from studio.parts.owner_choices import create_owner_choices
from studio.parts.quiet import QUIET
from studio.parts.system_facts import Facts, Rates, check_html, facts_html
from studio.parts.weights_list import create_weights_list

TICK_S = 2.0
ANIMATORS = ("lite", "sonic")

# More than the queue may hold, so that the counts are true.
NUM_COUNTED = 500
NUM_LEDGER_ROWS = 12


def create_system_page(studio: Studio, own_tab: gr.Tab) -> gr.Timer:
    """Build the page and connect it.

    Args:
        studio: the engine and who is asking.
        own_tab: of this page; everything is read anew when it is opened.

    Returns:
        The timer that keeps it fresh; it needs to run only while the page is seen.
    """
    others = gr.HTML(
        f'<p class="note">{html.escape(say("system.owner_only"))}</p>',
        visible=False,
        apply_default_css=False,
    )
    with gr.Column(elem_id="system") as column:
        memory = gr.HTML(elem_id="system-memory", apply_default_css=False)
        facts = gr.HTML(elem_id="system-facts", apply_default_css=False)
        ledger = gr.HTML(elem_id="system-ledger", apply_default_css=False)
        weights = create_weights_list(studio)
        create_owner_choices(studio)
        _create_clean_up(studio)
        with gr.Column(elem_id="system-check"):
            gr.HTML(f"<h2>{say('system.check')}</h2>", apply_default_css=False)
            gr.Markdown(say("system.check_note"), elem_classes="hint")
            run = gr.Button(say("system.check_run"), size="sm", elem_id="system-check-run")
            rows = gr.HTML(visible=False, elem_id="system-check-rows", apply_default_css=False)
    timer = gr.Timer(TICK_S, active=False)
    outputs = [memory, facts, ledger, weights.listing]

    @guarded
    def refresh(request: gr.Request) -> tuple[Any, ...]:
        if not studio.may_manage(request):
            return tuple(gr.skip() for _ in outputs)
        reading = studio.engine.gauge()
        entries = studio.engine.memory_ledger(NUM_LEDGER_ROWS)
        return (
            history_html(reading, studio.history.samples()),
            _facts(studio),
            ledger_html(entries),
            weights.shown(),
        )

    @guarded
    def arrive(request: gr.Request) -> tuple[Any, ...]:
        """The page is for whoever runs this installation."""
        may = studio.may_manage(request)
        return gr.update(visible=may), gr.update(visible=not may), *refresh(request)

    @guarded
    def examine(request: gr.Request) -> Any:  # noqa: ANN401 - a Gradio update
        if not studio.may_manage(request):
            return gr.skip()
        return gr.update(value=check_html(studio.engine.doctor()), visible=True)

    timer.tick(refresh, None, outputs, trigger_mode="once", **QUIET)
    own_tab.select(arrive, None, [column, others, *outputs], **QUIET)
    run.click(examine, None, rows, api_visibility="private")
    return timer


def _create_clean_up(studio: Studio) -> None:
    with gr.Column(elem_id="system-clean"):
        gr.HTML(
            f"<h2>{html.escape(say('clean.title'))}</h2><p>{html.escape(say('clean.hint'))}</p>",
            apply_default_css=False,
        )
        run = gr.Button(say("clean.run"), size="sm", elem_id="system-clean-run")

    @guarded
    def clean(request: gr.Request) -> None:
        if not studio.may_manage(request):
            return
        count = studio.engine.clean_up()
        told = say("clean.elsewhere") if count is None else say("clean.done", count=count)
        gr.Success(told, title=say("clean.title"))

    run.click(clean, None, None, api_visibility="private")


def _facts(studio: Studio) -> str:
    records = studio.engine.list_for(None, NUM_COUNTED)
    statuses = [record.status for record in records]
    health = studio.engine.health()
    return facts_html(
        Facts(
            running=statuses.count(JobStatus.RUNNING),
            waiting=statuses.count(JobStatus.QUEUED),
            worker=health.worker,
            is_dispatching=health.is_dispatching,
            rates=_rates(studio),
            measured_from_s=studio.engine.measured_from_s,
            disk=studio.engine.disk(),
        )
    )


def _rates(studio: Studio) -> Rates:
    sizes = sorted(preset.size_px for preset in PRESETS.values())
    measured = [
        (animator, size, studio.engine.measured_rate(animator, size))
        for animator in ANIMATORS
        for size in sizes
    ]
    return [(animator, size, rate) for animator, size, rate in measured if rate is not None]
