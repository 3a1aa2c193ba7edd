"""The photo of a dub: what was found in it, and which face speaks."""

import base64
import html
from dataclasses import dataclass
from typing import Any

import gradio as gr

from engine.contracts import PortraitVerdict, RenderOptions
from engine.errors import EngineError, ErrorCode
from studio.context import Studio
from studio.failures import guarded
from studio.locales import explain, say
from studio.parts.action_html import action_data, create_action_html
from studio.parts.portrait_input import LARGEST_FACE, TAKE_NEXT_FACE, photo_card_html
from studio.parts.quiet import QUIET
from studio.parts.uploads import PortraitUpload

# In the browser, so that it is done before the photo is looked at.
_TAKE_NEXT_FACE = f"(photo, next) => ({TAKE_NEXT_FACE})(photo, next)[0]"


@dataclass(frozen=True)
class DubPhoto:
    """The controls others read; `next_face` is `folder|number|`, for the photo of that folder."""

    upload: gr.Image
    face: gr.Number
    next_face: gr.Textbox


def create_dub_photo(studio: Studio, name: str = "dub") -> DubPhoto:
    """Build the photo.

    Args:
        studio: looks at the photo.
        name: of the page, for the ids of its elements.
    """
    upload = PortraitUpload(
        type="filepath",
        image_mode=None,
        sources=["upload", "clipboard"],
        label=say("photo.upload"),
        placeholder=say("photo.placeholder"),
        height=260,
        buttons=[],
        elem_id=f"{name}-photo-upload",
    )
    preview = create_action_html(f"{name}-photo", visible=False)
    another = gr.Button(
        say("photo.another"), visible=False, size="sm", elem_id=f"{name}-photo-another"
    )
    face = gr.Number(LARGEST_FACE, precision=0, visible=False)
    next_face = gr.Textbox("", visible=False)
    shown = [upload, preview, another]

    @guarded
    def look(path: str | None, number: float | None) -> tuple[Any, ...]:
        card = _card_html(studio, path, int(number if number is not None else LARGEST_FACE))
        has_photo = path is not None
        return (
            gr.update(visible=not has_photo),
            gr.update(value=card, visible=has_photo),
            gr.update(visible=has_photo),
        )

    def pick(event: gr.EventData) -> int:
        return int(action_data(event).get("face", LARGEST_FACE))

    changed = upload.change(
        None, [upload, next_face], face, js=_TAKE_NEXT_FACE, show_progress="hidden"
    )
    changed.then(look, [upload, face], shown, **QUIET)
    preview.action(pick, None, face, **QUIET).then(look, [upload, face], shown, **QUIET)
    another.click(lambda: None, None, upload, **QUIET)
    return DubPhoto(upload, face, next_face)


def _card_html(studio: Studio, path: str | None, face: int) -> str:
    if path is None:
        return ""
    options = RenderOptions(face_index=face if face >= 0 else None)
    try:
        report = studio.engine.check(path, options=options)
        verdict = report.portrait or PortraitVerdict()
        preview = studio.engine.preview_portrait(path, options)
        picture = base64.b64encode(preview.read_bytes()).decode()
        preview.unlink()
    except EngineError as error:
        return photo_card_html(None, PortraitVerdict(verdict=error.code, values=error.values))
    told = [explain(ErrorCode(code), dict(verdict.values)) for code in verdict.warnings]
    notes = "".join(f'<p class="note">{html.escape(message.sentence)}</p>' for message in told)
    return photo_card_html(picture, verdict) + notes
