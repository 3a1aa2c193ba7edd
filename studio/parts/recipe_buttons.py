"""Save the settings as a file, and load them from one."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gradio as gr

from engine.errors import ErrorCode, InputError
from studio.again import AS_FRAMING, kept
from studio.failures import guarded
from studio.form import FormValues
from studio.locales import say
from studio.parts.quality import AS_PRESET, BACKGROUNDS, CALIBRATIONS, EXPANDS, SIZES, STEPS
from studio.parts.quiet import QUIET
from studio.parts.uploads import RecipeUpload
from studio.recipe import FIELDS, MAX_BYTES, read_recipe, write_recipe

FILE_NAME = "sonic-studio-recipe.json"

_SAVE = f"""(text) => {{
  if (!text) return;
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], {{type: 'application/json'}}));
  link.download = '{FILE_NAME}';
  link.click();
  URL.revokeObjectURL(link.href);
}}"""


def create_recipe_buttons() -> tuple[gr.Button, gr.UploadButton]:
    """Build the two buttons."""
    with gr.Row(elem_classes="pair"):
        save = gr.Button(say("recipe.save"), size="sm", elem_id="recipe-save")
        load = RecipeUpload(say("recipe.load"), size="sm", elem_id="recipe-load")
    gr.Markdown(say("recipe.hint"), elem_classes="hint")
    return save, load


def connect_recipe(fields: Mapping[str, Any], buttons: tuple[gr.Button, gr.UploadButton]) -> None:
    """Connect the buttons to the form.

    Args:
        fields: the controls of the form by the names of `FormValues`.
        buttons: to save and to load.
    """
    save, load = buttons
    written = gr.Textbox(visible="hidden", elem_id="recipe-text")
    controls = [fields[name] for name in FIELDS]

    @guarded
    def write(values: dict[Any, Any]) -> str:
        return write_recipe(FormValues.read(fields, values))

    @guarded
    def read(path: str | None) -> tuple[Any, ...]:
        return filled(Path(path)) if path else tuple(gr.skip() for _ in FIELDS)

    saved = save.click(write, set(fields.values()), written, **QUIET)
    saved.success(None, written, None, js=_SAVE)
    load.upload(read, load, controls, **QUIET)


def filled(path: Path) -> tuple[Any, ...]:
    """The values of the controls a file names, in the order of `FIELDS`; the others stay.

    Raises:
        InputError: FILE_TOO_LARGE, or BAD_OPTION when nothing in it can be used.
    """
    size = path.stat().st_size
    if size > MAX_BYTES:
        limit_mb = MAX_BYTES / 1e6
        raise InputError(ErrorCode.FILE_TOO_LARGE, size_mb=round(size / 1e6, 1), limit_mb=limit_mb)
    recipe = read_recipe(path.read_bytes())
    values = dict(recipe.values)
    offered = {
        "size": (SIZES, AS_PRESET),
        "steps": (STEPS, AS_PRESET),
        "expand": (EXPANDS, AS_FRAMING),
    }
    for name, (choices, otherwise) in offered.items():
        if name in values:
            values[name] = min(choices, key=lambda choice: abs(choice - values[name]))
            values[name] = kept(values[name], choices, otherwise)
    if "calibrate" in values:
        values["calibrate"] = kept(str(values["calibrate"]), CALIBRATIONS, "auto")
    if "background" in values:
        values["background"] = kept(values["background"], BACKGROUNDS, "white")
    gr.Info(say("recipe.loaded", count=len(values)))
    if recipe.has_duration:
        gr.Info(say("recipe.duration"))
    return tuple(values.get(name, gr.skip()) for name in FIELDS)
