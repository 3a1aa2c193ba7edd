"""The command line: parse, call the engine, print one sentence or one JSON object.

Exit codes: 0 success, 2 the user's error (one plain sentence, no traceback), 1 our failure,
130 stopped with Ctrl-C, 143 by a polite kill, 129 by its terminal.
"""

import argparse
import json
import logging
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from pydantic import ValidationError

from engine.api import StudioEngine
from engine.cli_progress import JobProgressBar
from engine.cli_signals import Terminated, ended_politely
from engine.cli_weights import add_weights_commands
from engine.contracts import (
    AnimateRequest,
    CheckReport,
    JobRecord,
    JobStatus,
    RenderOptions,
    SpeechOptions,
)
from engine.errors import EngineError, ErrorCode, InputError
from engine.messages import describe
from engine.settings import EngineSettings

EXIT_OK, EXIT_OURS, EXIT_USER, EXIT_INTERRUPTED = 0, 1, 2, 130

_OUR_FAULTS = {
    ErrorCode.INTERNAL,
    ErrorCode.WORKER_LOST,
    ErrorCode.TIMED_OUT,
    ErrorCode.ENCODING_FAILED,
    ErrorCode.OUT_OF_MEMORY,
    ErrorCode.GPU_MEMORY,
}


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one sentence instead of printing the usage."""

    def error(self, message: str) -> NoReturn:
        self.exit(EXIT_USER, f"{message[:1].upper()}{message[1:]}. See `{self.prog} --help`.\n")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        argv: arguments without the program name; None takes the process's own.

    Returns:
        The exit code.
    """
    arguments = _build_parser().parse_args(argv)
    logging.basicConfig(level=logging.CRITICAL, stream=sys.stderr, format="%(message)s")
    try:
        settings = EngineSettings()
        with ended_politely(), StudioEngine(settings) as engine:
            return int(arguments.run(engine, arguments))
    except EngineError as error:
        return _report_error(error, as_json=getattr(arguments, "json", False))
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        return EXIT_INTERRUPTED
    except Terminated as end:
        print("Stopped.", file=sys.stderr)
        return end.exit_code


def _report_error(error: EngineError, *, as_json: bool) -> int:
    message = describe(error.code, error.values)
    if as_json:
        body = {"code": error.code, "message": message.sentence, "hint": message.hint}
        print(json.dumps({"error": body}, ensure_ascii=False))
    print(f"{message.sentence} {message.hint}", file=sys.stderr)
    return EXIT_OURS if error.code in _OUR_FAULTS else EXIT_USER


def _existing_file(path: str) -> str:
    """The absolute path of a file the user named.

    Raises:
        InputError: FILE_NOT_FOUND.
    """
    absolute = Path(path).expanduser().absolute()
    if not absolute.is_file():
        raise InputError(ErrorCode.FILE_NOT_FOUND, name=Path(path).name)
    return str(absolute)


def _output_file(path: str, suffix: str) -> Path:
    """The absolute path to write to, checked before any work starts.

    Raises:
        InputError: OUTPUT_NOT_WRITABLE; BAD_OPTION when the name promises another kind of file.
    """
    target = Path(path).expanduser().absolute()
    if target.suffix.lower() not in (suffix, ""):
        raise InputError(
            ErrorCode.BAD_OPTION, option="output", reason=f"its name must end in {suffix}"
        )
    if target.is_dir() or not target.parent.is_dir() or not os.access(target.parent, os.W_OK):
        raise InputError(ErrorCode.OUTPUT_NOT_WRITABLE)
    return target


def _text_argument(text: str) -> str:
    return sys.stdin.read() if text == "-" else text


def _render_options(arguments: argparse.Namespace) -> RenderOptions:
    """The options a person gave; everything else keeps its default.

    Raises:
        InputError: BAD_OPTION with the option's name and what is wrong with it.
    """
    given = {
        name: value
        for name in RenderOptions.model_fields
        if (value := getattr(arguments, name, None)) is not None
    }
    try:
        return RenderOptions(**given)
    except ValidationError as error:
        raise _bad_option(error) from None


def _speech_options(arguments: argparse.Namespace) -> SpeechOptions:
    try:
        return SpeechOptions(
            text=_text_argument(arguments.text),
            language=arguments.language,
            voice=arguments.voice,
            speed=arguments.speed,
            style=arguments.style,
        )
    except ValidationError as error:
        raise _bad_option(error) from None


def _bad_option(error: ValidationError) -> InputError:
    first = error.errors()[0]
    option = str(first["loc"][0]).replace("_px", "").replace("_", "-") if first["loc"] else "option"
    told = first["msg"].removeprefix("Value error, ")
    reason = told[:1].lower() + told[1:]
    return InputError(ErrorCode.BAD_OPTION, option=option, reason=reason)


def _script_text(path: str | None) -> str | None:
    """The words of a recording from a text file, None when there are none."""
    if path is None:
        return None
    try:
        text = Path(_existing_file(path)).read_text("utf-8-sig")
    except UnicodeDecodeError:
        reason = "the file is not text in UTF-8"
        raise InputError(ErrorCode.BAD_OPTION, option="script", reason=reason) from None
    return text if text.strip() else None


def _animate(engine: StudioEngine, arguments: argparse.Namespace) -> int:
    target = _output_file(arguments.output, ".mp4")
    request = AnimateRequest(
        portrait=_existing_file(arguments.portrait),
        audio=_existing_file(arguments.audio),
        script=_script_text(arguments.script),
        script_language=arguments.language,
        options=_render_options(arguments),
        consent=True,  # a command-line call counts as the statement
        title=Path(arguments.portrait).stem,
    )
    return _make_video(engine, request, target, as_json=arguments.json)


def _say(engine: StudioEngine, arguments: argparse.Namespace) -> int:
    target = _output_file(arguments.output, ".mp4")
    request = AnimateRequest(
        portrait=_existing_file(arguments.portrait),
        speech=_speech_options(arguments),
        options=_render_options(arguments),
        consent=True,
        title=Path(arguments.portrait).stem,
    )
    return _make_video(engine, request, target, as_json=arguments.json)


def _make_video(
    engine: StudioEngine, request: AnimateRequest, target: Path, *, as_json: bool
) -> int:
    job = engine.submit(request)
    try:
        with JobProgressBar(request.title) as bar:
            job = engine.wait(job.job_id, on_progress=bar.show)
        if job.status is not JobStatus.SUCCEEDED:
            raise _job_failure(job)
        report = _copy_results(engine, job, target)
    except KeyboardInterrupt:
        engine.cancel(job.job_id)
        raise
    finally:
        engine.delete(job.job_id)
    _print_notes(report["notes"], report["note_values"])
    if as_json:
        print(json.dumps(report, ensure_ascii=False))
    else:
        print(f"{target} ({report['duration_s']:.1f} s of video in {report['elapsed_s']:.1f} s)")
    return EXIT_OK


def _job_failure(job: JobRecord) -> EngineError:
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


def _speak(engine: StudioEngine, arguments: argparse.Namespace) -> int:
    target = _output_file(arguments.output, ".wav")
    timings = _output_file(arguments.timings, ".json") if arguments.timings else None
    result = engine.speak(_speech_options(arguments), target)
    if timings is not None:
        timings.write_text(json.dumps(result["timings"], ensure_ascii=False), "utf-8")
    summary = {key: value for key, value in result.items() if key != "timings"}
    _print_notes(summary["notes"])
    if arguments.json:
        print(json.dumps({"audio": str(target), **summary}, ensure_ascii=False))
    else:
        print(f"{target} ({summary['duration_s']:.1f} s, voice {summary['voice']})")
    return EXIT_OK


def _print_notes(codes: Sequence[str], values: dict[str, Any] | None = None) -> None:
    """Say on standard error what was left out, done differently or worth knowing."""
    for code in codes:
        message = describe(ErrorCode(code), values)
        print(f"{message.sentence} {message.hint}", file=sys.stderr)


def _check(engine: StudioEngine, arguments: argparse.Namespace) -> int:
    report = engine.check(
        _existing_file(arguments.portrait),
        _existing_file(arguments.audio) if arguments.audio else None,
        options=_render_options(arguments),
    )
    if arguments.json:
        print(report.model_dump_json())
    else:
        print(_check_sentences(report))
    return EXIT_OK if report.ok else EXIT_USER


def _check_sentences(report: CheckReport) -> str:
    """The verdict as a person reads it, one line each."""
    lines = []
    if report.portrait is not None:
        chosen = report.portrait.chosen
        if report.portrait.verdict == "ok" and chosen is not None:
            box = report.portrait.faces[chosen].box
            lines.append(f"Face found, {box[3]} pixels high.")
    if report.audio is not None and report.audio.verdict == "ok":
        lines.append(f"{report.audio.duration_s:.1f} s of sound.")
    for verdict in (report.portrait, report.audio):
        if verdict is None:
            continue
        for code in (*([] if verdict.verdict == "ok" else [verdict.verdict]), *verdict.warnings):
            message = describe(ErrorCode(code), verdict.values)
            lines.append(f"{message.sentence} {message.hint}")
    lines += [
        f"{name}: about {estimate.seconds:.0f} s to make."
        for name, estimate in report.estimate.items()
    ]
    return "\n".join(lines)


def _lipsync(engine: StudioEngine, arguments: argparse.Namespace) -> int:
    target = _output_file(arguments.output, ".json")
    script = _script_text(arguments.script)
    result = engine.listen(_existing_file(arguments.audio), script, target, arguments.language)
    _print_notes(result["notes"])
    print(f"{target} ({result['num_samples']} samples at {result['rate_hz']} Hz)")
    return EXIT_OK


def _voices(engine: StudioEngine, arguments: argparse.Namespace) -> int:
    voices = engine.voices(arguments.language)
    if arguments.language and not voices:
        raise InputError(ErrorCode.LANGUAGE_UNSUPPORTED, language=arguments.language)
    if arguments.json:
        print(json.dumps([voice.model_dump() for voice in voices], ensure_ascii=False))
        return EXIT_OK
    for voice in voices:
        languages = ", ".join(voice.languages)
        kind = "natural" if voice.natural else "robotic"
        print(f"{voice.voice_id:24} {voice.name:32} {languages:20} {kind:8} {voice.licence}")
    return EXIT_OK


def _doctor(engine: StudioEngine, arguments: argparse.Namespace) -> int:
    report = engine.doctor()
    if arguments.json:
        print(json.dumps(report, ensure_ascii=False))
    else:
        for row in report["checks"]:
            print(f"{'ok ' if row['ok'] else '-- '} {row['name']}: {row['detail']}")
    return EXIT_OK if report["ok"] else EXIT_OURS


def _build_parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="sonic-studio", description="One photo and speech become a video.")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")

    animate = _command(commands, "animate", _animate, "a photo and a recording become a video")
    animate.add_argument("portrait", metavar="PORTRAIT")
    animate.add_argument("audio", metavar="AUDIO")
    _add_script_options(animate)
    _add_render_options(animate)

    say = _command(commands, "say", _say, "a photo and a text become a video")
    say.add_argument("portrait", metavar="PORTRAIT")
    _add_speech_options(say)
    _add_render_options(say)

    speak = _command(commands, "speak", _speak, "a text becomes speech")
    _add_speech_options(speak)
    speak.add_argument("-o", "--output", required=True, metavar="OUT.wav")
    speak.add_argument("--timings", metavar="OUT.json", help="also write word and sound times")
    speak.add_argument("--json", action="store_true")

    check = _command(commands, "check", _check, "say whether a photo and a recording will do")
    check.add_argument("portrait", metavar="PORTRAIT", help="a picture file")
    check.add_argument("audio", metavar="AUDIO", nargs="?", help="a sound or video file")
    check.add_argument(
        "--face", dest="face_index", type=int, metavar="N", help="0 is the largest face"
    )
    check.add_argument(
        "--force", action="store_true", default=None, help="only warn of a turned or small face"
    )
    check.add_argument("--json", action="store_true", help="print one JSON object")

    lipsync = _command(commands, "lipsync", _lipsync, "write the mouth curves of a recording")
    lipsync.add_argument("audio", metavar="AUDIO")
    lipsync.add_argument("-o", "--output", required=True, metavar="CURVES.json")
    _add_script_options(lipsync)

    voices = _command(commands, "voices", _voices, "list the built-in voices")
    voices.add_argument("--language", metavar="xx")
    voices.add_argument("--json", action="store_true")

    doctor = _command(commands, "doctor", _doctor, "say what this machine can do")
    doctor.add_argument("--json", action="store_true")

    summary = "list, download and verify the weights of the diffusion animator"
    add_weights_commands(commands.add_parser("weights", help=summary, description=summary))
    return parser


def _command(commands: Any, name: str, run: Any, summary: str) -> argparse.ArgumentParser:  # noqa: ANN401 - argparse has no public type for sub-parsers
    parser: argparse.ArgumentParser = commands.add_parser(name, help=summary, description=summary)
    parser.set_defaults(run=run)
    return parser


def _add_speech_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("text", metavar="TEXT", help="what to say; - reads it from standard input")
    parser.add_argument("--language", metavar="xx", help="such as en, de or pt-br")
    parser.add_argument("--voice", metavar="ID", help="see `voices`")
    parser.add_argument("--speed", type=float, default=1.0, metavar="X", help="0.5 to 2")
    parser.add_argument("--style", metavar="TEXT", help="for voices that can, such as happy")


def _add_script_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--script", metavar="FILE.txt", help="the words of the recording")
    parser.add_argument("--language", metavar="TAG", help="of the words, such as de")


def _add_render_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("-o", "--output", required=True, metavar="OUT.mp4")
    add("--animator", choices=("auto", "lite", "sonic"))
    add("--preset", choices=("quick", "standard", "hd"), help="512, 768 or 1024 pixels")
    add("--size", dest="size_px", type=int, metavar="N", help="short side in pixels, 256-1024")
    add("--steps", dest="num_inference_steps", type=int, metavar="N", help="sonic: 10-50")
    add("--dynamic-scale", type=float, metavar="X", help="strength of the mouth, 0.3-2")
    add("--motion-scale", type=float, metavar="X", help="strength of head motion, 0-2")
    add("--expand-ratio", type=float, metavar="X", help="sonic: crop, room around the face, 0-1")
    add("--guidance", metavar="A,B", help="sonic: weight of the picture and of the speech")
    add("--dtype", choices=("auto", "bf16", "fp16", "fp32"), help="sonic: number format")
    add("--decode-chunk", type=int, metavar="N", help="sonic: keyframes decoded together, 1-25")
    add("--segment-seconds", type=int, metavar="N", help="sonic: longest piece of speech, 5-30")
    add("--seed", type=int, metavar="N", help="repeat a video exactly")
    add("--fps", type=int, metavar="N", help="24, 25, 30, 50 or 60")
    add("--framing", choices=("face", "bust", "full"))
    add("--aspect", choices=("source", "1:1", "9:16", "16:9"))
    add("--face", dest="face_index", type=int, metavar="N", help="which face, see `check`")
    add("--smoothing", type=float, metavar="X", help="of the mouth, 0 off, 1 default")
    add("--captions", choices=("off", "srt", "burn"), help="files, or in the picture too")
    add("--background", metavar="COLOUR", help="behind transparent pictures")
    add("--allow-smaller", action="store_true", default=None, help="rather than lack memory")
    add("--force", action="store_true", default=None, help="although the check says no")
    add("--json", action="store_true", help="print one JSON object")
