"""The Lecture page: slides, words, a presenter, make; the lecture in the making."""

import base64
import html
import logging
import uuid
from typing import Any

import gradio as gr

from engine.contracts import JobRecord
from engine.errors import EngineError
from studio.context import Studio
from studio.failures import guarded
from studio.language import in_visitors_language
from studio.lecture_form import LectureForm
from studio.locales import current_locale, say
from studio.parts.action_html import action_data, create_action_html
from studio.parts.dub_photo import create_dub_photo
from studio.parts.jobs_section import QUIET
from studio.parts.lecture_card import lecture_panel_html
from studio.parts.lecture_look import create_look_input
from studio.parts.lecture_slides import (
    HAND_OVER,
    create_cards,
    create_preview_place,
    create_recordings_input,
    create_slides_input,
    preview_html,
)

_log = logging.getLogger(__name__)

NUM_LOOKED_AT = 50
LIVE_TICK_S = 1.0
IDLE_TICK_S = 5.0

_SCROLL_TO_PANEL = """() => setTimeout(() => document.getElementById('lecture-panel')
  ?.scrollIntoView({behavior: 'smooth', block: 'start'}), 150)"""


def create_lecture_page(studio: Studio) -> gr.Timer:
    """Build the page and connect it.

    Args:
        studio: the engine and who is asking.

    Returns:
        The timer that keeps the progress fresh; it needs to run only while the page is seen.
    """
    fields: dict[str, Any] = {}
    gr.Markdown(say("lecture.intro"), elem_classes="hint")
    with gr.Row(elem_id="lecture", equal_height=False):
        with gr.Column(elem_classes="step", min_width=300, scale=1):
            _create_heading("1", say("lecture.step_slides"))
            slides = create_slides_input()
            fields["portrait"], fields["face"] = create_dub_photo(studio, "lecture")
            recordings, times = create_recordings_input()
        with gr.Column(elem_classes="step", min_width=300, scale=2):
            _create_heading("2", say("lecture.step_words"))
            given = create_cards(studio, slides, recordings, times)
            preview = create_preview_place()
    with gr.Column(elem_classes="step", elem_id="lecture-make"):
        _create_heading("3", say("lecture.step_look"))
        fields |= vars(create_look_input(studio))
        fields["consent"] = gr.Checkbox(
            label=say("consent.label"), elem_id="lecture-consent", container=False
        )
        generate = gr.Button(
            say("lecture.generate"), variant="primary", size="lg", elem_id="lecture-generate"
        )
    panel = create_action_html("lecture-panel")
    timer = gr.Timer(IDLE_TICK_S, active=False)
    names = ("slides", "recordings", "times", "rows")
    fields |= {name: getattr(given, name) for name in names}
    _connect_generate(studio, fields, generate, [panel, timer])
    _connect_preview(studio, fields, given.cards, preview)
    _connect_panel(studio, panel, timer)
    return timer


def _form_of(fields: dict[str, Any], values: dict[Any, Any]) -> LectureForm:
    given = {name: values[control] for name, control in fields.items()}
    given |= {name: given[name] or "" for name in ("rows", "times", "title", "subtitle")}
    given["slides"] = tuple(given["slides"] or ())
    given["recordings"] = tuple(given["recordings"] or ())
    return LectureForm(**given)


def _connect_generate(
    studio: Studio, fields: dict[str, Any], generate: gr.Button, shown: list[Any]
) -> None:
    """Turn the form into a job; the same form pressed twice is one job."""
    form_id = gr.Textbox(visible="hidden", elem_id="lecture-form-id")

    def new_form_id() -> str:
        return uuid.uuid4().hex

    @guarded
    def make(values: dict[Any, Any], request: gr.Request) -> tuple[Any, ...]:
        owner = studio.visitors.owner_of(request)
        wanted = _form_of(fields, values).request(current_locale().tag)
        studio.engine.lectures.submit(
            wanted,
            owner,
            idempotency_key=values[form_id] or None,
            address=studio.visitors.address_of(request),
        )
        return *_picture(studio, owner), new_form_id()

    handed = generate.click(None, None, fields["rows"], js=HAND_OVER, show_progress="hidden")
    made = handed.then(
        make, {*fields.values(), form_id}, [*shown, form_id], api_visibility="private"
    )
    made.success(None, None, None, js=_SCROLL_TO_PANEL, show_progress="hidden")
    gr.on(None, new_form_id, None, form_id, **QUIET)  # without triggers: when the page is loaded


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
        form = _form_of({**fields, "consent": fields["consent"]}, values)
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


def _connect_panel(studio: Studio, panel: gr.HTML, timer: gr.Timer) -> None:
    """Keep the newest lecture fresh, and do what its buttons say."""
    shown = [panel, timer]

    @in_visitors_language
    def refresh(request: gr.Request) -> tuple[Any, ...]:
        """Everything that changes by itself. A failure leaves the page as it is."""
        try:
            return _picture(studio, studio.visitors.owner_of(request))
        except Exception:  # noqa: BLE001 - a toast every second would help nobody
            _log.exception("the lecture could not be refreshed")
            return gr.skip(), gr.skip()

    @guarded
    def act(event: gr.EventData, request: gr.Request) -> tuple[Any, ...]:
        """Do what a button of the card says, for the owner of the lecture only."""
        owner, data = studio.visitors.owner_of(request), action_data(event)
        job_id = data.get("job", "")
        match data.get("action"):
            case "cancel":
                studio.engine.cancel(job_id, owner)
            case "retry":
                studio.engine.retry(job_id, owner)
        return _picture(studio, owner)

    panel.action(act, None, shown, **QUIET)
    timer.tick(refresh, None, shown, trigger_mode="once", **QUIET)
    gr.on(None, refresh, None, shown, **QUIET)


def _picture(studio: Studio, owner: str) -> tuple[Any, ...]:
    """The newest lecture of one person, and how soon to look again."""
    records = studio.engine.list_for(owner, NUM_LOOKED_AT)
    newest = next((record for record in records if record.spec.lecture is not None), None)
    if newest is None:
        return "", gr.update(value=IDLE_TICK_S)
    is_live = not newest.status.is_final
    tick_s = LIVE_TICK_S if is_live else IDLE_TICK_S
    return _panel_html(studio, newest, owner), gr.update(value=tick_s)


def _panel_html(studio: Studio, record: JobRecord, owner: str) -> str:
    live, starts_in_s = "", None
    try:
        starts_in_s = studio.engine.expected_start_s(record.job_id, owner)
        picture = studio.engine.live_picture(record.job_id, owner)
        live = base64.b64encode(picture.read_bytes()).decode() if picture is not None else ""
    except (EngineError, FileNotFoundError):
        live = ""  # it was deleted or came between two lines
    return lecture_panel_html(record, live, starts_in_s)


def _create_heading(number: str, title: str) -> None:
    gr.HTML(
        f'<h2 class="step-title"><span aria-hidden="true">{number}</span>{html.escape(title)}</h2>',
        apply_default_css=False,
    )
