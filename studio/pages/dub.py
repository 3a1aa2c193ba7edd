"""The Dub page: one photo, a table of rows, make all; the dubs in the making and the last ones."""

import html
import logging
import uuid
from pathlib import Path
from typing import Any

import gradio as gr
from gradio.utils import get_upload_folder

from studio.context import Studio
from studio.dub_form import DubForm
from studio.failures import guarded
from studio.language import in_visitors_language
from studio.locales import say
from studio.parts.action_html import action_data, create_action_html
from studio.parts.batch_card import batches_html
from studio.parts.dub_photo import create_dub_photo
from studio.parts.dub_table import QUIET, create_dub_table

_log = logging.getLogger(__name__)

NUM_SHOWN = 5
LIVE_TICK_S = 1.0
IDLE_TICK_S = 5.0

# The table lives in the browser; it is handed over when the videos are asked for.
_HAND_OVER = "() => window.studioDub?.read() || '[]'"

_SCROLL_TO_BATCH = """() => setTimeout(() => document.getElementById('dub-batches')?.scrollIntoView(
  {behavior: 'smooth', block: 'start'}), 150)"""


def create_dub_page(studio: Studio) -> gr.Timer:
    """Build the page and connect it.

    Args:
        studio: the engine and who is asking.

    Returns:
        The timer that keeps the progress fresh; it needs to run only while the page is seen.
    """
    with gr.Row(elem_id="dub", equal_height=False):
        with gr.Column(elem_classes="step", min_width=300, scale=1):
            _create_heading("1", say("photo.title"))
            portrait, face = create_dub_photo(studio)
            captions, preset = _create_choices()
        with gr.Column(elem_classes="step", min_width=300, scale=2):
            _create_heading("2", say("dub.table"))
            gr.Markdown(say("dub.intro"), elem_classes="hint")
            rows = create_dub_table(studio).rows
            consent = gr.Checkbox(
                label=say("consent.label"), elem_id="dub-consent", container=False
            )
            generate = gr.Button(
                say("dub.generate"), variant="primary", size="lg", elem_id="dub-generate"
            )
    batches = create_action_html("dub-batches")
    timer = gr.Timer(IDLE_TICK_S, active=False)
    fields: dict[str, Any] = {"portrait": portrait, "face": face, "rows": rows}
    fields |= {"preset": preset, "captions": captions, "consent": consent}
    _connect_generate(studio, fields, generate, [batches, timer])
    _connect_batches(studio, batches, timer)
    return timer


def _create_choices() -> tuple[gr.Radio, gr.Radio]:
    captions = gr.Radio(
        [(say(f"dub.captions_{name}"), name) for name in ("srt", "burn", "off")],
        value="srt",
        label=say("dub.captions"),
        elem_id="dub-captions",
        elem_classes="segmented",
    )
    preset = gr.Radio(
        [(say(f"quality.{name}"), name) for name in ("quick", "standard", "hd")],
        value="quick",
        label=say("quality.label"),
        elem_id="dub-quality",
        elem_classes="cards",
    )
    return captions, preset


def _connect_generate(
    studio: Studio, fields: dict[str, Any], generate: gr.Button, shown: list[Any]
) -> None:
    """Turn the form into a batch; the same form pressed twice is one batch."""
    form_id = gr.Textbox(visible="hidden", elem_id="dub-form-id")

    def new_form_id() -> str:
        return uuid.uuid4().hex

    @guarded
    def make(values: dict[Any, Any], request: gr.Request) -> tuple[Any, ...]:
        if not values[fields["portrait"]]:
            raise gr.Error(say("check.no_photo"), title=say("error.title"), print_exception=False)
        owner = studio.visitors.owner_of(request)
        form = DubForm(**{name: values[control] for name, control in fields.items()})
        wanted = form.request(Path(get_upload_folder()))
        studio.engine.batches.submit(wanted, owner, idempotency_key=values[form_id] or None)
        return *_picture(studio, owner), new_form_id()

    handed = generate.click(None, None, fields["rows"], js=_HAND_OVER, show_progress="hidden")
    made = handed.then(
        make, {*fields.values(), form_id}, [*shown, form_id], api_visibility="private"
    )
    made.success(None, None, None, js=_SCROLL_TO_BATCH, show_progress="hidden")
    gr.on(None, new_form_id, None, form_id, **QUIET)  # without triggers: when the page is loaded


def _connect_batches(studio: Studio, batches: gr.HTML, timer: gr.Timer) -> None:
    """Keep the list of dubs fresh, and do what its buttons say."""
    shown = [batches, timer]

    @in_visitors_language
    def refresh(request: gr.Request) -> tuple[Any, ...]:
        """Everything that changes by itself. A failure leaves the page as it is."""
        try:
            return _picture(studio, studio.visitors.owner_of(request))
        except Exception:  # noqa: BLE001 - a toast every second would help nobody
            _log.exception("the dubs could not be refreshed")
            return gr.skip(), gr.skip()

    @guarded
    def act(event: gr.EventData, request: gr.Request) -> tuple[Any, ...]:
        """Do what a button of a card says, for the owner of the dub only."""
        owner, data = studio.visitors.owner_of(request), action_data(event)
        batch_id, known = data.get("job", ""), studio.engine.batches
        match data.get("action"):
            case "dub-cancel":
                known.cancel(batch_id, owner)
            case "dub-retry":
                known.retry(batch_id, owner)
            case "dub-delete":
                known.delete(batch_id, owner)
        return _picture(studio, owner)

    batches.action(act, None, shown, **QUIET)
    timer.tick(refresh, None, shown, trigger_mode="once", **QUIET)
    gr.on(None, refresh, None, shown, **QUIET)


def _picture(studio: Studio, owner: str) -> tuple[Any, ...]:
    """The dubs of one person, and how soon to look again."""
    batches = studio.engine.batches.list_for(owner, NUM_SHOWN)
    is_live = any(not batch.is_final for batch in batches)
    return batches_html(batches), gr.update(value=LIVE_TICK_S if is_live else IDLE_TICK_S)


def _create_heading(number: str, title: str) -> None:
    gr.HTML(
        f'<h2 class="step-title"><span aria-hidden="true">{number}</span>{html.escape(title)}</h2>',
        apply_default_css=False,
    )
