"""The words of a recording, typed or found out, and captions, which need words."""

from dataclasses import dataclass
from typing import Any

import gradio as gr

from studio.context import Studio
from studio.failures import guarded
from studio.locales import say
from studio.parts.quiet import QUIET
from studio.parts.typing_pause import when_typing_pauses


@dataclass(frozen=True)
class CaptionsInput:
    """The controls; `settled_script` follows `script` with a pause."""

    panel: gr.Accordion
    script: gr.Textbox
    settled_script: gr.Textbox
    hear_words: gr.Checkbox
    burn: gr.Checkbox
    highlight_words: gr.Checkbox


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
        hear_words = gr.Checkbox(
            label=say("voice.hear"),
            info=say("voice.hear_missing"),
            interactive=False,
            elem_id="voice-hear",
        )
    burn = gr.Checkbox(
        label=say("voice.captions"),
        info=say("voice.captions_need_words"),
        interactive=False,
        elem_id="voice-captions",
    )
    highlight_words = gr.Checkbox(
        label=say("voice.highlight"),
        info=say("voice.captions_need_words"),
        interactive=False,
        elem_id="voice-highlight",
    )
    settled = gr.Textbox(visible="hidden", elem_id="settled-script")

    @guarded
    def allow(chosen: str, words: str | None, hears: object) -> tuple[Any, ...]:
        """Say why words cannot be found or captions not be chosen, or let them be."""
        can_hear = studio.engine.can_recognise
        able = chosen == "text" or bool((words or "").strip()) or (can_hear and bool(hears))
        hear_hint = say("voice.hear_hint" if can_hear else "voice.hear_missing")
        why_not = say("voice.captions_need_words")
        return (
            gr.update(interactive=can_hear, info=hear_hint),
            gr.update(interactive=able, info=say("voice.captions_hint") if able else why_not),
            gr.update(interactive=able, info=say("voice.highlight_hint") if able else why_not),
        )

    pause = when_typing_pauses("Script")
    script.change(None, script, settled, js=pause, trigger_mode="multiple", **QUIET)
    needed = [source.change, settled.change, hear_words.change]
    shown = [hear_words, burn, highlight_words]
    gr.on(needed, allow, [source, script, hear_words], shown, **QUIET)
    gr.on(None, allow, [source, script, hear_words], shown, **QUIET)  # when the page is loaded
    return CaptionsInput(panel, script, settled, hear_words, burn, highlight_words)
