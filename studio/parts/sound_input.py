"""What is done to the sound of the video, for the few who want it otherwise."""

import json
from dataclasses import dataclass

import gradio as gr

from studio.locales import say


@dataclass(frozen=True)
class SoundInput:
    """The controls by the names of `FormValues`."""

    level_sound: gr.Checkbox
    reduce_noise: gr.Checkbox
    trim_silence: gr.Checkbox


def create_sound_input(source: gr.Radio) -> SoundInput:
    """Build the controls.

    Args:
        source: where the voice comes from; only a recording has noise and silence.
    """
    with gr.Row(elem_classes="choices"):
        level_sound = gr.Checkbox(
            value=True,
            label=say("sound.level"),
            info=say("sound.level_hint"),
            elem_id="sound-level",
        )
        reduce_noise = gr.Checkbox(
            label=say("sound.clean"), info=say("sound.clean_hint"), elem_id="sound-clean"
        )
        trim_silence = gr.Checkbox(
            label=say("sound.trim"), info=say("sound.trim_hint"), elem_id="sound-trim"
        )

    source.change(
        None, source, [reduce_noise, trim_silence], js=_allow_js(), show_progress="hidden"
    )
    return SoundInput(level_sound, reduce_noise, trim_silence)


def _allow_js() -> str:
    """Browser code that says why a typed text is not cleaned and trimmed."""
    hints = json.dumps([say("sound.clean_hint"), say("sound.trim_hint")])
    why_not = json.dumps(say("sound.not_typed"))
    return f"""(source) => {hints}.map((hint) => (
      {{__type__: 'update', interactive: source !== 'text',
        info: source === 'text' ? {why_not} : hint}}))"""
