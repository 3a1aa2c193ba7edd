"""The check before the work: asked for when the form changes, shown beside the button.

One event asks the engine, so that a late answer to an old form never overwrites a newer one; a
second one, cheap, puts the answer together with the consent as it stands then.
"""

import contextlib
import hashlib
import json
from collections.abc import Mapping
from typing import Any

import gradio as gr

from engine.contracts import CheckReport, PortraitVerdict
from engine.errors import EngineError
from studio.context import Studio
from studio.failures import guarded
from studio.form import FormValues
from studio.locales import say
from studio.parts.portrait_input import PortraitInput, show_photo
from studio.parts.quality import preset_choices
from studio.parts.quiet import QUIET
from studio.parts.verdict_line import verdict_html
from studio.parts.voice_input import VoiceInput
from studio.presenter import Verdict, judge_form

# Fields whose value changes what the check says; the rest only changes the picture.
_CHECKED = (
    *("portrait", "face", "points", "recording", "microphone", "language", "voice", "speed"),
    *("source", "preset", "size", "fps", "framing", "aspect", "background", "force"),
    *("animator", "steps", "expand", "burn", "hear_words"),
)

# In the browser: a form that has no photo, and shows none, asks for nothing.
_ASK = "(photo, shown, asked) => (photo || shown ? String(Number(asked || 0) + 1) : asked)"

# Those that bring a new file to look at, which takes a moment.
_FILES = ("portrait", "recording", "microphone")


def connect_preflight(
    studio: Studio,
    fields: Mapping[str, Any],
    steps: tuple[PortraitInput, VoiceInput],
    verdict: gr.HTML,
    generate: gr.Button,
) -> None:
    """Keep the photo, the line and the button true while the form changes.

    Args:
        studio: the engine.
        fields: the controls of the form by the names of `FormValues`.
        steps: the photo, which shows what was found, and the voice.
        verdict: the line beside the button.
        generate: the button.
    """
    portrait, voice = steps
    report_json = gr.Textbox("", visible="hidden", elem_id="check-report")
    shown_photo = gr.Textbox("", visible="hidden", elem_id="shown-photo")
    checked = gr.Textbox("", visible="hidden", elem_id="checked")
    controls = set(fields.values())
    looked_at = [*portrait.shown, shown_photo, report_json, fields["preset"], checked]

    @guarded
    def look(values: dict[Any, Any]) -> tuple[Any, ...]:
        form = FormValues.read(fields, values)
        question = question_of(form)
        if question == values[checked]:
            return tuple(gr.skip() for _ in looked_at)
        report = _check(studio, form)
        if report is None or not report.ok:
            question = ""  # it may be another time
        stored = report.model_dump_json() if report is not None else ""
        cards = gr.update(choices=preset_choices(report.presets if report is not None else {}))
        found = report.portrait.shown if report is not None and report.portrait else None
        how = (form.portrait, form.face, form.points, form.background, form.force, found)
        photo = " ".join(map(str, how))
        if photo == values[shown_photo]:
            return *(gr.skip() for _ in portrait.shown), gr.skip(), stored, cards, question
        return *show_photo(studio, form, report), photo, stored, cards, question

    @guarded
    def judge(values: dict[Any, Any]) -> tuple[str, Any]:
        form = FormValues.read(fields, values)
        stored = values[report_json]
        report = CheckReport.model_validate_json(stored) if stored else None
        line = judge_form(report, has_voice=form.has_voice, consent=form.consent)
        return verdict_html(line), gr.update(interactive=line.is_ready)

    outcome = [verdict, generate]
    for name in _FILES:
        fields[name].change(None, None, outcome, js=_checking_js(), show_progress="hidden")
    asked = gr.Textbox("", visible="hidden", elem_id="check-asked")
    gr.on(
        [
            voice.settled_text.change,
            voice.settled_script.change,
            *(fields[name].change for name in _CHECKED),
        ],
        None,
        [fields["portrait"], shown_photo, asked],
        asked,
        js=_ASK,
        trigger_mode="multiple",
        show_progress="hidden",
    )
    looked = asked.change(
        look,
        controls | {shown_photo, checked},
        looked_at,
        trigger_mode="always_last",
        **QUIET,
    )
    looked.then(judge, controls | {report_json}, outcome, **QUIET)
    fields["consent"].change(judge, controls | {report_json}, outcome, **QUIET)


def _checking_js() -> str:
    """What the browser shows at once, before the engine has looked."""
    line = json.dumps(verdict_html(Verdict("waiting", say("check.checking"))))
    return f"() => [{line}, {{interactive: false, __type__: 'update'}}]"


def question_of(form: FormValues) -> str:
    """All that the answer of the engine depends on, short: what was asked last is not asked again.

    An empty text and no recording yet are the same to it, for example.
    """
    asked: Any = form
    with contextlib.suppress(EngineError):  # a choice that cannot be used: see `_check`
        what = (form.portrait, form.audio, form.speech(), form.known_words)
        asked = (*what, form.options(), form.force)
    return hashlib.sha256(repr(asked).encode()).hexdigest()


def _check(studio: Studio, form: FormValues) -> CheckReport | None:
    """What the engine says about the form; None before there is a photo."""
    if form.portrait is None:
        return None
    try:
        return studio.engine.check(
            form.portrait,
            audio=form.audio,
            speech=form.speech(),
            options=form.options(),
            script=form.known_words,
        )
    except EngineError as error:
        refusal = PortraitVerdict(verdict=error.code, values=error.values)
        return CheckReport(ok=False, portrait=refusal)
