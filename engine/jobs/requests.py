"""What a caller asks for, and the job it becomes."""

import secrets
from pathlib import Path
from typing import Any

from engine.contracts import AnimateRequest, JobSpec
from engine.errors import ErrorCode, InputError
from engine.jobs.fairness import priority_of
from engine.jobs.limits import spoken_duration_s
from engine.jobs.rows import NewJob
from engine.settings import EngineSettings
from engine.weights.recogniser import recogniser_folder


def can_recognise(settings: EngineSettings) -> bool:
    """Whether the words of a recording can be found out here."""
    return recogniser_folder(settings) is not None


def require_complete(request: AnimateRequest, settings: EngineSettings) -> None:
    """Refuse what can be seen without opening a file.

    Args:
        request: of a caller.
        settings: tell whether the words of a recording can be found out.

    Raises:
        InputError: CONSENT_MISSING, BAD_OPTION, CAPTIONS_NEED_TEXT or FILE_NOT_FOUND.
    """
    if not request.consent:
        raise InputError(ErrorCode.CONSENT_MISSING)
    if (request.audio is None) == (request.speech is None):
        raise InputError(
            ErrorCode.BAD_OPTION, option="audio", reason="give either a recording or a text"
        )
    has_script = bool(request.script and request.script.strip())
    has_words = request.speech is not None or has_script or can_recognise(settings)
    if request.options.captions != "off" and not has_words:
        raise InputError(ErrorCode.CAPTIONS_NEED_TEXT)
    for path in (request.portrait, request.audio):
        if path is not None and not Path(path).is_file():
            raise InputError(ErrorCode.FILE_NOT_FOUND, name=Path(path).name)


def new_job(request: AnimateRequest, taken: dict[str, Any], job_id: str, owner: str) -> NewJob:
    """A job to add, from a request and what its intake answered."""
    seed = request.options.seed
    duration_s = taken.get("duration_s")
    spec = JobSpec(
        job_id=job_id,
        portrait_name=taken["portrait_name"],
        audio_name=taken.get("audio_name"),
        speech=request.speech,
        script=request.script,
        script_language=request.script_language,
        options=request.options,
        seed=secrets.randbelow(2**31) if seed is None else seed,
        consent=request.consent,
        label_language=request.label_language,
    )
    return NewJob(
        spec=spec,
        owner=owner,
        title=request.title or Path(request.portrait).stem,
        duration_s=duration_s,
        consent=request.consent,
        priority=priority_of(spec, duration_s or spoken_duration_s(spec)),
    )
