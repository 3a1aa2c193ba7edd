"""Step 3: how good and how long, and the choices few people need."""

from dataclasses import dataclass

import gradio as gr

from studio.locales import say

BACKGROUNDS = {"white": "white", "#dddddd": "grey", "black": "black", "#00b140": "green"}
AS_PRESET = 0
SIZES = (AS_PRESET, *range(256, 1025, 128))


@dataclass(frozen=True)
class QualityInput:
    """The controls about the picture's quality and motion."""

    preset: gr.Radio
    size: gr.Dropdown
    dynamic_scale: gr.Slider
    motion_scale: gr.Slider
    smoothing: gr.Slider
    fps: gr.Dropdown
    seed: gr.Textbox
    background: gr.Dropdown
    force: gr.Checkbox


def create_quality_input() -> QualityInput:
    """Build the quality cards and the folded choices below them."""
    preset = gr.Radio(
        [(say(f"quality.{name}"), name) for name in ("quick", "standard", "hd")],
        value="quick",
        label=say("quality.label"),
        elem_id="quality",
        elem_classes="cards",
    )
    with gr.Accordion(say("more.title"), open=False, elem_id="more"):
        with gr.Row(elem_classes="pair"):
            mouth = _scale("mouth", 0.3, 2.0)
            head = _scale("head", 0.0, 2.0)
        with gr.Row(elem_classes="pair"):
            smoothing = _scale("smoothing", 0.0, 2.0)
            size = gr.Dropdown(
                [(f"{size} px" if size else say("more.size_preset"), size) for size in SIZES],
                value=AS_PRESET,
                label=say("more.size"),
                info=say("more.size_hint"),
            )
        with gr.Row(elem_classes="pair"):
            fps = gr.Dropdown(
                [24, 25, 30, 50, 60], value=25, label=say("more.fps"), info=say("more.fps_hint")
            )
            seed = gr.Textbox(
                label=say("more.seed"), info=say("more.seed_hint"), max_length=10, elem_id="seed"
            )
        background = gr.Dropdown(
            [(say(f"more.background_{name}"), colour) for colour, name in BACKGROUNDS.items()],
            value="white",
            label=say("more.background"),
            info=say("more.background_hint"),
        )
        force = gr.Checkbox(label=say("more.force"), info=say("more.force_hint"))
    return QualityInput(preset, size, mouth, head, smoothing, fps, seed, background, force)


def _scale(name: str, lowest: float, highest: float) -> gr.Slider:
    return gr.Slider(
        lowest, highest, 1.0, step=0.05, label=say(f"more.{name}"), info=say(f"more.{name}_hint")
    )
