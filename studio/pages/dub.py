"""The Dub page: one photo, a table of rows, make all; the dubs in the making and the last ones."""

from pathlib import Path
from typing import Any

import gradio as gr
from gradio.utils import get_upload_folder

from studio.context import Studio
from studio.dub_form import DubForm
from studio.locales import say
from studio.parts.batch_card import batches_html
from studio.parts.dub_photo import create_dub_photo
from studio.parts.dub_table import create_dub_table
from studio.parts.form_keeper import KeptForm, create_clear_button, keep_form
from studio.parts.readiness import Need, connect_needs, create_waiting_button
from studio.parts.workbench import (
    Submission,
    connect_make,
    create_heading,
    create_panel,
    keep_fresh,
)

NUM_SHOWN = 5

# The table lives in the browser; it is handed over when the videos are asked for.
_HAND_OVER = "() => window.studioDub?.read() || '[]'"


def create_dub_page(studio: Studio, own_tab: gr.Tab) -> gr.Timer:
    """Build the page and connect it.

    Args:
        studio: the engine and who is asking.
        own_tab: of this page; the form is filled again when it is opened.

    Returns:
        The timer that keeps the progress fresh; it needs to run only while the page is seen.
    """
    fields: dict[str, Any] = {}
    with gr.Row(elem_id="dub", elem_classes="workbench", equal_height=False):
        with gr.Column(elem_classes="step", min_width=300, scale=1):
            create_heading("1", say("photo.title"))
            photo = create_dub_photo(studio)
            fields |= {"portrait": photo.upload, "face": photo.face}
            fields["captions"], fields["preset"] = _create_choices()
        with gr.Column(elem_classes="step", min_width=300, scale=2):
            create_heading("2", say("dub.table"))
            gr.Markdown(say("dub.intro"), elem_classes="hint")
            form = KeptForm("dub", dict(fields), photo.next_face)
            table = create_dub_table(studio, own_tab)
            fields["rows"] = table.rows
            fields["consent"] = gr.Checkbox(
                label=say("consent.label"), elem_id="dub-consent", container=False
            )
            needs = _needs()
            shown = create_waiting_button(say("dub.generate"), "dub", needs)
            create_clear_button(form, fields["consent"])
    looked_at = {name: fields[name] for name in ("portrait", "consent")}
    connect_needs(looked_at, needs, shown, [table.table.input])
    engine = studio.engine

    def draw(owner: str) -> tuple[str, bool]:
        batches = engine.batches.list_for(owner, NUM_SHOWN)
        return batches_html(batches), any(not batch.is_final for batch in batches)

    def submit(asked: Submission) -> None:
        wanted = DubForm(**asked.given).request(Path(get_upload_folder()))
        engine.batches.submit(wanted, asked.owner, idempotency_key=asked.key)

    def act(action: str, batch_id: str, owner: str) -> None:
        match action:
            case "dub-cancel":
                engine.batches.cancel(batch_id, owner)
            case "dub-retry":
                engine.batches.retry(batch_id, owner)
            case "dub-delete":
                engine.batches.delete(batch_id, owner)

    panel = create_panel("dub-batches", draw)
    connect_make(studio, panel, fields, (shown[1], _HAND_OVER), submit)
    keep_fresh(studio, panel, act, own_tab)
    keep_form(studio, form, own_tab.select)
    return panel.timer


def _needs() -> list[Need]:
    return [
        ("portrait", say("check.no_photo")),
        ("window.studioDub?.says()", say("check.no_row")),
        ("consent", say("check.no_consent")),
    ]


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
