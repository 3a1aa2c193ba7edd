"""Step 3: how good and how long, and the choices few people need."""

import html
import importlib.util
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import gradio as gr

from engine.contracts import PRESETS, Estimate, PresetName
from studio.again import AS_FRAMING
from studio.context import Studio
from studio.failures import guarded
from studio.locales import decimal, say
from studio.parts.quiet import QUIET
from studio.presenter import duration_words

BACKGROUNDS = {"white": "white", "#dddddd": "grey", "black": "black", "#00b140": "green"}
AS_PRESET = 0
SIZES = (AS_PRESET, *range(256, 1025, 64))
STEPS = (AS_PRESET, 10, 15, 20, 25, 30, 40, 50)
EXPANDS = (AS_FRAMING, 0.0, 0.25, 0.5, 0.75, 1.0)
CALIBRATIONS = ("auto", "off", "-80", "-40", "40", "80")

MB_PER_GB = 1024


@dataclass(frozen=True)
class QualityInput:
    """The controls about the picture's quality and motion."""

    preset: gr.Radio
    animator: gr.Radio
    size: gr.Dropdown
    steps: gr.Dropdown
    expand: gr.Dropdown
    dynamic_scale: gr.Slider
    motion_scale: gr.Slider
    smoothing: gr.Slider
    fps: gr.Dropdown
    seed: gr.Textbox
    background: gr.Dropdown
    calibrate: gr.Dropdown
    allow_smaller: gr.Checkbox
    force: gr.Checkbox


def create_preset_input() -> gr.Radio:
    """Build the quality cards."""
    return gr.Radio(
        preset_choices({}),
        value="quick",
        label=say("quality.label"),
        elem_id="quality",
        elem_classes="cards",
    )


def preset_choices(costs: Mapping[PresetName, Estimate]) -> list[tuple[str, str]]:
    """The cards: what each quality is for, and what it costs on this machine where that is known.

    Args:
        costs: of the video in the form, by quality.
    """
    return [(_card(name, costs.get(name)), name) for name in PRESETS]


def _card(name: PresetName, cost: Estimate | None) -> str:
    words = say(f"quality.{name}")
    if cost is None:
        return words
    memory_mb = cost.peak_vram_mb or cost.peak_rss_mb
    kind = say("gauge.vram" if cost.peak_vram_mb else "gauge.ram")
    here = say(
        "quality.cost",
        time=duration_words(cost.seconds),
        kind=kind,
        gb=decimal(memory_mb / MB_PER_GB),
    )
    return f"{words}\n{here}"


def create_quality_input(studio: Studio, preset: gr.Radio, place: gr.Accordion) -> QualityInput:
    """Build the choices few people need, each with a sentence of advice.

    Args:
        studio: the engine.
        preset: the quality cards.
        place: where they are; what can be chosen is found out when it is unfolded.
    """
    animator = gr.Radio(
        [(say(f"more.animator_{name}"), name) for name in ("auto", "lite", "sonic")],
        value="auto",
        label=say("more.animator"),
        info=say("more.animator_hint"),
        elem_id="animator",
        elem_classes="segmented",
    )
    why_not = gr.HTML(elem_id="why-not", apply_default_css=False)
    with gr.Row(elem_classes="choices"):
        mouth = _scale("mouth", 0.3, 2.0)
        head = _scale("head", 0.0, 2.0)
        smoothing = _scale("smoothing", 0.0, 2.0)
    with gr.Row(elem_classes="choices"):
        size = _list("size", [(_size_words(size), size) for size in SIZES], AS_PRESET)
        steps = _list("steps", [(_steps_words(count), count) for count in STEPS], AS_PRESET)
        expand = _list("expand", [(_expand_words(share), share) for share in EXPANDS], AS_FRAMING)
    with gr.Row(elem_classes="choices"):
        fps = _list("fps", [(str(rate), rate) for rate in (24, 25, 30, 50, 60)], 25)
        seed = gr.Textbox(
            label=say("more.seed"), info=say("more.seed_hint"), max_length=10, elem_id="seed"
        )
        background = _list(
            "background",
            [(say(f"more.background_{name}"), colour) for colour, name in BACKGROUNDS.items()],
            "white",
        )
    with gr.Row(elem_classes="choices"):
        calibrate = _list(
            "calibrate", [(_calibration_words(how), how) for how in CALIBRATIONS], "auto"
        )
        allow_smaller = gr.Checkbox(label=say("more.smaller"), info=say("more.smaller_hint"))
        force = gr.Checkbox(label=say("more.force"), info=say("more.force_hint"))

    @guarded
    def explain_choice(chosen: str) -> tuple[Any, ...]:
        """Let the numbers of sonic be set where it may draw; else say why not."""
        reason = sonic_obstacle(studio, chosen)
        told = f'<p class="note">{_with_code(say(reason))}</p>' if reason else ""
        able = gr.update(interactive=reason is None)
        return told, able, able

    asked = [animator.change, place.expand]
    gr.on(asked, explain_choice, animator, [why_not, steps, expand], **QUIET)
    return QualityInput(
        preset=preset,
        animator=animator,
        size=size,
        steps=steps,
        expand=expand,
        dynamic_scale=mouth,
        motion_scale=head,
        smoothing=smoothing,
        fps=fps,
        seed=seed,
        background=background,
        calibrate=calibrate,
        allow_smaller=allow_smaller,
        force=force,
    )


def sonic_obstacle(studio: Studio, animator: str) -> str | None:
    """Why sonic will not draw, as the key of a sentence; None when it may.

    Args:
        studio: the engine.
        animator: as chosen; `auto` takes sonic only where there is a card.
    """
    if animator == "lite":
        return "more.sonic_not_chosen"
    sets = {known.name: known for known in studio.engine.weights()}
    if importlib.util.find_spec("torch") is None:
        return "more.sonic_no_torch"
    if "sonic" not in sets or not sets["sonic"].is_complete:
        return "more.sonic_no_weights"
    if animator == "auto" and studio.engine.gauge().kind != "vram":
        return "more.sonic_no_card"
    return None


def _with_code(text: str) -> str:
    """A sentence as HTML; what stands between backticks is a command."""
    return re.sub(r"`([^`]+)`", r'<code dir="ltr">\1</code>', html.escape(text))


def _size_words(size: int) -> str:
    return f"{size} px" if size else say("more.size_preset")


def _steps_words(count: int) -> str:
    return str(count) if count else say("more.size_preset")


def _calibration_words(how: str) -> str:
    known = {"auto": say("more.calibrate_auto"), "off": say("more.calibrate_off")}
    return known.get(how) or say("more.calibrate_ms", ms=how)


def _expand_words(share: float) -> str:
    return f"{share:.0%}" if share >= 0 else say("more.expand_framing")


def _list(name: str, choices: list[tuple[str, Any]], value: Any) -> gr.Dropdown:  # noqa: ANN401 - of a choice
    return gr.Dropdown(
        choices,
        value=value,
        label=say(f"more.{name}"),
        info=say(f"more.{name}_hint"),
        elem_id=f"more-{name}",
    )


def _scale(name: str, lowest: float, highest: float) -> gr.Slider:
    return gr.Slider(
        lowest, highest, 1.0, step=0.05, label=say(f"more.{name}"), info=say(f"more.{name}_hint")
    )
