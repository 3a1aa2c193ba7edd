"""Forms that are there again after a reload: words and choices from this browser, files from here.

The browser keeps what was typed and chosen. Of files it keeps a signed note each, made for whoever
uploaded them; only that visitor gets them back, and only while they are still here. What another
visitor of the same browser left behind is thrown away unseen.
"""

import html
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gradio as gr
from gradio.utils import get_upload_folder

from studio.context import Studio
from studio.failures import guarded
from studio.locales import say
from studio.parts.action_html import action_data, create_action_html
from studio.parts.job_card import button_html
from studio.parts.portrait_input import LARGEST_FACE
from studio.parts.quiet import QUIET
from studio.parts.voice_choices import BEST_VOICE, VoicePair, voice_choices
from studio.session import Visitors

MAX_CHARACTERS = 200_000
_COLOUR = re.compile(r"#[0-9a-fA-F]{6}")
_FACE = ("face", "points")


@dataclass(frozen=True)
class KeptForm:
    """A form to keep.

    Attributes:
        name: of the page.
        fields: its controls by name; `portrait`, `face`, `points`, `language` and `voice` are
            known by these names.
        next_face: `folder|number|points`, the face to choose in the photo of that folder.
        pair: language and voice; None when the form has none.
    """

    name: str
    fields: Mapping[str, Any]
    next_face: gr.Textbox
    pair: VoicePair | None = None

    @property
    def files(self) -> list[str]:
        """Names of the controls that hold files."""
        return [
            name
            for name, control in self.fields.items()
            if isinstance(control, gr.Image | gr.Audio | gr.File)
        ]

    @property
    def plain(self) -> list[str]:
        """Names of the others."""
        return [name for name in self.fields if name not in self.files]

    @property
    def outputs(self) -> list[Any]:
        """What filling the form changes, in the order of `_filled`."""
        names = [name for name in self.fields if name not in _FACE]
        wanted = [self.pair.wanted] if self.pair is not None else []
        return [*(self.fields[name] for name in names), self.next_face, *wanted]


def keep_form(studio: Studio, form: KeptForm, when: Any) -> None:  # noqa: ANN401 - of an event or a tab
    """Keep the form while it is filled in, and fill it again.

    Args:
        studio: the engine and who is asking.
        form: what to keep.
        when: registers what is done to fill it, such as `tab.select`.
    """
    notes = gr.Textbox("", visible="hidden", elem_id=f"{form.name}-notes")
    kept = gr.Textbox("", visible="hidden", elem_id=f"{form.name}-kept")
    whose = gr.Textbox("", visible="hidden", elem_id=f"{form.name}-whose")
    files = [form.fields[name] for name in form.files]
    filled_in = [*form.outputs, whose, notes]

    @guarded
    def note(values: dict[Any, Any], request: gr.Request) -> str:
        owner = studio.visitors.owner_of(request)
        given = {name: values[form.fields[name]] for name in form.files}
        return written_notes(studio.visitors, owner, given)

    @guarded
    def fill(stored: str | None, request: gr.Request) -> tuple[Any, ...]:
        owner = studio.visitors.owner_of(request)
        if not stored:  # it was filled before
            return tuple(gr.skip() for _ in filled_in)
        given = _parsed(stored)
        told = _parsed(given.get("notes"))
        if told and studio.visitors.signer.verified(str(told.get("who"))) != f"who|{owner}":
            nothing = (gr.skip() for _ in form.outputs)
            return *nothing, "stranger", written_notes(studio.visitors, owner, {})
        paths = {name: noted_paths(studio.visitors, owner, told.get(name)) for name in form.files}
        if any(told.get(name) and not paths[name] for name in form.files):
            gr.Info(say("form.gone"))
        values = _filled(studio, form, given, paths)
        return *values, "own", written_notes(studio.visitors, owner, paths)

    asked = [*(form.fields[name] for name in form.plain), notes]
    names = json.dumps([*form.plain, "notes"])
    keep = f"(...values) => window.studioForms?.keep('{form.name}', {names}, values)"
    changes = [file.change for file in files]
    gr.on(changes, note, set(files), notes, trigger_mode="always_last", **QUIET)
    for each in asked:
        each.change(None, asked, None, js=keep, trigger_mode="multiple", show_progress="hidden")
    recall = f"() => [window.studioForms?.recall('{form.name}') || '']"
    filled = when(fill, kept, filled_in, js=recall, **QUIET)
    ready = f"(whose) => {{ window.studioForms?.ready('{form.name}', whose); }}"
    filled.then(None, whose, None, js=ready, show_progress="hidden")


def create_clear_button(form: KeptForm, consent: gr.Checkbox) -> None:
    """Build the way to an empty form, which asks before it does it."""
    question = (
        f'<details class="confirm"><summary>{html.escape(say("form.clear"))}</summary>'
        f"<div><span>{html.escape(say('form.clear_sure'))}</span>"
        f"{button_html('clear', '', say('form.clear_yes'), 'stop')}"
        f"{button_html('keep', '', say('recent.confirm_no'))}</div></details>"
    )
    place = create_action_html(f"{form.name}-clear", question)
    names = [name for name in form.fields if name not in _FACE]

    def clear(event: gr.EventData) -> tuple[Any, ...]:
        if action_data(event).get("action") != "clear":
            return tuple(gr.skip() for _ in (*form.outputs, consent))
        moving = ("language", "voice")
        values = [gr.skip() if name in moving else form.fields[name].value for name in names]
        wanted = [BEST_VOICE] if form.pair is not None else []
        return *values, "", *wanted, False

    cleared = place.action(clear, None, [*form.outputs, consent], **QUIET)
    emptied = f"() => {{ window.studioForms?.emptied('{form.name}'); }}"
    cleared.then(None, None, None, js=emptied, show_progress="hidden")


def written_notes(visitors: Visitors, owner: str, files: Mapping[str, Any]) -> str:
    """Signed notes of uploaded files as JSON: a list for each control that holds any.

    Args:
        visitors: whose key signs.
        owner: who uploaded them.
        files: a path, several, or None by name of the control.
    """
    signed = visitors.signer.signed
    notes: dict[str, Any] = {"who": signed(f"who|{owner}")}
    for name, given in files.items():
        paths = given if isinstance(given, list) else [given] if given else []
        if paths:
            notes[name] = [signed(f"upload|{owner}|{path}") for path in paths]
    return json.dumps(notes)


def noted_paths(visitors: Visitors, owner: str, notes: object) -> list[str]:
    """The files of notes that were made for this owner; none unless all are still here."""
    uploads = Path(get_upload_folder()).resolve()
    found = []
    for note in notes if isinstance(notes, list) else []:
        content = visitors.signer.verified(str(note)) or ""
        mark = f"upload|{owner}|"
        path = Path(content.removeprefix(mark))
        is_ours = content.startswith(mark) and path.resolve().is_relative_to(uploads)
        if not is_ours or not path.is_file():
            return []
        found.append(str(path))
    return found


def fitting(control: Any, value: Any) -> Any:  # noqa: ANN401 - of any control
    """The value where this control takes it, else None."""
    match control:
        case gr.Checkbox():
            return value if isinstance(value, bool) else None
        case gr.Radio() | gr.Dropdown():
            return value if value in [choice for _, choice in control.choices] else None
        case gr.Slider() | gr.Number():
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            low = control.minimum if control.minimum is not None else float("-inf")
            high = control.maximum if control.maximum is not None else float("inf")
            return value if is_number and low <= value <= high else None
        case gr.ColorPicker():
            return value if isinstance(value, str) and _COLOUR.fullmatch(value) else None
        case gr.Textbox():
            return value[: control.max_length] if isinstance(value, str) else None
    return None


def _filled(
    studio: Studio, form: KeptForm, given: Mapping[str, Any], paths: Mapping[str, list[str]]
) -> tuple[Any, ...]:
    """The values of `KeptForm.outputs`; what is not known stays as it is."""
    values: dict[str, Any] = {}
    for name, control in form.fields.items():
        if name in form.files:
            found = paths[name]
            is_many = isinstance(control, gr.File) and control.file_count == "multiple"
            values[name] = (found if is_many else found[0]) if found else gr.skip()
        else:
            value = fitting(control, given.get(name))
            values[name] = gr.skip() if value is None else value
    face, points = given.get("face"), given.get("points") or ""
    number = int(face) if isinstance(face, int | float) else LARGEST_FACE
    photo = paths.get("portrait")
    next_face = f"{Path(photo[0]).parent.name}|{number}|{points}" if photo else ""
    shown = [values[name] for name in form.fields if name not in _FACE and name not in _PAIR]
    if form.pair is None:
        return *shown, next_face
    pair = _filled_pair(studio, given)
    ordered = [
        pair[name] if name in _PAIR else values[name] for name in form.fields if name not in _FACE
    ]
    return *ordered, next_face, pair["wanted"]


_PAIR = ("language", "voice")


def _filled_pair(studio: Studio, given: Mapping[str, Any]) -> dict[str, Any]:
    """Language and voice, as far as both are still here."""
    tag, voice = given.get("language"), str(given.get("voice") or BEST_VOICE)
    voices = studio.engine.voices(tag) if isinstance(tag, str) and tag else []
    if not voices:
        return {"language": gr.skip(), "voice": gr.skip(), "wanted": gr.skip()}
    choices = voice_choices(voices)
    known = voice if voice in {voice_id for _, voice_id in choices} else BEST_VOICE
    return {"language": tag, "voice": gr.update(choices=choices, value=known), "wanted": known}


def _parsed(text: object) -> dict[str, Any]:
    """An object of JSON; what is none counts as empty."""
    if not isinstance(text, str) or len(text) > MAX_CHARACTERS:
        return {}
    try:
        given = json.loads(text or "{}")
    except ValueError:
        return {}
    return given if isinstance(given, dict) else {}
