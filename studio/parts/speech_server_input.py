"""Where a speech server of the local network is, and a button that tries it."""

import html
from dataclasses import dataclass
from typing import Any

import gradio as gr

from engine.errors import EngineError
from studio.context import Studio
from studio.failures import guarded
from studio.locales import explain_error, say

NUM_NAMED = 12


@dataclass(frozen=True)
class SpeechServerInput:
    """The controls by the names of the engine's settings."""

    speech_server_url: gr.Textbox
    speech_server_model: gr.Textbox
    speech_server_languages: gr.Textbox


def create_speech_server_input(studio: Studio, now: dict[str, Any]) -> SpeechServerInput:
    """Build the controls; nothing is asked before the button is pressed.

    Args:
        studio: the engine and who is asking.
        now: the settings as they hold.
    """
    gr.HTML(
        f"<h3>{html.escape(say('server.title'))}</h3><p>{html.escape(say('server.hint'))}</p>",
        apply_default_css=False,
    )
    with gr.Row(elem_classes="choices"):
        address = gr.Textbox(
            now["speech_server_url"] or "",
            label=say("server.address"),
            info=say("server.address_hint"),
            placeholder="http://192.168.1.20:8880",
            max_length=300,
            elem_id="server-address",
        )
        model = gr.Textbox(
            now["speech_server_model"],
            label=say("server.model"),
            info=say("server.model_hint"),
            max_length=100,
        )
        languages = gr.Textbox(
            now["speech_server_languages"],
            label=say("server.languages"),
            info=say("server.languages_hint"),
            max_length=300,
        )
    ask = gr.Button(say("server.try"), size="sm", elem_id="server-try")
    answer = gr.HTML(visible=False, elem_id="server-answer", apply_default_css=False)

    @guarded
    def try_it(where: str, request: gr.Request) -> Any:  # noqa: ANN401 - a Gradio update
        if not studio.may_manage(request):
            return gr.skip()
        return gr.update(value=answer_html(studio, where.strip()), visible=True)

    ask.click(try_it, address, answer, api_visibility="private")
    return SpeechServerInput(address, model, languages)


def answer_html(studio: Studio, address: str) -> str:
    """What came of asking the server."""
    if not address:
        return _note(say("server.off"))
    try:
        names = studio.engine.try_speech_server(address)
    except EngineError as error:
        return _note(explain_error(error).sentence, "refused")
    named = ", ".join(names[:NUM_NAMED]) + ("…" if len(names) > NUM_NAMED else "")
    return _note(say("server.answers", count=len(names), names=named))


def _note(words: str, mood: str = "") -> str:
    return f'<p class="note {mood}" role="status">{html.escape(words)}</p>'
