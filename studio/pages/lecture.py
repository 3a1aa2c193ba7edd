"""The Lecture page: slides, words, a presenter, make; the lecture in the making."""

import base64
import html
from typing import Any

import gradio as gr

from engine.contracts import JobRecord
from engine.errors import EngineError, ErrorCode
from studio.context import Studio
from studio.failures import guarded
from studio.language import in_visitors_language
from studio.lecture_form import LectureForm
from studio.locales import current_locale, explain, say
from studio.parts.action_html import action_data
from studio.parts.dub_photo import DubPhoto, create_dub_photo
from studio.parts.form_keeper import KeptForm, create_clear_button, keep_form
from studio.parts.lecture_card import lecture_panel_html
from studio.parts.lecture_look import create_look_input
from studio.parts.lecture_slides import (
    HAND_OVER,
    LectureSlides,
    create_cards,
    create_preview_place,
    create_recordings_input,
    create_slides_input,
    preview_html,
)
from studio.parts.quiet import QUIET
from studio.parts.readiness import Need, connect_needs, create_waiting_button
from studio.parts.workbench import (
    Submission,
    connect_make,
    create_heading,
    create_panel,
    keep_fresh,
)

NUM_LOOKED_AT = 50


def create_lecture_page(studio: Studio, own_tab: gr.Tab) -> gr.Timer:
    """Build the page and connect it.

    Args:
        studio: the engine and who is asking.
        own_tab: of this page; the form is filled again when it is opened.

    Returns:
        The timer that keeps the progress fresh; it needs to run only while the page is seen.
    """
    gr.Markdown(say("lecture.intro"), elem_classes="hint")
    photo, given, preview = _create_first_steps(studio)
    fields: dict[str, Any] = {"portrait": photo.upload, "face": photo.face}
    fields |= {name: getattr(given, name) for name in ("slides", "recordings", "times")}
    with gr.Column(elem_classes="step", elem_id="lecture-make"):
        create_heading("3", say("lecture.step_look"))
        look, pair = create_look_input(studio, own_tab)
        fields |= vars(look)
        form = KeptForm("lecture", dict(fields), photo.next_face, pair)
        fields["consent"] = gr.Checkbox(
            label=say("consent.label"), elem_id="lecture-consent", container=False
        )
        needs = _needs()
        waiting = create_waiting_button(say("lecture.generate"), "lecture", needs)
        create_clear_button(form, fields["consent"])
    looked_at = {name: fields[name] for name in ("slides", "portrait", "layout", "consent")}
    connect_needs(looked_at, needs, waiting)
    fields["rows"] = given.rows
    engine = studio.engine

    def draw(owner: str) -> tuple[str, bool]:
        """The newest lecture of one person."""
        records = engine.list_for(owner, NUM_LOOKED_AT)
        newest = next((record for record in records if record.spec.lecture is not None), None)
        if newest is None:
            return "", False
        return _panel_html(studio, newest, owner), not newest.status.is_final

    def submit(asked: Submission) -> None:
        wanted = _form_of(asked.given).request(current_locale().tag)
        engine.lectures.submit(
            wanted, asked.owner, idempotency_key=asked.key, address=asked.address
        )

    def act(action: str, job_id: str, owner: str) -> None:
        match action:
            case "cancel":
                engine.cancel(job_id, owner)
            case "retry":
                engine.retry(job_id, owner)

    panel = create_panel("lecture-panel", draw)
    connect_make(studio, panel, fields, (waiting[1], HAND_OVER), submit)
    keep_fresh(studio, panel, act, own_tab)
    keep_form(studio, form, pair.offered.then)
    _connect_preview(studio, fields, given.cards, preview)
    return panel.timer


def _create_first_steps(studio: Studio) -> tuple[DubPhoto, LectureSlides, gr.HTML]:
    """Build the steps 1 and 2, and the place where the look at one slide is shown."""
    with gr.Row(elem_id="lecture", elem_classes="workbench", equal_height=False):
        with gr.Column(elem_classes="step", min_width=300, scale=1):
            create_heading("1", say("lecture.step_slides"))
            slides = create_slides_input()
            photo = create_dub_photo(studio, "lecture")
            recordings, times = create_recordings_input()
        with gr.Column(elem_classes="step", min_width=300, scale=2):
            create_heading("2", say("lecture.step_words"))
            given = create_cards(studio, slides, recordings, times)
            preview = create_preview_place()
    return photo, given, preview


def _needs() -> list[Need]:
    return [
        ("slides?.length", say("check.no_slides")),
        ("portrait || layout === 'off'", explain(ErrorCode.PORTRAIT_MISSING).hint),
        ("consent", say("check.no_consent")),
    ]


def _form_of(given: dict[str, Any]) -> LectureForm:
    given |= {name: given[name] or "" for name in ("rows", "times", "title", "subtitle")}
    given["slides"] = tuple(given["slides"] or ())
    given["recordings"] = tuple(given["recordings"] or ())
    return LectureForm(**given)


def _connect_preview(
    studio: Studio, fields: dict[str, Any], cards: gr.HTML, preview: gr.HTML
) -> None:
    """Show the first words of one slide, small, within seconds."""
    number = gr.Number(0, precision=0, visible=False)

    def asked(event: gr.EventData) -> tuple[int, str, Any]:
        data = action_data(event)
        waiting = f'<p class="hint" role="status">{html.escape(say("lecture.preview_wait"))}</p>'
        shown = gr.update(value=waiting, visible=True)
        return int(data.get("number") or 1), data.get("rows", "[]"), shown

    @guarded
    def look(values: dict[Any, Any]) -> Any:  # noqa: ANN401 - a Gradio update
        form = _form_of({name: values[control] for name, control in fields.items()})
        wanted = form.request(current_locale().tag)
        # Nothing is kept of a look, so it needs no statement; recordings are left out.
        wanted = wanted.model_copy(update={"consent": True, "audio": (), "times": None})
        video = studio.engine.lectures.preview(wanted, int(values[number]))
        try:
            return gr.update(value=preview_html(video, int(values[number])), visible=True)
        finally:
            video.unlink(missing_ok=True)

    def give_up() -> Any:  # noqa: ANN401 - a Gradio update
        return gr.update(value="", visible=False)

    pressed = cards.action(
        in_visitors_language(asked), None, [number, fields["rows"], preview], **QUIET
    )
    looked = pressed.then(look, {*fields.values(), number}, preview, **QUIET)
    looked.failure(give_up, None, preview, **QUIET)


def _panel_html(studio: Studio, record: JobRecord, owner: str) -> str:
    live, starts_in_s = "", None
    try:
        starts_in_s = studio.engine.expected_start_s(record.job_id, owner)
        picture = studio.engine.live_picture(record.job_id, owner)
        live = base64.b64encode(picture.read_bytes()).decode() if picture is not None else ""
    except (EngineError, FileNotFoundError):
        live = ""  # it was deleted or came between two lines
    return lecture_panel_html(record, live, starts_in_s)
