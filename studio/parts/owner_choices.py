"""The settings the owner of this installation may change; they hold from the next start on."""

import html
from typing import Any

import gradio as gr

from studio.context import Studio
from studio.failures import guarded
from studio.locales import say
from studio.parts.quiet import QUIET
from studio.parts.speech_server_input import create_speech_server_input

# Each with its lowest and highest value on the page and how many of the engine's units one is.
_NUMBERS = {
    "result_days": (0.5, 3650.0, 1.0),
    "input_hours": (0.5, 8760.0, 1.0),
    "max_data_gb": (1.0, 10_000.0, 1.0),
    "min_free_disk_gb": (0.0, 1000.0, 1.0),
    "idle_unload_s": (1.0, 1440.0, 60.0),
    "render_threads": (0.0, 64.0, 1.0),
}


def create_owner_choices(studio: Studio) -> None:
    """Build the fields and the button that keeps them."""
    now = studio.engine.owner_choices()
    with gr.Column(elem_id="system-settings"):
        gr.HTML(
            f"<h2>{html.escape(say('settings.title'))}</h2>"
            f"<p>{html.escape(say('settings.hint'))}</p>",
            apply_default_css=False,
        )
        with gr.Row(elem_classes="choices"):
            numbers = {name: _create_field(name, now[name]) for name in _NUMBERS}
        server = vars(create_speech_server_input(studio, now))
        save = gr.Button(say("settings.save"), size="sm", elem_id="settings-save")

    @guarded
    def keep(values: dict[Any, Any], request: gr.Request) -> None:
        if not studio.may_manage(request):
            return
        chosen: dict[str, Any] = {
            name: _engine_value(name, values[field]) for name, field in numbers.items()
        }
        told = {name: str(values[field] or "").strip() for name, field in server.items()}
        # An empty address asks no server; other empty fields go back to their defaults.
        studio.engine.choose(chosen | {name: value for name, value in told.items() if value})
        gr.Success(say("settings.saved"), title=say("settings.title"))

    save.click(keep, {*numbers.values(), *server.values()}, None, **QUIET)


def _create_field(name: str, value: Any) -> gr.Number:  # noqa: ANN401 - of a setting
    lowest, highest, unit = _NUMBERS[name]
    return gr.Number(
        (value or 0) / unit,
        label=say(f"settings.{name}"),
        info=say(f"settings.{name}_hint"),
        minimum=lowest,
        maximum=highest,
        elem_id=f"settings-{name}",
    )


def _engine_value(name: str, value: float | None) -> float | int | None:
    """What the engine is told; no number of threads leaves it the choice."""
    amount = (value or 0.0) * _NUMBERS[name][2]
    if name == "render_threads":
        return round(amount) or None
    return amount
