"""The table of the Dub page: filled in the browser; files and pasted cells come in here."""

import html
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gradio as gr

from engine.dub.table import read_pasted, read_table
from studio.context import Studio
from studio.dub_form import drafts_wanted, table_json, voices_json
from studio.failures import guarded
from studio.locales import say
from studio.locales.en import LANGUAGE_NAMES
from studio.parts.action_html import action_data
from studio.parts.quiet import QUIET

_SCRIPT_PATH = Path(__file__).resolve().parents[1] / "dub_table.js"

_WORDS = {
    "any_language": "dub.any_language",
    "voice": "dub.voice",
    "language": "dub.language",
    "best": "voice.best",
    "robotic": "voice.robotic",
    "name": "dub.name",
    "text": "voice.text",
    "its_words": "dub.its_words",
    "recording": "dub.recording",
    "drop_recording": "dub.drop_recording",
    "uploading": "dub.uploading",
    "upload_failed": "dub.upload_failed",
    "add": "dub.add",
    "remove": "dub.remove",
    "clear": "dub.clear",
    "undo": "dub.undo",
    "row": "dub.row",
    "of_row": "dub.of_row",
    "too_many": "dub.too_many",
}

_ALL_ROWS = "() => window.studioDub?.all() || '[]'"
_ADD_ROWS = "(rows) => { window.studioDub?.add(rows); }"
_FILL_ROWS = "(drafts) => { window.studioDub?.draft(drafts); }"

# The table may not be on the page yet: Gradio draws a tab when it is first seen.
_TAKE_VOICES = """(voices) => {
  window.studioDubVoices = voices;
  window.studioDub?.voices?.(voices);
}"""


@dataclass(frozen=True)
class DubTable:
    """The controls others read.

    Attributes:
        rows: receives the table from `window.studioDub.read()`.
        table: tells by the event `input` when the first row says something, or none any more.
    """

    rows: gr.Textbox
    table: gr.HTML


def create_dub_table(studio: Studio, own_tab: gr.Tab) -> DubTable:
    """Build the table and the two ways to fill it at once.

    Args:
        studio: the engine.
        own_tab: of the page; the voices are read when it is opened.
    """
    table = gr.HTML(
        _table_html(studio.settings.max_batch_rows),
        elem_id="dub-table",
        js_on_load=_SCRIPT_PATH.read_text("utf-8"),
        apply_default_css=False,
    )
    rows = gr.Textbox("", visible="hidden", elem_id="dub-rows")
    incoming = gr.Textbox("", visible="hidden", elem_id="dub-incoming")
    voices = gr.Textbox("", visible="hidden", elem_id="dub-voices")
    with gr.Row(elem_classes="pair"):
        upload = gr.UploadButton(say("dub.import"), size="sm", elem_id="dub-import")
    with gr.Accordion(say("dub.paste_title"), open=False, elem_id="dub-paste"):
        cells = gr.Textbox(
            label=say("dub.paste"), info=say("dub.paste_hint"), lines=4, elem_id="dub-cells"
        )
        paste = gr.Button(say("dub.paste_add"), size="sm", elem_id="dub-paste-add")

    with gr.Accordion(
        say("dub.translate"), open=True, visible=False, elem_id="dub-translate"
    ) as translation:
        gr.Markdown(say("dub.translate_note"), elem_classes="hint")
        draft = gr.Button(say("dub.translate_do"), size="sm", elem_id="dub-draft")
    _connect_translation(studio, draft, rows)

    @guarded
    def read_file(path: str) -> str:
        read = read_table(Path(path).read_bytes())
        if any(row.audio for row in read):
            gr.Info(say("dub.audio_left_out"))
        return table_json(read)

    @guarded
    def read_cells(pasted: str) -> tuple[str, str]:
        return table_json(read_pasted(pasted)), ""

    @guarded
    def act(event: gr.EventData) -> str:
        data = action_data(event)
        return (
            table_json(read_pasted(data.get("text", ""))) if data.get("action") == "paste" else ""
        )

    @guarded
    def offer() -> tuple[str, Any]:
        can_translate = studio.engine.can_translate
        return voices_json(studio.engine.voices()), gr.update(visible=can_translate)

    taken = (
        upload.upload(read_file, upload, incoming, **QUIET),
        paste.click(read_cells, cells, [incoming, cells], **QUIET),
        table.action(act, None, incoming, **QUIET),
    )
    for came in taken:
        came.success(None, incoming, None, js=_ADD_ROWS, show_progress="hidden")
    offered = own_tab.select(offer, None, [voices, translation], **QUIET)
    offered.then(None, voices, None, js=_TAKE_VOICES, show_progress="hidden")
    return DubTable(rows, table)


def _connect_translation(studio: Studio, draft: gr.Button, rows: gr.Textbox) -> None:
    """Fill empty rows with drafts of the first one's text, for the person to read."""
    drafted = gr.Textbox("", visible="hidden", elem_id="dub-drafted")

    @guarded
    def write(table: str) -> str:
        wanted = drafts_wanted(table)
        if wanted is None:
            raise gr.Error(
                say("dub.translate_nothing"), title=say("error.title"), print_exception=False
            )
        drafts = studio.engine.translate(wanted.text, wanted.source, wanted.targets)
        gr.Info(say("dub.translate_note"))
        return json.dumps(drafts, ensure_ascii=False)

    taken = draft.click(None, None, rows, js=_ALL_ROWS, show_progress="hidden")
    written = taken.then(write, rows, drafted, api_visibility="private")
    written.success(None, drafted, None, js=_FILL_ROWS, show_progress="hidden")


def _table_html(most: int) -> str:
    words = json.dumps({key: say(name) for key, name in _WORDS.items()}, ensure_ascii=False)
    languages = json.dumps(LANGUAGE_NAMES, ensure_ascii=False)
    return (
        f'<div class="dub-table" data-most="{most}" data-words="{html.escape(words)}" '
        f'data-languages="{html.escape(languages)}"></div>'
    )
