"""`animate` and `say`: a portrait and speech become a video file."""

import argparse
import json
import shutil
from pathlib import Path
from typing import Any

from engine.api import StudioEngine
from engine.cli.options import (
    EXIT_OK,
    add_command,
    add_render_options,
    add_script_options,
    add_speech_options,
    existing_file,
    output_file,
    print_notes,
    render_options,
    script_text,
    speech_options,
)
from engine.cli.progress import JobProgressBar
from engine.contracts import AnimateRequest, JobRecord, JobStatus
from engine.errors import EngineError, ErrorCode, InputError


def add_video_commands(commands: Any) -> None:  # noqa: ANN401 - argparse has no public type for sub-parsers
    """Add `animate` and `say`."""
    animate = add_command(commands, "animate", _animate, "a photo and a recording become a video")
    animate.add_argument("portrait", metavar="PORTRAIT")
    animate.add_argument("audio", metavar="AUDIO")
    add_script_options(animate)
    add_render_options(animate)

    say = add_command(commands, "say", _say, "a photo and a text become a video")
    say.add_argument("portrait", metavar="PORTRAIT")
    add_speech_options(say)
    add_render_options(say)


def _animate(engine: StudioEngine, arguments: argparse.Namespace) -> int:
    target = output_file(arguments.output, ".mp4")
    request = AnimateRequest(
        portrait=existing_file(arguments.portrait),
        audio=existing_file(arguments.audio),
        script=script_text(arguments.script),
        script_language=arguments.language,
        options=render_options(arguments),
        label_language=arguments.label_language,
        consent=True,  # a command-line call counts as the statement
        title=Path(arguments.portrait).stem,
    )
    return make_video(engine, request, target, as_json=arguments.json)


def _say(engine: StudioEngine, arguments: argparse.Namespace) -> int:
    target = output_file(arguments.output, ".mp4")
    request = AnimateRequest(
        portrait=existing_file(arguments.portrait),
        speech=speech_options(arguments),
        options=render_options(arguments),
        label_language=arguments.label_language,
        consent=True,
        title=Path(arguments.portrait).stem,
    )
    return make_video(engine, request, target, as_json=arguments.json)


def make_video(
    engine: StudioEngine, request: AnimateRequest, target: Path, *, as_json: bool
) -> int:
    """Make one video, wait for it and copy it to `target`; its job is removed.

    Raises:
        EngineError: why there is no video.
    """
    job = engine.submit(request)
    try:
        report = _copy_results(engine, finished_job(engine, job, request.title), target)
    finally:
        engine.delete(job.job_id)
    print_notes(report["notes"], report["note_values"])
    if as_json:
        print(json.dumps(report, ensure_ascii=False))
    else:
        print(f"{target} ({report['duration_s']:.1f} s of video in {report['elapsed_s']:.1f} s)")
    return EXIT_OK


def finished_job(engine: StudioEngine, job: JobRecord, title: str) -> JobRecord:
    """Wait for a job behind a progress bar; Ctrl-C cancels it.

    Raises:
        EngineError: why it made nothing.
    """
    try:
        with JobProgressBar(title) as bar:
            job = engine.wait(job.job_id, on_progress=bar.show)
    except KeyboardInterrupt:
        engine.cancel(job.job_id)
        raise
    if job.status is not JobStatus.SUCCEEDED:
        raise job_failure(job)
    return job


def job_failure(job: JobRecord) -> EngineError:
    """Why a job ended without a video."""
    if job.error is None:
        return EngineError(ErrorCode.CANCELED)
    return EngineError(job.error.code, **job.error.values)


def _copy_results(engine: StudioEngine, job: JobRecord, target: Path) -> dict[str, Any]:
    """Copy the video, and what belongs to it, beside each other; never a half file.

    Returns:
        The job's report with the final paths in it.
    """
    wanted = {"video"} if job.spec.options.captions == "off" else {"video", "srt", "vtt"}
    written: list[str] = []
    for artifact in job.artifacts:
        if artifact.kind not in wanted:
            continue
        place = target if artifact.kind == "video" else target.with_suffix("." + artifact.kind)
        part = place.with_name(place.name + ".part")
        try:
            shutil.copyfile(engine.artifact_path(job.job_id, artifact.kind), part)
            part.replace(place)
        except OSError:
            part.unlink(missing_ok=True)
            raise InputError(ErrorCode.OUTPUT_NOT_WRITABLE) from None
        written.append(str(place))
    return {**job.report, "video": str(target), "artifacts": written}
