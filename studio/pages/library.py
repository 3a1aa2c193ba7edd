"""The Library page: all videos of the asker, to watch, keep, delete or make again."""

import html
from pathlib import Path
from typing import Any

import gradio as gr
from gradio.utils import get_upload_folder

from engine.contracts import JobRecord
from engine.errors import EngineError
from studio.again import AS_FRAMING, form_of, kept, lend, values_of
from studio.context import Studio
from studio.failures import guarded
from studio.locales import say
from studio.pages.create import CreatePage
from studio.parts.action_html import action_data, create_action_html
from studio.parts.job_card import button_html
from studio.parts.jobs_section import JobsSection
from studio.parts.library_list import library_html
from studio.parts.quality import AS_PRESET, BACKGROUNDS, CALIBRATIONS, EXPANDS, SIZES, STEPS
from studio.parts.quiet import QUIET
from studio.parts.voice_choices import BEST_VOICE, voice_choices
from studio.presenter import present
from studio.used_settings import settings_rows

PAGE_LENGTH = 24

# What this browser keeps of half-filled forms; the forms themselves, whose files are gone.
_FORGET_HERE = """() => {
  window.studioForms?.forget();
  document.querySelectorAll('.confirm [data-action="clear"]').forEach((button) => button.click());
}"""
TICK_S = 2.0


def create_library_page(
    studio: Studio, create: CreatePage, tabs: gr.Tabs, own_tab: gr.Tab
) -> gr.Timer:
    """Build the page and connect it.

    Args:
        studio: the engine and who is asking.
        create: the page that shows and makes videos.
        tabs: to go there.
        own_tab: of this page; the list is read anew when it is opened.

    Returns:
        The timer that keeps the list fresh; it needs to run only while the page is seen.
    """
    listing = create_action_html("library")
    length = gr.Number(PAGE_LENGTH, precision=0, visible=False)
    shown_state = gr.Textbox("", visible=False)
    forget_button = _create_forget()
    timer = gr.Timer(TICK_S, active=False)
    shown = [listing, shown_state, length]
    fields = create.fields
    form = [*fields.values(), create.next_face, create.wanted_voice]

    @guarded
    def refresh(known: str | None, limit: float, request: gr.Request) -> tuple[Any, ...]:
        """The list, left alone while nothing changed, so that a video plays on."""
        return _listing(studio, studio.visitors.owner_of(request), int(limit), known or "")

    @guarded
    def act(event: gr.EventData, limit: float, request: gr.Request) -> tuple[Any, ...]:
        """Do what a button of the list says, for the owner of the job only."""
        owner = studio.visitors.owner_of(request)
        data = action_data(event)
        action, job_id = data.get("action", ""), data.get("job", "")
        filled: tuple[Any, ...] = tuple(gr.skip() for _ in form)
        if action == "delete":
            studio.engine.delete(job_id, owner)
        if action == "again":
            filled = _filled(studio, studio.engine.get(job_id, owner), list(fields))
        goes = action in ("again", "open", "create")
        job = {"again": "", "open": job_id}.get(action, gr.skip())
        limit = limit + PAGE_LENGTH if action == "more" else limit
        listed = _listing(studio, owner, int(limit), "")
        return (*listed, job, gr.Tabs(selected="create") if goes else gr.skip(), *filled)

    acted = listing.action(act, length, [*shown, create.jobs.shown_job, tabs, *form], **QUIET)
    acted.then(create.jobs.refresh, create.jobs.shown_job, create.jobs.outputs, **QUIET)
    timer.tick(refresh, [shown_state, length], shown, trigger_mode="once", **QUIET)
    own_tab.select(refresh, [shown_state, length], shown, **QUIET)

    _connect_forget(studio, forget_button, shown, create.jobs)
    return timer


def _connect_forget(studio: Studio, button: gr.HTML, shown: list[Any], jobs: JobsSection) -> None:
    """Let the button remove everything about the asker, here and in the browser."""

    @guarded
    def forget(event: gr.EventData, request: gr.Request) -> tuple[Any, ...]:
        if action_data(event).get("action") != "forget":
            return (*(gr.skip() for _ in shown), gr.skip())
        owner = studio.visitors.owner_of(request)
        studio.engine.forget(owner)
        studio.uploads.remove(owner)
        gr.Success(say("forget.done"), title=say("forget.title"))
        return (*_listing(studio, owner, PAGE_LENGTH, ""), "")

    forgotten = button.action(forget, None, [*shown, jobs.shown_job], **QUIET)
    forgotten.then(jobs.refresh, jobs.shown_job, jobs.outputs, **QUIET)
    forgotten.success(None, None, None, js=_FORGET_HERE, show_progress="hidden")


def _create_forget() -> gr.HTML:
    """The button that deletes everything, which asks before it does it."""
    return create_action_html(
        "forget",
        f"<h2>{html.escape(say('forget.title'))}</h2><p>{html.escape(say('forget.hint'))}</p>"
        f'<details class="confirm"><summary>{html.escape(say("forget.button"))}</summary>'
        f"<div><span>{html.escape(say('forget.confirm'))}</span>"
        f"{button_html('forget', '', say('recent.confirm_yes'), 'stop')}"
        f"{button_html('keep', '', say('recent.confirm_no'))}</div></details>",
    )


def _listing(studio: Studio, owner: str, limit: int, known: str) -> tuple[Any, ...]:
    records = studio.engine.list_for(owner, limit + 1)
    state = " ".join(f"{record.job_id}:{record.status}" for record in records)
    if known and known == state:
        return gr.skip(), gr.skip(), limit
    entries = [(present(record), settings_rows(record)) for record in records[:limit]]
    return library_html(entries, has_more=len(records) > limit), state, limit


def _filled(studio: Studio, record: JobRecord, names: list[str]) -> tuple[Any, ...]:
    """The form of the Create page filled in from a job, then the face and voice to choose."""
    portrait = _lent(studio, record, "portrait")
    recording = None if record.spec.speech is not None else _lent(studio, record, "audio")
    if portrait is None or (recording is None and record.spec.speech is None):
        gr.Info(say("library.gone"))
    values = values_of(form_of(record, portrait, recording))
    values["size"] = kept(values["size"], SIZES, AS_PRESET)
    values["steps"] = kept(values["steps"], STEPS, AS_PRESET)
    values["calibrate"] = kept(values["calibrate"], CALIBRATIONS, "auto")
    values["expand"] = kept(values["expand"], EXPANDS, AS_FRAMING)
    values["background"] = kept(values["background"], BACKGROUNDS, "white")
    chosen = f"{values['face']}|{values['points']}"
    next_face = f"{portrait.parent.name}|{chosen}" if portrait is not None else ""
    wanted_voice = values["voice"] or BEST_VOICE
    values["face"] = values["points"] = gr.skip()
    if values["language"] is None:
        values["language"] = values["voice"] = gr.skip()
    else:
        tag = values["language"].partition("-")[0]
        choices = voice_choices(studio.engine.voices(tag))
        values["language"] = tag
        known = kept(wanted_voice, (voice_id for _, voice_id in choices), BEST_VOICE)
        values["voice"] = gr.update(choices=choices, value=known)
    return (*(values[name] for name in names), next_face, wanted_voice)


def _lent(studio: Studio, record: JobRecord, kind: str) -> Path | None:
    try:
        path = studio.engine.input_path(record.job_id, kind, record.owner)
        lent = lend(path, Path(get_upload_folder()), record.title)
    except (EngineError, OSError):
        return None
    studio.uploads.note(record.owner, [lent])
    return lent
