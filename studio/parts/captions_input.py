"""The words of a recording, typed or found out, and captions, which need words."""

import json
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
    def allow_hearing() -> Any:  # noqa: ANN401 - a Gradio update
        """Say why words cannot be found, or let them be."""
        can_hear = studio.engine.can_recognise
        hint = say("voice.hear_hint" if can_hear else "voice.hear_missing")
        return gr.update(interactive=can_hear, info=hint)

    pause = when_typing_pauses("Script")
    script.change(None, script, settled, js=pause, trigger_mode="multiple", **QUIET)
    gr.on(
        [source.change, settled.change, hear_words.change],
        None,
        [source, script, hear_words],
        [burn, highlight_words],
        js=_allow_captions_js(),
        show_progress="hidden",
    )
    panel.expand(allow_hearing, None, hear_words, **QUIET)
    return CaptionsInput(panel, script, settled, hear_words, burn, highlight_words)


def _allow_captions_js() -> str:
    """Browser code that says why captions cannot be chosen, or lets them be."""
    hints = [say("voice.captions_hint"), say("voice.highlight_hint")]
    why_not = say("voice.captions_need_words")
    return f"""(source, words, hears) => {{
      const isAble = source === 'text' || Boolean((words || '').trim()) || Boolean(hears);
      return {json.dumps(hints)}.map((hint) => (
        {{__type__: 'update', interactive: isAble, info: isAble ? hint : {json.dumps(why_not)}}}));
    }}"""
