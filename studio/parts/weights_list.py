"""The sets of weights that can be downloaded: what is here, the licence, a button, progress."""

import html
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import gradio as gr

from engine.contracts import WeightsState
from studio.context import Studio
from studio.failures import guarded
from studio.locales import decimal, explain, say
from studio.parts.action_html import action_data, create_action_html
from studio.parts.jobs_section import QUIET

MB_PER_GB = 1000


@dataclass(frozen=True)
class WeightsList:
    """The list and what it shows now."""

    listing: gr.HTML
    shown: Callable[[], str]


def create_weights_list(studio: Studio) -> WeightsList:
    """Build the list and connect its buttons."""
    listing = create_action_html("system-weights")

    def shown() -> str:
        return weights_html(studio.engine.weights())

    @guarded
    def act(event: gr.EventData, request: gr.Request) -> str:
        data = action_data(event) if studio.may_manage(request) else {}
        if data.get("action") == "fetch":
            studio.engine.fetch_weights(data.get("job", ""))
        if data.get("action") == "stop":
            studio.engine.stop_fetching()
        return shown()

    listing.action(act, None, listing, **QUIET)
    return WeightsList(listing, shown)


def weights_html(states: Sequence[WeightsState]) -> str:
    """Each set with its state and what can be done about it."""
    heading = f"<h2>{html.escape(say('weights.title'))}</h2>"
    hint = f"<p>{html.escape(say('weights.hint'))}</p>"
    return heading + hint + "".join(map(_set_html, states))


def _set_html(state: WeightsState) -> str:
    here = say("weights.files", usable=state.num_usable, total=state.num_files)
    parts = [
        f"<h3>{html.escape(state.title)}</h3>",
        f'<p lang="en" dir="ltr">{html.escape(state.notice)}</p>',
        f"<p>{html.escape(here)}</p>",
    ]
    if state.error is not None:
        message = explain(state.error.code, dict(state.error.values))
        told = html.escape(f"{message.sentence} {message.hint}")
        parts.append(f'<p class="note refused" role="alert">{told}</p>')
    if state.is_running:
        parts += [_bar_html(state), _button_html("stop", state.name, say("weights.stop"))]
    elif not state.is_complete:
        words = say("weights.get", gb=decimal(state.missing_mb / MB_PER_GB))
        parts.append(_button_html("fetch", state.name, words))
    return f'<section class="weights">{"".join(parts)}</section>'


def _bar_html(state: WeightsState) -> str:
    total_mb = state.total_mb or 0.0
    percent = round(100 * state.done_mb / total_mb) if total_mb else 0
    words = say("weights.asking")
    if total_mb:
        done, total = decimal(state.done_mb / MB_PER_GB), decimal(total_mb / MB_PER_GB)
        words = say("weights.progress", done=done, total=total)
    label = html.escape(say("weights.title"))
    return (
        f'<div class="bar" role="progressbar" aria-label="{label}" aria-valuemin="0" '
        f'aria-valuemax="100" aria-valuenow="{percent}"><i style="width:{percent}%"></i></div>'
        f"<p>{html.escape(words)}</p>"
    )


def _button_html(action: str, name: str, words: str) -> str:
    return (
        f'<button type="button" class="plain" data-action="{action}" '
        f'data-job="{html.escape(name)}">{html.escape(words)}</button>'
    )
