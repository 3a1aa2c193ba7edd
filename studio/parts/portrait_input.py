"""Step 1: the photo, what was found in it, and which face speaks."""

import base64
import html
import random
from dataclasses import dataclass
from typing import Any

import gradio as gr

from engine.contracts import CheckReport, FaceFound, PortraitVerdict
from engine.errors import EngineError, ErrorCode
from studio.context import Studio
from studio.form import FormValues, parse_options
from studio.locales import explain, say
from studio.parts.action_html import action_data, create_action_html
from studio.parts.face_marking import marking_html, pins_html
from studio.parts.photo_tips import tips_html
from studio.parts.quiet import QUIET
from studio.parts.samples import SAMPLES, SAMPLES_DIR, thumb
from studio.parts.uploads import PortraitUpload

LARGEST_FACE = -1

# Share of the picture's height that the number of a face takes.
ROOM_FOR_NUMBER = 0.1

# The next face is `folder of the photo|number|points`, so that it counts for that photo only.
TAKE_NEXT_FACE = f"""(photo, next) => {{
  const [folder, face, points] = (next || '').split('|');
  const isNext = folder && photo?.path?.includes(folder);
  return isNext ? [Number(face), points || ''] : [{LARGEST_FACE}, ''];
}}"""


@dataclass(frozen=True)
class PortraitInput:
    """The controls of step 1 that others read.

    Attributes:
        upload, face, points, framing, aspect: what the person chose.
        next_face: `folder|number|points`, the face to choose in the photo of that folder.
        samples: the sample portraits; one of its buttons asks for a surprise.
        shown: what `show_photo` changes, in its order.
    """

    upload: gr.Image
    face: gr.Number
    points: gr.Textbox
    framing: gr.Radio
    aspect: gr.Radio
    next_face: gr.Textbox
    samples: gr.HTML
    shown: list[Any]


def create_portrait_input() -> PortraitInput:
    """Build step 1."""
    upload = PortraitUpload(
        type="filepath",
        image_mode=None,
        sources=["upload", "webcam", "clipboard"],
        label=say("photo.upload"),
        placeholder=say("photo.placeholder"),
        height=300,
        buttons=[],
        elem_id="photo-upload",
    )
    preview = create_action_html("photo-preview", visible=False)
    another = gr.Button(say("photo.another"), visible=False, size="sm", elem_id="photo-another")
    samples = create_action_html("photo-samples", _samples_html())
    face = gr.Number(LARGEST_FACE, precision=0, visible=False)
    points = gr.Textbox("", visible=False)
    next_face = gr.Textbox("", visible=False)
    framing = gr.Radio(
        [
            (say("photo.framing_full"), "full"),
            (say("photo.framing_bust"), "bust"),
            (say("photo.framing_face"), "face"),
        ],
        value="full",
        label=say("photo.framing"),
        elem_id="framing",
        elem_classes="segmented",
    )
    aspect = gr.Radio(
        [
            (say("photo.aspect_source"), "source"),
            (say("photo.aspect_square"), "1:1"),
            (say("photo.aspect_tall"), "9:16"),
            (say("photo.aspect_wide"), "16:9"),
        ],
        value="source",
        label=say("photo.aspect"),
        elem_id="aspect",
        elem_classes="segmented",
    )
    with gr.Accordion(say("tips.title"), open=False, elem_id="photo-tips"):
        gr.HTML(tips_html(), apply_default_css=False)

    def pick(event: gr.EventData) -> tuple[Any, Any]:
        """A face that was found, or the points where one was marked."""
        data = action_data(event)
        if data.get("action") == "points":
            return LARGEST_FACE, data.get("points", "")
        return int(data.get("face", LARGEST_FACE)), gr.skip()

    def take_sample(event: gr.EventData) -> str | None:
        data = action_data(event)
        name = random.choice(SAMPLES) if data.get("action") == "surprise" else data.get("sample")  # noqa: S311 - a portrait, no secret
        return str(SAMPLES_DIR / f"{name}.jpg") if name in SAMPLES else None

    # In the browser, so that it is done before the photo is looked at.
    chosen = [face, points]
    upload.change(None, [upload, next_face], chosen, js=TAKE_NEXT_FACE, show_progress="hidden")
    preview.action(pick, None, chosen, **QUIET)
    samples.action(take_sample, None, upload, **QUIET)
    another.click(lambda: None, None, upload, **QUIET)
    return PortraitInput(
        upload=upload,
        face=face,
        points=points,
        framing=framing,
        aspect=aspect,
        next_face=next_face,
        samples=samples,
        shown=[upload, preview, another, samples],
    )


def show_photo(studio: Studio, form: FormValues, report: CheckReport | None) -> tuple[Any, ...]:
    """Show what the engine sees in the photo instead of the upload box.

    Args:
        studio: for the decoded picture.
        form: its photo; none brings the upload box back.
        report: of the check.

    Returns:
        The updates of `PortraitInput.shown`.
    """
    has_photo = form.portrait is not None
    verdict = report.portrait if report is not None else None
    card = _photo_card(studio, form, verdict or PortraitVerdict()) if has_photo else ""
    return (
        gr.update(visible=not has_photo),
        gr.update(value=card, visible=has_photo),
        gr.update(visible=has_photo),
        gr.update(visible=not has_photo),
    )


def _photo_card(studio: Studio, form: FormValues, verdict: PortraitVerdict) -> str:
    how = parse_options({"background": form.background, "face_points": form.points or None})
    try:
        preview = studio.engine.preview_portrait(form.portrait or "", how)
        picture = base64.b64encode(preview.read_bytes()).decode()
        preview.unlink()
    except EngineError:
        picture = None
    return photo_card_html(picture, verdict, is_marked=bool(form.points))


def photo_card_html(
    picture: str | None, verdict: PortraitVerdict, *, is_marked: bool = False
) -> str:
    """The photo as the engine sees it, a frame around each face, and what is wrong with it.

    Args:
        picture: base64 of the upright JPEG, or None when it could not be decoded.
        verdict: of the check.
        is_marked: whether the face was marked by hand.
    """
    note = ""
    if verdict.verdict != "ok":
        message = explain(ErrorCode(verdict.verdict), dict(verdict.values))
        note = (
            f'<p class="note refused" role="alert"><strong>{html.escape(message.sentence)}</strong>'
            f" {html.escape(message.hint)}</p>"
        )
    if picture is None or not verdict.width_px or not verdict.height_px:
        unreadable = html.escape(say("photo.unreadable"))
        return f'<div class="photo-frame empty"><span>{unreadable}</span></div>{note}'
    several = len(verdict.faces) > 1
    area = _area_of(verdict)
    boxes = "".join(
        _face_html(number, face, verdict, area, is_choice=several)
        for number, face in enumerate(verdict.faces)
    )
    hints = [say("photo.pick_hint")] if several else []
    hints += [say("photo.shown_hint")] if verdict.shown is not None else []
    hint = f'<p class="note">{html.escape(" ".join(hints))}</p>' if hints else ""
    picture_place = _place((0, 0, verdict.width_px, verdict.height_px), area)
    may_mark = not verdict.faces or verdict.verdict in _MARKABLE
    pins = pins_html() if may_mark else ""
    marking = marking_html(is_marked=is_marked) if may_mark or is_marked else ""
    return (
        f'<div class="photo-frame"><div class="photo" style="--ratio:{area[2] / area[3]:.4f}">'
        f'<img src="data:image/jpeg;base64,{picture}" style="{picture_place}" '
        f'alt="{html.escape(_alt(verdict))}">{_shown_html(verdict, area)}'
        f"{boxes}{pins}</div></div>{marking}{hint}{note}"
    )


# Where a face is not found, or not well, a person may show where it is.
_MARKABLE = {ErrorCode.NO_FACE, ErrorCode.FACE_TURNED, ErrorCode.FACE_CUT_OFF}

Box = tuple[int, int, int, int]


def _area_of(verdict: PortraitVerdict) -> Box:
    """What is drawn: the photo, and what the video shows beyond its edges."""
    width, height = verdict.width_px or 1, verdict.height_px or 1
    x, y, shown_width, shown_height = verdict.shown or (0, 0, width, height)
    left, top = min(x, 0), min(y, 0)
    right, bottom = max(x + shown_width, width), max(y + shown_height, height)
    return left, top, right - left, bottom - top


def _place(box: Box, area: Box) -> str:
    """Where a box lies in an area, as CSS."""
    x, y, width, height = box
    return (
        f"left:{100 * (x - area[0]) / area[2]:.2f}%;top:{100 * (y - area[1]) / area[3]:.2f}%;"
        f"width:{100 * width / area[2]:.2f}%;height:{100 * height / area[3]:.2f}%"
    )


def _shown_html(verdict: PortraitVerdict, area: Box) -> str:
    """A frame around what the video will show; everything else is dimmed."""
    if verdict.shown is None:
        return ""
    return f'<span class="shown" style="{_place(verdict.shown, area)}"></span>'


def _alt(verdict: PortraitVerdict) -> str:
    count = len(verdict.faces)
    known = {0: say("photo.alt_none"), 1: say("photo.alt_one")}
    return say("photo.alt", faces=known.get(count) or say("photo.alt_many", count=count))


def _face_html(
    number: int, face: FaceFound, verdict: PortraitVerdict, area: Box, *, is_choice: bool
) -> str:
    place = _place(face.box, area)
    is_chosen = number == verdict.chosen
    css = "face chosen" if is_chosen else "face"
    if not is_choice:
        return f'<span class="{css}" style="{place}"></span>'
    # The number stands above the face, below it where there is no room above.
    css += " low" if face.box[1] - area[1] < ROOM_FOR_NUMBER * area[3] else ""
    key = "photo.face_chosen" if is_chosen else "photo.face_pick"
    label = html.escape(say(key, number=number + 1))
    return (
        f'<button type="button" class="{css}" style="{place}" data-action="face" '
        f'data-face="{number}" aria-pressed="{str(is_chosen).lower()}" aria-label="{label}">'
        f"<span>{number + 1}</span></button>"
    )


def _samples_html() -> str:
    buttons = []
    for name in SAMPLES:
        label = html.escape(say("photo.sample", name=say(f"sample.{name}")))
        buttons.append(
            f'<button type="button" data-action="sample" data-sample="{name}" '
            f'aria-label="{label}" title="{html.escape(say(f"sample.{name}"))}">'
            f'<img src="{thumb(name)}" alt=""></button>'
        )
    buttons.append(
        '<button type="button" class="plain" data-action="surprise">'
        f"{html.escape(say('surprise.button'))}</button>"
    )
    return (
        f'<div class="samples"><span>{html.escape(say("photo.samples"))}</span>'
        f"<div>{''.join(buttons)}</div></div>"
    )
