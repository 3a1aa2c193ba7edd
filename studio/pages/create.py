"""The Create page: a photo, a voice, make; the video in the making; the recent ones."""

import random
from dataclasses import dataclass
from typing import Any

import gradio as gr

from studio.context import Studio
from studio.failures import guarded
from studio.form import FormValues
from studio.locales import current_locale, say, speaking
from studio.parts.action_html import action_data
from studio.parts.consent import create_consent_input
from studio.parts.form_keeper import KeptForm, create_clear_button, keep_form
from studio.parts.jobs_section import Head, JobsSection, create_jobs_section
from studio.parts.portrait_input import PortraitInput, create_portrait_input
from studio.parts.preflight import connect_preflight
from studio.parts.quality import create_preset_input, create_quality_input
from studio.parts.quiet import QUIET
from studio.parts.recipe_buttons import connect_recipe, create_recipe_buttons
from studio.parts.sound_input import create_sound_input
from studio.parts.verdict_line import verdict_html
from studio.parts.voice_choices import DEFAULT_LANGUAGE, language_of_page
from studio.parts.voice_input import VoiceInput, create_voice_input
from studio.parts.workbench import NEW_FORM_ID, create_heading
from studio.presenter import judge_form

# After a moment in which the new panel is drawn; before, there is nothing to scroll to.
_SCROLL_TO_JOB = """() => setTimeout(() => document.getElementById('job-panel')?.scrollIntoView(
  {behavior: 'smooth', block: 'start'}), 150)"""


NUM_SURPRISES = 3


@dataclass(frozen=True)
class CreatePage:
    """What the other pages need of this one.

    Attributes:
        fields: the controls of the form by the names of `FormValues`.
        next_face, wanted_voice: what to choose once the photo and the language have come.
        jobs: shows a job.
    """

    fields: dict[str, Any]
    next_face: gr.Textbox
    wanted_voice: gr.Textbox
    jobs: JobsSection


def create_create_page(studio: Studio, head: Head) -> CreatePage:
    """Build the page and connect it.

    Args:
        studio: the engine and who is asking.
        head: the memory gauge and the banner in the page's head.
    """
    with gr.Row(elem_id="steps", equal_height=True):
        with gr.Column(elem_classes="step", min_width=300):
            create_heading(say("photo.step"), say("photo.title"))
            portrait = create_portrait_input()
        with gr.Column(elem_classes="step", min_width=300):
            create_heading(say("voice.step"), say("voice.title"))
            voice = create_voice_input(studio)
        with gr.Column(elem_classes="step", min_width=300):
            create_heading(say("make.step"), say("make.title"))
            fields = {**_fields_of(portrait), **_fields_of(voice)}
            preset = create_preset_input()
            fields["consent"] = create_consent_input()
            verdict = gr.HTML(_waiting_html(), elem_id="verdict", apply_default_css=False)
            generate = gr.Button(
                say("make.generate"),
                variant="primary",
                size="lg",
                interactive=False,
                elem_id="generate",
            )
    with gr.Accordion(say("more.title"), open=False, elem_id="more") as more:
        fields |= vars(create_quality_input(studio, preset, more))
        fields |= vars(create_sound_input(voice.source))
        recipe = create_recipe_buttons()
    kept = {name: control for name, control in fields.items() if name != "consent"}
    form = KeptForm("create", kept, portrait.next_face, voice.pair)
    create_clear_button(form, fields["consent"])
    jobs = create_jobs_section(studio, head)
    connect_preflight(studio, fields, (portrait, voice), verdict, generate)
    _connect_generate(studio, fields, generate, jobs)
    _connect_surprise(studio, portrait, voice)
    connect_recipe(fields, recipe)
    keep_form(studio, form, voice.pair.offered.then)
    return CreatePage(fields, portrait.next_face, voice.pair.wanted, jobs)


def _fields_of(part: PortraitInput | VoiceInput) -> dict[str, Any]:
    """The controls of a part by the names `FormValues` knows them by."""
    names = {"upload": "portrait"}
    known = FormValues.__dataclass_fields__
    controls = {names.get(name, name): control for name, control in vars(part).items()}
    return {name: control for name, control in controls.items() if name in known}


def _connect_generate(
    studio: Studio, fields: dict[str, Any], generate: gr.Button, jobs: JobsSection
) -> None:
    """Turn the form into a job; the same form pressed twice is one job."""
    form_id = gr.Textbox(visible="hidden", elem_id="form-id")

    @guarded
    def make(values: dict[Any, Any], request: gr.Request) -> str:
        owner = studio.visitors.owner_of(request)
        wanted = FormValues.read(fields, values).request(current_locale().tag)
        record = studio.engine.submit(
            wanted,
            owner=owner,
            idempotency_key=values[form_id] or None,
            address=studio.visitors.address_of(request),
        )
        return record.job_id

    submitted = generate.click(
        make, {*fields.values(), form_id}, jobs.shown_job, api_visibility="private"
    )
    shown = submitted.success(jobs.refresh, jobs.shown_job, jobs.outputs, **QUIET)
    shown.then(None, js=_SCROLL_TO_JOB)
    submitted.success(None, None, form_id, js=NEW_FORM_ID, show_progress="hidden")
    gr.on(None, None, None, form_id, js=NEW_FORM_ID, show_progress="hidden")


def _connect_surprise(studio: Studio, portrait: PortraitInput, voice: VoiceInput) -> None:
    """Fill in something that works, for a first try: the portrait comes from `portrait` itself."""

    @guarded
    def surprise(event: gr.EventData) -> tuple[Any, ...]:
        if action_data(event).get("action") != "surprise":
            return gr.skip(), gr.skip(), gr.skip()
        tag = language_of_page(studio.engine.voices())
        number = random.randrange(NUM_SURPRISES)  # noqa: S311 - a greeting, no secret
        with speaking(current_locale().tag if tag else DEFAULT_LANGUAGE):
            return "text", say(f"surprise.text_{number}"), tag or DEFAULT_LANGUAGE

    portrait.samples.action(surprise, None, [voice.source, voice.text, voice.language], **QUIET)


def _waiting_html() -> str:
    return verdict_html(judge_form(None, has_voice=False, consent=False))
