"""`lecture`: slides, a script or recordings, and a presenter become one video."""

import argparse
import json
import re
import shutil
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from engine.api import StudioEngine
from engine.cli.options import (
    EXIT_OK,
    add_command,
    bad_option,
    existing_file,
    output_file,
    print_notes,
)
from engine.cli.video import finished_job
from engine.contracts import JobRecord, RenderOptions
from engine.errors import ErrorCode, InputError
from engine.lecture.options import LectureOptions, LectureVoice
from engine.lecture.request import LectureRequest
from engine.lecture.script import TEMPLATE

SCRIPT_SUFFIXES = (".md", ".markdown", ".txt")
NO_PORTRAIT = "-"


def add_lecture_commands(commands: Any) -> None:  # noqa: ANN401 - argparse has no public type for sub-parsers
    """Add `lecture`."""
    lecture = add_command(commands, "lecture", _lecture, "slides and a script become a lecture")
    add = lecture.add_argument
    add("portrait", metavar="PORTRAIT", help="photo of the presenter; - with --layout off")
    add("slides", metavar="SLIDES", help="PDF, PowerPoint file, picture, or folder of pictures")
    add(
        "words",
        metavar="SCRIPT.md|AUDIO",
        nargs="*",
        help="script with a `# heading` for each slide; or one recording with --times, or one "
        "for each slide; left out, the notes of a PowerPoint file are spoken",
    )
    add("-o", "--output", required=True, metavar="OUT.mp4")
    add("--script", metavar="FILE.md", help="the known words of the recordings")
    add("--times", metavar="FILE", help="when each slide comes in the recording, a line for each")
    _add_look(add)
    add("--voice", metavar="ID", help="see `voices`")
    add("--language", metavar="xx", help="such as en, de or pt-br")
    add("--speed", type=float, metavar="X", help="0.5 to 2")
    add("--style", metavar="TEXT", help="for voices that can, such as happy")
    add("--animator", choices=("auto", "lite", "sonic"))
    add("--face", dest="face_index", type=int, metavar="N", help="which face, see `check`")
    add("--dynamic-scale", type=float, metavar="X", help="strength of the mouth, 0.3-2")
    add("--motion-scale", type=float, metavar="X", help="strength of head motion, 0-2")
    add("--seed", type=int, metavar="N", help="another number sways otherwise")
    add("--force", action="store_true", default=None, help="although the check says no")
    add("--name", default="", metavar="TEXT", help="name of the video; the slides' file name")
    add("--json", action="store_true", help="print one JSON object")

    template = add_command(
        commands, "lecture-template", _template, "write a script to start a lecture from"
    )
    template.add_argument("-o", "--output", required=True, metavar="SCRIPT.md")


def _add_look(add: Any) -> None:  # noqa: ANN401 - a bound method of argparse
    add("--layout", choices=("corner", "side", "full", "off"), help="where the presenter is")
    add("--corner", choices=("tl", "tr", "bl", "br"), help="which corner, or which side")
    add("--shape", choices=("round", "square"))
    add("--cover", action="store_true", default=None, help="the presenter may cover the slide")
    add("--background", choices=("plain", "blurred", "picture"))
    add("--colour", metavar="COLOUR", help="of a plain background")
    add("--backdrop", metavar="PICTURE", help="a picture as background")
    add("--aspect", choices=("16:9", "9:16"))
    add("--size", dest="size_px", type=int, metavar="N", help="720 or 1080 (short side)")
    add("--fps", type=int, metavar="N", help="24, 25, 30, 50 or 60")
    add("--transition", choices=("cut", "fade"), help="between slides")
    add("--pause", dest="pause_s", type=float, metavar="S", help="silence after each slide")
    add("--captions", choices=("off", "srt", "burn"), help="files, or in the picture too")
    add("--title", metavar="TEXT", help="shown in the lower third at the start")
    add("--subtitle", metavar="TEXT", help="below the title")
    add("--music", metavar="AUDIO", help="behind the words, lower while somebody speaks")
    add("--music-volume", type=float, metavar="X", help="in pauses, 0-1")
    add("--clips", action="store_true", help="also OUT.clips.zip: each slide as a video")


def _lecture(engine: StudioEngine, arguments: argparse.Namespace) -> int:
    target = output_file(arguments.output, ".mp4")
    request = _request(arguments)
    job = engine.lectures.submit(request)
    try:
        report = _copy_results(engine, finished_job(engine, job, request.title), target)
    finally:
        engine.lectures.keep_sections(job.job_id)
        engine.delete(job.job_id)
    print_notes(report["notes"], report["note_values"])
    if arguments.json:
        print(json.dumps(report, ensure_ascii=False))
    else:
        made, count = report["rendered_sections"], len(report["sections"])
        print(
            f"{target} ({report['duration_s']:.1f} s of video in {report['elapsed_s']:.1f} s, "
            f"{made} of {count} slides made anew)"
        )
    return EXIT_OK


def _template(_engine: StudioEngine, arguments: argparse.Namespace) -> int:
    target = output_file(arguments.output, ".md")
    target.write_text(TEMPLATE, "utf-8")
    print(target)
    return EXIT_OK


def _request(arguments: argparse.Namespace) -> LectureRequest:
    """What was asked.

    Raises:
        InputError: FILE_NOT_FOUND, or BAD_OPTION with the option's name.
    """
    script, audio = _words(arguments.words)
    slides = slide_files(arguments.slides)
    portrait = None
    if arguments.portrait != NO_PORTRAIT:
        portrait = existing_file(arguments.portrait)
    if arguments.backdrop and arguments.background is None:
        arguments.background = "picture"
    try:
        return LectureRequest(
            portrait=portrait,
            slides=tuple(slides),
            script=_text(arguments.script, "script") if arguments.script else script,
            audio=tuple(audio),
            times=_text(arguments.times, "times") if arguments.times else None,
            music=existing_file(arguments.music) if arguments.music else None,
            backdrop=existing_file(arguments.backdrop) if arguments.backdrop else None,
            options=LectureOptions(**_given(LectureOptions, arguments)),
            voice=LectureVoice(**_given(LectureVoice, arguments)),
            render=RenderOptions(
                **{
                    name: value
                    for name, value in _given(RenderOptions, arguments).items()
                    if name not in LectureOptions.model_fields
                }
            ),
            consent=True,  # a command-line call counts as the statement
            title=arguments.name or Path(arguments.slides).stem,
        )
    except ValidationError as error:
        raise bad_option(error) from None


def _given(kind: Any, arguments: argparse.Namespace) -> dict[str, Any]:  # noqa: ANN401 - a model's class
    """The options of a kind that were given; everything else keeps its default."""
    return {
        name: value
        for name in kind.model_fields
        if (value := getattr(arguments, name, None)) is not None
    }


def _words(paths: list[str]) -> tuple[str | None, list[str]]:
    """The script and the recordings among the arguments.

    Raises:
        InputError: FILE_NOT_FOUND or BAD_OPTION.
    """
    scripts = [path for path in paths if Path(path).suffix.lower() in SCRIPT_SUFFIXES]
    if len(scripts) > 1:
        raise InputError(ErrorCode.BAD_OPTION, option="script", reason="only one can be used")
    audio = [existing_file(path) for path in paths if path not in scripts]
    return (_text(scripts[0], "script") if scripts else None), audio


def _text(path: str, option: str) -> str:
    """The content of a text file.

    Raises:
        InputError: FILE_NOT_FOUND or BAD_OPTION.
    """
    try:
        return Path(existing_file(path)).read_text("utf-8-sig")
    except UnicodeDecodeError:
        reason = "the file is not text in UTF-8"
        raise InputError(ErrorCode.BAD_OPTION, option=option, reason=reason) from None


def slide_files(path: str) -> list[str]:
    """The file itself, or the files of a folder in the order people count in.

    Raises:
        InputError: FILE_NOT_FOUND.
    """
    folder = Path(path).expanduser()
    if not folder.is_dir():
        return [existing_file(path)]
    files = (file for file in folder.iterdir() if file.is_file() and file.name[0] != ".")
    return [str(file.absolute()) for file in sorted(files, key=_counted)]


def _counted(path: Path) -> list[tuple[bool, int, str]]:
    """A key that puts `slide 10` behind `slide 9`."""
    parts = re.split(r"(\d+)", path.name.lower())
    return [(part.isdigit(), int(part) if part.isdigit() else 0, part) for part in parts]


def _copy_results(engine: StudioEngine, job: JobRecord, target: Path) -> dict[str, Any]:
    """Copy the video, and what belongs to it, beside each other; never a half file.

    Returns:
        The job's report with the final paths in it.
    """
    places = {
        "video": target,
        "srt": target.with_suffix(".srt"),
        "vtt": target.with_suffix(".vtt"),
        "contents": target.with_suffix(".contents.txt"),
        "clips": target.with_suffix(".clips.zip"),
    }
    written: list[str] = []
    for artifact in job.artifacts:
        place = places.get(artifact.kind)
        if place is None:
            continue
        part = place.with_name(place.name + ".part")
        try:
            shutil.copyfile(engine.artifact_path(job.job_id, artifact.kind), part)
            part.replace(place)
        except OSError:
            part.unlink(missing_ok=True)
            raise InputError(ErrorCode.OUTPUT_NOT_WRITABLE) from None
        written.append(str(place))
    return {**job.report, "video": str(target), "artifacts": written}
