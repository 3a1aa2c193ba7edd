"""Step 3 of the Lecture page: who speaks, where the presenter stands, how the video looks."""

from dataclasses import dataclass
from typing import Any

import gradio as gr

from studio.context import Studio
from studio.locales import say
from studio.parts.quiet import QUIET
from studio.parts.uploads import FileUpload
from studio.parts.voice_choices import VoicePair, create_voice_pair

# Tells the cards how fast the voice speaks, and what it is called.
_TELL_PACE = """(voice, speed, pause) => {
  const chosen = document.querySelector('#lecture-voice input');
  const name = chosen ? chosen.value : '';
  window.studioLecture?.pace(JSON.stringify({voice: name, speed, pause}));
}"""


@dataclass(frozen=True)
class LectureLook:
    """The controls by the names of `LectureForm`."""

    language: gr.Dropdown
    voice: gr.Dropdown
    speed: gr.Slider
    layout: gr.Radio
    corner: gr.Radio
    shape: gr.Radio
    aspect: gr.Radio
    size: gr.Radio
    captions: gr.Radio
    background: gr.Radio
    colour: gr.ColorPicker
    backdrop: gr.File
    transition: gr.Radio
    pause: gr.Slider
    title: gr.Textbox
    subtitle: gr.Textbox
    music: gr.File
    volume: gr.Slider
    clips: gr.Checkbox


def create_look_input(studio: Studio, own_tab: gr.Tab) -> tuple[LectureLook, VoicePair]:
    """Build step 3.

    Args:
        studio: knows the voices.
        own_tab: of the page.
    """
    pair = create_voice_pair(studio, "lecture", own_tab)
    speed = gr.Slider(
        0.5, 2.0, 1.0, step=0.05, label=say("voice.speed"), info=say("voice.speed_hint")
    )
    layout = _radio("layout", ("corner", "side", "full", "off"), "corner")
    with gr.Row(elem_classes="pair"):
        corner = _radio("corner", ("tl", "tr", "bl", "br"), "br")
        shape = _radio("shape", ("round", "square"), "round")
    with gr.Row(elem_classes="pair"):
        aspect = _radio("aspect", (("wide", "16:9"), ("tall", "9:16")), "16:9")
        size = gr.Radio(
            [("720p", 720), ("1080p", 1080)],
            value=720,
            label=say("lecture.size"),
            elem_classes="segmented",
            elem_id="lecture-size",
        )
    captions = _radio("captions", ("srt", "burn", "off"), "srt")
    with gr.Accordion(say("more.title"), open=False, elem_id="lecture-more"):
        background = _radio("background", ("plain", "blurred", "picture"), "plain")
        colour = gr.ColorPicker("#15181e", label=say("lecture.colour"), elem_id="lecture-colour")
        backdrop = FileUpload(
            label=say("lecture.backdrop"), height=84, visible=False, elem_id="lecture-backdrop"
        )
        transition = _radio("transition", ("cut", "fade"), "cut")
        pause = gr.Slider(
            0.0, 5.0, 0.6, step=0.1, label=say("lecture.pause"), info=say("lecture.pause_hint")
        )
        title = gr.Textbox(
            label=say("lecture.title"),
            info=say("lecture.title_hint"),
            max_length=80,
            elem_id="lecture-title",
        )
        subtitle = gr.Textbox(label=say("lecture.subtitle"), max_length=80)
        music = FileUpload(label=say("lecture.music"), height=84, elem_id="lecture-music")
        volume = gr.Slider(
            0.0, 1.0, 0.3, step=0.05, label=say("lecture.volume"), info=say("lecture.volume_hint")
        )
        clips = gr.Checkbox(label=say("lecture.clips"), elem_id="lecture-clips")
    look = LectureLook(
        pair.language, pair.voice, speed, layout, corner, shape, aspect, size, captions, background,
        colour, backdrop, transition, pause, title, subtitle, music, volume, clips,
    )  # fmt: skip
    _connect(look)
    return look, pair


def _radio(name: str, choices: tuple[Any, ...], value: str) -> gr.Radio:
    """One choice; a pair names its word and its value."""
    pairs = [choice if isinstance(choice, tuple) else (choice, choice) for choice in choices]
    return gr.Radio(
        [(say(f"lecture.{name}_{word}"), chosen) for word, chosen in pairs],
        value=value,
        label=say(f"lecture.{name}"),
        elem_id=f"lecture-{name}",
        elem_classes="segmented",
    )


def _connect(look: LectureLook) -> None:
    def show_choices(layout: str) -> tuple[Any, ...]:
        has_place = layout in ("corner", "side")
        return gr.update(visible=has_place), gr.update(visible=layout == "corner")

    def show_background(kind: str) -> tuple[Any, ...]:
        return gr.update(visible=kind == "plain"), gr.update(visible=kind == "picture")

    look.layout.change(show_choices, look.layout, [look.corner, look.shape], **QUIET)
    look.background.change(show_background, look.background, [look.colour, look.backdrop], **QUIET)
    pace: list[Any] = [look.voice, look.speed, look.pause]
    for control in pace:
        control.change(None, pace, None, js=_TELL_PACE, show_progress="hidden")
