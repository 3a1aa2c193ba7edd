"""The named endpoints for programs (Gradio client and MCP): small, each returns at once.

Errors come back as `{"error": {"code", "message", "hint"}}`, never as an exception.
"""

import functools
import logging
from collections.abc import Callable
from typing import Any, ParamSpec

import gradio as gr

from engine.contracts import AnimateRequest, JobRecord, JobStatus
from engine.errors import EngineError, ErrorCode, InputError
from studio.context import Studio
from studio.form import CallerOptions, parse_caller_options, title_of
from studio.language import in_visitors_language
from studio.locales import current_locale
from studio.parts.uploads import AnswerOutput, FileUpload, OptionsInput
from studio.presenter import artifact_address, failure_message, message_of
from studio.session import base_url

_log = logging.getLogger(__name__)

P = ParamSpec("P")

Answer = dict[str, Any]


def create_endpoints(studio: Studio) -> None:
    """Add `check`, `submit`, `job`, `cancel` and `voices`; nothing of them is seen on the page."""
    portrait = FileUpload(visible=False, label="portrait")
    audio = FileUpload(visible=False, label="audio")
    text = gr.Textbox("", visible=False, label="text")
    options = OptionsInput({}, visible=False, label="options")
    consent = gr.Checkbox(False, visible=False, label="consent")
    job_id = gr.Textbox("", visible=False, label="job_id")
    language = gr.Textbox("", visible=False, label="language")
    answer = AnswerOutput(visible=False, label="answer")

    _create_making_endpoints(studio, [portrait, audio, text, options], consent, answer)
    _create_watching_endpoints(studio, job_id, language, answer)


def _create_making_endpoints(
    studio: Studio, inputs: list[Any], consent: gr.Checkbox, answer: gr.JSON
) -> None:
    @_answered
    def check(
        portrait: str | None = None,
        audio: str | None = None,
        text: str = "",
        options: dict[str, Any] | None = None,
    ) -> Answer:
        """Judge a portrait photo and a recording or text before any work: faces, length, cost.

        Args:
            portrait: the photo.
            audio: the recording of speech; leave it out when `text` is given.
            text: what should be said; leave it empty when `audio` is given.
            options: preset, size_px, fps, framing, aspect, face_index, ...; language, voice.
        """
        wanted = parse_caller_options(options or {}, text or "")
        report = studio.engine.check(
            _required(portrait),
            audio=audio,
            speech=wanted.speech,
            options=wanted.render,
            script=wanted.script,
        )
        return report.model_dump(mode="json")

    @_answered
    def submit(
        portrait: str | None = None,
        audio: str | None = None,
        text: str = "",
        options: dict[str, Any] | None = None,
        consent: bool = False,
        request: gr.Request | None = None,
    ) -> Answer:
        """Ask for a lip-synced video of a portrait photo that speaks; returns its job id at once.

        Args:
            portrait: the photo.
            audio: the recording of speech; leave it out when `text` is given.
            text: what should be said; leave it empty when `audio` is given.
            options: preset (quick, standard, hd), size_px, dynamic_scale, motion_scale, seed,
                fps, framing, aspect, face_index, smoothing, background; language, voice, speed;
                title, script, idempotency_key.
            consent: must be true: you may use this face and this voice.
            request: who asks; not an argument of the endpoint.
        """
        wanted = parse_caller_options(options or {}, text or "")
        record = studio.engine.submit(
            _request_of(_required(portrait), audio, wanted, consent=bool(consent)),
            owner=studio.visitors.owner_of(request),
            idempotency_key=wanted.idempotency_key,
            address=studio.visitors.address_of(request),
        )
        return {"job_id": record.job_id}

    for endpoint, controls in ((check, inputs), (submit, [*inputs, consent])):
        gr.Button(visible=False).click(
            endpoint,
            controls,
            answer,
            api_name=endpoint.__name__,
            show_progress="hidden",
            queue=False,
        )


def _create_watching_endpoints(
    studio: Studio, job_id_input: gr.Textbox, language_input: gr.Textbox, answer: gr.JSON
) -> None:
    @_answered
    def job(job_id: str, request: gr.Request | None = None) -> Answer:
        """Say how far a video is: status, stage, percent, seconds left, place in the queue, files.

        Args:
            job_id: as `submit` returned it.
            request: who asks; not an argument of the endpoint.
        """
        owner = studio.visitors.owner_of(request)
        record = studio.engine.get(job_id, owner)
        ticket = studio.visitors.ticket(owner, record.job_id)
        return _job_answer(record, base_url(request).rstrip("/"), ticket)

    @_answered
    def cancel(job_id: str, request: gr.Request | None = None) -> Answer:
        """Stop a video that is waiting or being made.

        Args:
            job_id: as `submit` returned it.
            request: who asks; not an argument of the endpoint.
        """
        owner = studio.visitors.owner_of(request)
        studio.engine.cancel(job_id, owner)
        return {"job_id": job_id, "status": studio.engine.get(job_id, owner).status.value}

    @_answered
    def voices(language: str = "") -> Answer:
        """List the voices that can speak a text.

        Args:
            language: only voices of this language, such as en or pt-br; empty for all.
        """
        found = studio.engine.voices(language or None)
        return {"voices": [voice.model_dump(mode="json") for voice in found]}

    for endpoint, control in (
        (job, job_id_input),
        (cancel, job_id_input),
        (voices, language_input),
    ):
        gr.Button(visible=False).click(
            endpoint,
            control,
            answer,
            api_name=endpoint.__name__,
            show_progress="hidden",
            queue=False,
        )


def _answered(endpoint: Callable[P, Answer]) -> Callable[P, Answer]:
    """Turn whatever fails into the error object of the contract."""

    @in_visitors_language
    @functools.wraps(endpoint)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> Answer:
        try:
            return endpoint(*args, **kwargs)
        except EngineError as error:
            return _error_answer(error)
        except Exception:  # noqa: BLE001 - the edge; logged with its traceback
            _log.exception("an endpoint failed")
            return _error_answer(EngineError(ErrorCode.INTERNAL))

    return wrapper


def _error_answer(error: EngineError) -> Answer:
    message = message_of(error)
    return {
        "error": {
            "code": error.code.value,
            "message": message.sentence,
            "hint": message.hint,
        }
    }


def _required(portrait: str | None) -> str:
    if not portrait:
        raise InputError(ErrorCode.FILE_NOT_FOUND, name="portrait")
    return portrait


def _request_of(
    portrait: str, audio: str | None, wanted: CallerOptions, *, consent: bool
) -> AnimateRequest:
    if audio is None and wanted.speech is None:
        raise InputError(ErrorCode.TEXT_EMPTY)
    return AnimateRequest(
        portrait=portrait,
        audio=audio,
        speech=wanted.speech if audio is None else None,
        script=wanted.script,
        options=wanted.render,
        consent=consent,
        label_language=current_locale().tag,
        title=wanted.title or title_of(audio, wanted.speech, portrait),
    )


def _job_answer(record: JobRecord, base: str, ticket: str) -> Answer:
    progress = record.progress
    error = None
    if record.error is not None:
        message = failure_message(record)
        error = {
            "code": record.error.code.value,
            "message": message.sentence,
            "hint": message.hint,
        }
    is_made = record.status is JobStatus.SUCCEEDED
    return {
        "job_id": record.job_id,
        "status": record.status.value,
        "stage": progress.stage.value if progress is not None else None,
        "percent": 100.0 if is_made else progress.percent if progress is not None else 0.0,
        "seconds_left": (
            progress.seconds_left if progress is not None and not record.status.is_final else None
        ),
        "queue_position": record.queue_position,
        "error": error,
        "artifacts": [
            {
                **item.model_dump(mode="json"),
                "url": f"{base}{artifact_address(record.job_id, item)}?ticket={ticket}",
            }
            for item in record.artifacts
        ],
    }
