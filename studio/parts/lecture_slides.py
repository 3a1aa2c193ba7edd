"""Steps 1 and 2 of the Lecture page: the slides, and what is said to each of them."""

import base64
import html
import json
import shutil
from dataclasses import dataclass
from pathlib import Path

import gradio as gr

from engine.errors import ErrorCode, InputError
from engine.lecture.plan import require_fitting
from engine.lecture.script import TEMPLATE, parse_script
from studio.context import Studio
from studio.failures import guarded
from studio.lecture_form import read_rows, script_json
from studio.locales import current_locale, say
from studio.parts.action_html import create_action_html
from studio.parts.quiet import QUIET
from studio.parts.uploads import FilesUpload, FileUpload

_SCRIPT_PATH = Path(__file__).resolve().parents[1] / "lecture_cards.js"
_WORDS = (
    "empty", "heading", "heading_of", "text", "text_of", "slide", "preview", "preview_of",
    "card_time", "total",
)  # fmt: skip

# The cards may not be on the page yet: Gradio draws a tab when it is first seen.
_TAKE_DECK = """(deck) => {
  window.studioLectureDeck = deck;
  window.studioLecture?.deck(deck);
}"""
_TAKE_SCRIPT = "(script) => { window.studioLecture?.script(script); }"

HAND_OVER = "() => window.studioLecture?.read() || '[]'"
"""The cards live in the browser; this hands them over."""

MAX_SCRIPT_BYTES = 4_000_000


@dataclass(frozen=True)
class LectureSlides:
    """The controls others read.

    Attributes:
        slides, recordings, times: as given.
        rows: receives the cards.
        cards: asks for a look at one slide by the event `action`.
    """

    slides: gr.File
    recordings: gr.File
    times: gr.Textbox
    rows: gr.Textbox
    cards: gr.HTML


def create_slides_input() -> FilesUpload:
    """Build the upload of the slides."""
    return FilesUpload(
        file_count="multiple",
        label=say("lecture.slides"),
        height=180,
        elem_id="lecture-slides",
    )


def create_recordings_input() -> tuple[FilesUpload, gr.Textbox]:
    """Build what stands in for a spoken script: recordings, and when the slides come."""
    with gr.Accordion(say("lecture.recordings"), open=False, elem_id="lecture-recordings-panel"):
        gr.Markdown(say("lecture.recordings_hint"), elem_classes="hint")
        recordings = FilesUpload(
            file_count="multiple",
            label=say("lecture.recordings_label"),
            height=120,
            elem_id="lecture-recordings",
        )
        times = gr.Textbox(
            label=say("lecture.times"),
            info=say("lecture.times_hint"),
            lines=3,
            elem_id="lecture-times",
        )
    return recordings, times


def create_cards(
    studio: Studio, slides: FilesUpload, recordings: FilesUpload, times: gr.Textbox
) -> LectureSlides:
    """Build the cards and connect the slides and the script with them."""
    with gr.Row(elem_classes="pair"):
        script = FileUpload(
            label=say("lecture.script"),
            height=84,
            elem_id="lecture-script",
        )
        gr.HTML(_template_html(), apply_default_css=False)
    cards = gr.HTML(
        _cards_html(),
        elem_id="lecture-cards",
        js_on_load=_SCRIPT_PATH.read_text("utf-8"),
        apply_default_css=False,
    )
    rows = gr.Textbox("", visible="hidden", elem_id="lecture-rows")
    deck = gr.Textbox("", visible="hidden", elem_id="lecture-deck")
    sections = gr.Textbox("", visible="hidden", elem_id="lecture-sections")

    @guarded
    def open_deck(paths: list[str]) -> str:
        return _deck_json(studio, paths) if paths else ""

    @guarded
    def read_script(path: str | None, current: str) -> str:
        if path is None:
            return ""
        found = parse_script(_script_text(Path(path)), current_locale().tag)
        num_slides = len(read_rows(current))
        if num_slides:
            require_fitting(len(found), num_slides)
        return script_json(found)

    opened = slides.change(open_deck, slides, deck, api_visibility="private")
    opened.success(None, deck, None, js=_TAKE_DECK, show_progress="hidden")
    handed = script.change(None, None, rows, js=HAND_OVER, show_progress="hidden")
    read = handed.then(read_script, [script, rows], sections, **QUIET)
    read.success(None, sections, None, js=_TAKE_SCRIPT, show_progress="hidden")
    return LectureSlides(slides, recordings, times, rows, cards)


def create_preview_place() -> gr.HTML:
    """Where the look at one slide is shown."""
    return create_action_html("lecture-preview", visible=False)


def preview_html(video: Path, number: int) -> str:
    """A look at one slide; the file is not needed afterwards."""
    content = base64.b64encode(video.read_bytes()).decode()
    label = html.escape(say("lecture.preview_label", number=number))
    return (
        f'<video controls autoplay playsinline src="data:video/mp4;base64,{content}" '
        f'aria-label="{label}"></video>'
    )


def _deck_json(studio: Studio, paths: list[str]) -> str:
    opened = studio.engine.lectures.open_deck(paths)
    try:
        return json.dumps(
            [
                {
                    "image": base64.b64encode((opened.folder / slide.name).read_bytes()).decode(),
                    "title": slide.title,
                    "note": slide.note,
                }
                for slide in opened.slides
            ],
            ensure_ascii=False,
        )
    finally:
        shutil.rmtree(opened.folder, ignore_errors=True)


def _script_text(path: Path) -> str:
    if path.stat().st_size > MAX_SCRIPT_BYTES:
        size_mb, limit_mb = round(path.stat().st_size / 1e6, 1), MAX_SCRIPT_BYTES / 1e6
        raise InputError(ErrorCode.FILE_TOO_LARGE, size_mb=size_mb, limit_mb=limit_mb)
    try:
        return path.read_text("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(ErrorCode.SCRIPT_WITHOUT_HEADING, line=1) from None


def _cards_html() -> str:
    words = json.dumps({key: say(f"lecture.{key}") for key in _WORDS}, ensure_ascii=False)
    return f'<div class="lecture-cards" data-words="{html.escape(words)}"></div>'


def _template_html() -> str:
    content = base64.b64encode(TEMPLATE.encode()).decode()
    label = html.escape(say("lecture.template"))
    return (
        f'<a class="plain" id="lecture-template" download="script.md" '
        f'href="data:text/markdown;base64,{content}">{label}</a>'
    )
