"""The words of a recording, and captions in the picture, which need words."""

from dataclasses import dataclass
from typing import Any

import gradio as gr

from studio.context import Studio
from studio.failures import guarded
from studio.locales import say
from studio.parts.typing_pause import when_typing_pauses


@dataclass(frozen=True)
class CaptionsInput:
    """The controls; `settled_script` follows `script` with a pause."""

    panel: gr.Accordion
    script: gr.Textbox
    settled_script: gr.Textbox
    burn: gr.Checkbox


def create_captions_input(studio: Studio, source: gr.Radio) -> CaptionsInput:
    """Build them.

    Args:
        studio: for its limits.
        source: where the voice comes from; `text` brings its own words.
    """
    with gr.Accordion(say("voice.script"), open=False, elem_id="voice-script") as panel:
        script = gr.Textbox(
            label=say("voice.script_label"),
            info=say("voice.script_hint"),
            lines=3,
            max_lines=8,
            max_length=studio.settings.max_text_characters,
        )
    burn = gr.Checkbox(
        label=say("voice.captions"),
        info=say("voice.captions_need_words"),
        interactive=False,
        elem_id="voice-captions",
    )
    settled = gr.Textbox(visible="hidden", elem_id="settled-script")

    @guarded
    def allow_captions(chosen: str, words: str | None, burnt: object) -> Any:  # noqa: ANN401 - a Gradio update
        """Say why captions cannot be chosen, or let them be."""
        able = chosen == "text" or bool((words or "").strip())
        info = say("voice.captions_hint" if able else "voice.captions_need_words")
        return gr.update(interactive=able, info=info, value=bool(burnt) and able)

    quiet: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}
    pause = when_typing_pauses("Script")
    script.change(None, script, settled, js=pause, trigger_mode="multiple", **quiet)
    needed = [source.change, settled.change]
    gr.on(needed, allow_captions, [source, script, burn], burn, **quiet)
    return CaptionsInput(panel, script, settled, burn)
