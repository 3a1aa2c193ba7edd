"""Settings that travel: the form as a JSON recipe, and back. Pure: no Gradio, no files.

A recipe holds no photo, no recording and no text. ComfyUI's Sonic nodes are read as well: their
fields alone, or a workflow in ComfyUI's API format that has such nodes.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from engine.contracts import RenderOptions
from engine.errors import ErrorCode, InputError
from studio.again import AS_FRAMING
from studio.form import FormValues, parse_options

FORMAT = "sonic-studio-recipe"
VERSION = 1
MAX_BYTES = 200_000

# What a recipe keeps of the form, by the names of its controls.
FIELDS = (
    *("framing", "aspect", "burn", "preset", "animator", "size", "steps", "expand"),
    *("dynamic_scale", "motion_scale", "smoothing", "seed", "fps", "background", "calibrate"),
    *("allow_smaller", "hear_words", "highlight_words"),
    *("level_sound", "reduce_noise", "trim_silence"),
)

# ComfyUI's names for the same things.
COMFY_FIELDS = {
    "min_resolution": "size",
    "expand_ratio": "expand",
    "inference_steps": "steps",
    "dynamic_scale": "dynamic_scale",
    "fps": "fps",
    "seed": "seed",
}
COMFY_NODES = ("SONIC_PreData", "SONICSampler", "SONIC_Sampler")
IGNORED = "duration"

FPS = (24, 25, 30, 50, 60)


@dataclass(frozen=True)
class Recipe:
    """What a file said.

    Attributes:
        values: of the controls it names.
        has_duration: it named a duration, which always follows the sound here.
    """

    values: Mapping[str, Any] = field(default_factory=dict)
    has_duration: bool = False


def write_recipe(form: FormValues) -> str:
    """The settings of a form as JSON, with ComfyUI's fields beside our own."""
    settings = {name: getattr(form, name) for name in FIELDS}
    options = form.options()
    comfy = {
        "SONIC_PreData": {
            "min_resolution": options.output_size_px,
            "expand_ratio": 0.5 if options.expand_ratio is None else options.expand_ratio,
        },
        "SONICSampler": {
            "inference_steps": options.steps,
            "dynamic_scale": options.dynamic_scale,
            "fps": options.fps,
            "seed": options.seed or 0,
        },
    }
    recipe = {"format": FORMAT, "version": VERSION, "settings": settings, "comfyui": comfy}
    return json.dumps(recipe, ensure_ascii=False, indent=2)


def read_recipe(content: bytes) -> Recipe:
    """The settings in a JSON file of ours or of ComfyUI.

    Raises:
        InputError: BAD_OPTION when nothing in it can be used.
    """
    try:
        given = json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        raise _unusable() from None
    if not isinstance(given, dict):
        raise _unusable()
    if given.get("format") == FORMAT and isinstance(given.get("settings"), dict):
        found = {name: given["settings"][name] for name in FIELDS if name in given["settings"]}
        has_duration = False
    else:
        named = dict(_comfy_inputs(given))
        found = {
            ours: named[theirs] for theirs, ours in COMFY_FIELDS.items() if _is_plain(named, theirs)
        }
        has_duration = IGNORED in named
    values = _usable(found)
    if not values and not has_duration:
        raise _unusable()
    return Recipe(values, has_duration)


def _comfy_inputs(given: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The fields of Sonic's nodes: given alone, by node name, or within a workflow."""
    known = {*COMFY_FIELDS, IGNORED}
    yield from ((name, value) for name, value in given.items() if name in known)
    for name, node in given.items():
        if not isinstance(node, dict):
            continue
        inputs = node.get("inputs")
        if name in COMFY_NODES:
            yield from node.items()
        elif node.get("class_type") in COMFY_NODES and isinstance(inputs, dict):
            yield from inputs.items()


def _is_plain(named: Mapping[str, Any], name: str) -> bool:
    """Whether it is a value; in a workflow it may be a wire to another node."""
    return isinstance(named.get(name), int | float | str | bool)


def _usable(found: Mapping[str, Any]) -> dict[str, Any]:
    """The values as the controls take them, moved into their ranges.

    Raises:
        InputError: BAD_OPTION, naming the first value that cannot be used.
    """
    values = dict(found)
    try:
        for name, (lowest, highest) in _RANGES.items():
            if name in values:
                values[name] = min(max(float(values[name]), lowest), highest)
        for name in ("size", "steps"):
            if name in values:
                values[name] = round(float(values[name]))
        if values.get("size"):
            values["size"] = min(max(64 * round(values["size"] / 64), 256), 1024)
        if "fps" in values:
            values["fps"] = min(FPS, key=lambda rate: abs(rate - float(values["fps"])))
    except (TypeError, ValueError, OverflowError):
        raise _unusable() from None
    if any(name in values and not isinstance(values[name], bool) for name in _SWITCHES):
        raise _unusable()
    if "seed" in values:
        seed = str(values["seed"] if values["seed"] is not None else "").strip()
        values["seed"] = str(int(seed) % 2**31) if seed.isdecimal() else ""
    _check(values)
    return values


_SWITCHES = (
    *("burn", "allow_smaller", "hear_words", "highlight_words"),
    *("level_sound", "reduce_noise", "trim_silence"),
)

_RANGES = {
    "dynamic_scale": (0.3, 2.0),
    "motion_scale": (0.0, 2.0),
    "smoothing": (0.0, 2.0),
    "expand": (AS_FRAMING, 1.0),
    "steps": (0, 50),
}


def _check(values: Mapping[str, Any]) -> None:
    """Have the engine's own types refuse what is of another kind."""
    names = {
        *("framing", "aspect", "preset", "animator", "background", "calibrate", "allow_smaller"),
        *("dynamic_scale", "motion_scale", "smoothing", "fps"),
    }
    parse_options({name: value for name, value in values.items() if name in names & _OPTION_NAMES})


_OPTION_NAMES = set(RenderOptions.model_fields)


def _unusable() -> InputError:
    return InputError(
        ErrorCode.BAD_OPTION, option="recipe", reason="this file holds no settings of Sonic"
    )
