"""A job row as a reader sees it: words, percent, time left, links. Pure, no Gradio."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from engine.contracts import (
    Artifact,
    CheckReport,
    JobRecord,
    JobStatus,
    Stage,
)
from engine.errors import EngineError, ErrorCode
from engine.messages import Message
from studio.locales import decimal, explain, explain_error, say

MINUTE_S = 60
HOUR_S = 3600
DAY_S = 24 * HOUR_S

# From here on the seconds of an estimate are noise.
MINUTES_WITH_SECONDS = 3

# A job that starts sooner is simply the next one.
SOON_S = 5.0


@dataclass(frozen=True)
class JobView:
    """One job in words.

    Attributes:
        job_id: of the record.
        title: what the person called it, never empty.
        status: of the record; for styling only, the words say it too.
        label: one line: what is happening or what became of it.
        detail: a second line: time left, place in the queue, or what to do next.
        percent: 0-100 while live, else None.
        files: kind -> address of each finished file.
        can_cancel, can_retry: which buttons make sense.
        age: when it was asked for, in words.
        notes: what to know about a finished video: words left out, a soft photo.
        can_change: whether the Create page can be filled with it; a lecture has its own.
    """

    job_id: str
    title: str
    status: JobStatus
    label: str
    detail: str
    percent: int | None
    files: dict[str, str]
    can_cancel: bool
    can_retry: bool
    age: str
    notes: tuple[str, ...] = ()
    can_change: bool = True

    @property
    def is_final(self) -> bool:
        """Whether nothing more will happen by itself."""
        return self.status.is_final


def present(
    record: JobRecord, now: datetime | None = None, starts_in_s: float | None = None
) -> JobView:
    """Put a job into words.

    Args:
        record: the job.
        now: for its age; None = the current time.
        starts_in_s: how long it waits in the queue, where that is known.
    """
    label, detail = _words(record, starts_in_s)
    is_live = not record.status.is_final
    percent = round(record.progress.percent) if record.progress is not None else 0
    return JobView(
        job_id=record.job_id,
        title=record.title or say("job.untitled"),
        status=record.status,
        label=label,
        detail=detail,
        percent=percent if is_live else None,
        files={item.kind: artifact_address(record.job_id, item) for item in record.artifacts},
        can_cancel=is_live,
        can_retry=record.status in (JobStatus.FAILED, JobStatus.CANCELED),
        age=age_words((now or datetime.now(UTC)) - record.created_at),
        notes=note_sentences(record),
        can_change=record.spec.lecture is None,
    )


def note_sentences(record: JobRecord) -> tuple[str, ...]:
    """What the report of a finished video notes, one sentence and hint each."""
    values = dict(record.report.get("note_values") or {})
    known = set(ErrorCode)
    codes = [ErrorCode(code) for code in record.report.get("notes") or () if code in known]
    messages = [explain(code, values) for code in codes]
    if record.report.get("memory_steps"):
        messages.append(Message(say("job.memory_steps"), ""))
    return tuple(f"{message.sentence} {message.hint}".strip() for message in messages)


def artifact_address(job_id: str, artifact: Artifact) -> str:
    """Where the page gets a finished file; the owner is checked there."""
    return f"/artifacts/{job_id}/{artifact.kind}"


def _words(record: JobRecord, starts_in_s: float | None) -> tuple[str, str]:
    match record.status:
        case JobStatus.QUEUED:
            return say("job.waiting"), _queue_words(record, starts_in_s)
        case JobStatus.RUNNING:
            return _running_words(record)
        case JobStatus.SUCCEEDED:
            return say("job.ready"), _result_words(record)
        case JobStatus.CANCELED:
            message = explain(ErrorCode.CANCELED)
            return message.sentence, message.hint
        case JobStatus.FAILED:
            message = failure_message(record)
            return message.sentence, message.hint


def _queue_words(record: JobRecord, starts_in_s: float | None) -> str:
    ahead = (record.queue_position or 1) - 1
    place = say("job.queued_next") if ahead == 0 else say("job.queued", ahead=ahead)
    if not starts_in_s or starts_in_s < SOON_S:
        return place
    return f"{place} {say('job.starts_in', time=duration_words(starts_in_s))}"


def _running_words(record: JobRecord) -> tuple[str, str]:
    progress = record.progress
    if progress is None:
        return say("job.starting"), ""
    if progress.waits_for is not None:
        message = explain(progress.waits_for, dict(progress.values))
        return message.sentence, message.hint
    is_recording = progress.stage is Stage.SPEAK and record.spec.audio_name is not None
    stage = say("stage.speak_recording" if is_recording else f"stage.{progress.stage}")
    if progress.seconds_left is None:
        return stage, say("job.time_unknown")
    return stage, say("job.time_left", time=duration_words(progress.seconds_left))


def _result_words(record: JobRecord) -> str:
    duration_s = record.report.get("duration_s")
    elapsed_s = record.report.get("elapsed_s")
    if duration_s is None or elapsed_s is None:
        return ""
    return say(
        "job.result",
        duration=duration_words(float(duration_s), exact=True),
        elapsed=duration_words(float(elapsed_s)),
    )


def failure_message(record: JobRecord) -> Message:
    """Why a failed job failed, and what to do next."""
    if record.error is None:
        return explain(ErrorCode.INTERNAL)
    return explain(record.error.code, dict(record.error.values))


def message_of(error: EngineError) -> Message:
    """The sentence and hint of an error."""
    return explain_error(error)


def duration_words(seconds: float, *, exact: bool = False) -> str:
    """A length of time in words.

    Args:
        seconds: 0 or more.
        exact: keep tenths below a minute, for lengths that were measured.
    """
    if seconds < MINUTE_S:
        shown = decimal(seconds) if exact else str(max(1, round(seconds)))
        return say("time.seconds", count=shown)
    if seconds < HOUR_S:
        minutes, rest = divmod(round(seconds), MINUTE_S)
        if exact or minutes < MINUTES_WITH_SECONDS:
            return say("time.minutes_seconds", minutes=minutes, seconds=rest)
        return say("time.minutes", count=round(seconds / MINUTE_S))
    hours, rest = divmod(round(seconds), HOUR_S)
    return say("time.hours_minutes", hours=hours, minutes=rest // MINUTE_S)


def age_words(age: timedelta) -> str:
    """How long ago something was, in words."""
    seconds = max(0.0, age.total_seconds())
    if seconds < MINUTE_S:
        return say("age.now")
    if seconds < HOUR_S:
        return say("age.minutes", count=int(seconds // MINUTE_S))
    if seconds < DAY_S:
        return say("age.hours", count=int(seconds // HOUR_S))
    return say("age.days", count=int(seconds // DAY_S))


@dataclass(frozen=True)
class Verdict:
    """The line beside the Generate button.

    Attributes:
        mood: `ready`, `waiting` (something is missing) or `refused`.
        text: the line.
        hint: what to do about it, may be empty.
        notes: warnings that do not block.
    """

    mood: str
    text: str
    hint: str = ""
    notes: tuple[str, ...] = ()

    @property
    def is_ready(self) -> bool:
        """Whether Generate may be pressed."""
        return self.mood == "ready"


def judge_form(report: CheckReport | None, *, has_voice: bool, consent: bool) -> Verdict:
    """What the pre-flight check means for the Generate button.

    Args:
        report: what the engine said; None before there is a photo.
        has_voice: whether a recording or a text was given.
        consent: whether the box is ticked.
    """
    if report is None or report.portrait is None:
        return Verdict("waiting", say("check.no_photo"))
    for part in (report.portrait, report.audio):
        if part is not None and part.verdict != "ok":
            message = explain(ErrorCode(part.verdict), dict(part.values))
            return Verdict("refused", message.sentence, message.hint)
    notes = warning_sentences(report)
    if not has_voice or report.audio is None:
        return Verdict("waiting", say("check.no_voice"), notes=notes)
    facts = _facts(report)
    if not consent:
        return Verdict("waiting", facts, say("check.no_consent"), notes)
    return Verdict("ready", facts, notes=notes)


def warning_sentences(report: CheckReport) -> tuple[str, ...]:
    """The warnings of a check, one sentence each."""
    parts = [part for part in (report.portrait, report.audio) if part is not None]
    return tuple(
        explain(ErrorCode(code), dict(part.values)).sentence
        for part in parts
        for code in part.warnings
    )


def _facts(report: CheckReport) -> str:
    facts = [say("check.face_found")]
    if report.audio is not None and report.audio.duration_s is not None:
        length = duration_words(report.audio.duration_s, exact=True)
        facts.append(say("check.speech", duration=length))
    # `auto` takes sonic where it is ready, and the engine lists what is ready.
    estimate = report.estimate.get("sonic") or report.estimate.get("lite")
    if estimate is not None:
        facts.append(say("check.estimate", time=duration_words(estimate.seconds)))
    return " · ".join(facts)
