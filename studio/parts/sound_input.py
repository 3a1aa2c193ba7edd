"""What is done to the sound of the video, for the few who want it otherwise."""

from dataclasses import dataclass
from typing import Any

import gradio as gr

from studio.failures import guarded
from studio.locales import say
from studio.parts.quiet import QUIET


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

    @guarded
    def allow(chosen: str) -> tuple[Any, ...]:
        """Say why a typed text is not cleaned and trimmed, or let a recording be."""
        is_recording = chosen != "text"
        return tuple(
            gr.update(
                interactive=is_recording,
                info=say(f"sound.{name}_hint" if is_recording else "sound.not_typed"),
            )
            for name in ("clean", "trim")
        )

    source.change(allow, source, [reduce_noise, trim_silence], **QUIET)
    return SoundInput(level_sound, reduce_noise, trim_silence)
