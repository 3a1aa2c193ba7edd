"""Options that several commands share, reading them, and the notes printed beside a result."""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from engine.contracts import RenderOptions, SpeechOptions
from engine.errors import ErrorCode, InputError
from engine.messages import describe

EXIT_OK, EXIT_OURS, EXIT_USER, EXIT_INTERRUPTED = 0, 1, 2, 130

OUR_FAULTS = {
    ErrorCode.INTERNAL,
    ErrorCode.WORKER_LOST,
    ErrorCode.TIMED_OUT,
    ErrorCode.ENCODING_FAILED,
    ErrorCode.OUT_OF_MEMORY,
    ErrorCode.GPU_MEMORY,
}

FACE_POINTS_HELP = (
    "for a drawing: left eye, right eye, left and right mouth corner, as shares 0-1 of the picture"
)
FORCE_HINT = "To try all the same, add --force; the result may look odd."


def add_command(commands: Any, name: str, run: Any, summary: str) -> argparse.ArgumentParser:  # noqa: ANN401 - argparse has no public type for sub-parsers
    """Add a command that is done by `run(engine, arguments)`."""
    parser: argparse.ArgumentParser = commands.add_parser(name, help=summary, description=summary)
    parser.set_defaults(run=run)
    return parser


def add_speech_options(parser: argparse.ArgumentParser) -> None:
    """Add the text and how it is spoken."""
    parser.add_argument("text", metavar="TEXT", help="what to say; - reads it from standard input")
    parser.add_argument("--language", metavar="xx", help="such as en, de or pt-br")
    parser.add_argument("--voice", metavar="ID", help="see `voices`")
    parser.add_argument("--speed", type=float, default=1.0, metavar="X", help="0.5 to 2")
    parser.add_argument("--style", metavar="TEXT", help="for voices that can, such as happy")


def add_script_options(parser: argparse.ArgumentParser) -> None:
    """Add the known words of a recording."""
    parser.add_argument("--script", metavar="FILE.txt", help="the words of the recording")
    parser.add_argument("--language", metavar="TAG", help="of the words, such as de")


def add_render_options(parser: argparse.ArgumentParser, output: str = "OUT.mp4") -> None:
    """Add the output, a file or a folder, and every choice about the picture."""
    add = parser.add_argument
    add("-o", "--output", required=True, metavar=output)
    add("--animator", choices=("auto", "lite", "sonic"))
    add("--preset", choices=("quick", "standard", "hd"), help="512, 768 or 1024 pixels")
    add("--size", dest="size_px", type=int, metavar="N", help="short side in pixels, 256-1024")
    add("--steps", dest="num_inference_steps", type=int, metavar="N", help="sonic: 10-50")
    add("--dynamic-scale", type=float, metavar="X", help="strength of the mouth, 0.3-2")
    add("--motion-scale", type=float, metavar="X", help="strength of head motion, 0-2")
    add("--expand-ratio", type=float, metavar="X", help="sonic: crop, room around the face, 0-1")
    add("--guidance", metavar="A,B", help="sonic: weight of the picture and of the speech")
    add("--dtype", choices=("auto", "bf16", "fp16", "fp32"), help="sonic: number format")
    add("--calibrate", metavar="auto|off|MS", help="picture against sound; MS = so much earlier")
    add("--decode-chunk", type=int, metavar="N", help="sonic: keyframes decoded together, 1-25")
    add("--segment-seconds", type=int, metavar="N", help="sonic: longest piece of speech, 5-30")
    add("--seed", type=int, metavar="N", help="repeat a video exactly")
    add("--fps", type=int, metavar="N", help="24, 25, 30, 50 or 60")
    add("--framing", choices=("face", "bust", "full"))
    add("--aspect", choices=("source", "1:1", "9:16", "16:9"))
    add("--face", dest="face_index", type=int, metavar="N", help="which face, see `check`")
    add("--face-points", metavar="X,Y,...", help=FACE_POINTS_HELP)
    add("--smoothing", type=float, metavar="X", help="of the mouth, 0 off, 1 default")
    add("--captions", choices=("off", "srt", "burn"), help="files, or in the picture too")
    add(
        "--label-language",
        default="en",
        metavar="xx",
        help="of the words in the picture",
    )
    add(
        "--highlight-words", action="store_true", default=None, help="in captions, as they are said"
    )
    add(
        "--keep-level",
        dest="level_sound",
        action="store_false",
        default=None,
        help="of the sound; otherwise it is brought to -16 LUFS",
    )
    add("--reduce-noise", action="store_true", default=None, help="of a recording, gently")
    add("--trim-silence", action="store_true", default=None, help="at both ends of a recording")
    add("--background", metavar="COLOUR", help="behind transparent pictures")
    add("--allow-smaller", action="store_true", default=None, help="rather than lack memory")
    add("--force", action="store_true", default=None, help="although the check says no")
    add("--json", action="store_true", help="print one JSON object")


def force_hint(code: str) -> str:
    """What to add to a refusal that --force lifts; empty for any other."""
    return FORCE_HINT if code in (ErrorCode.FACE_TURNED, ErrorCode.FACE_TOO_SMALL) else ""


def existing_file(path: str) -> str:
    """The absolute path of a file the user named.

    Raises:
        InputError: FILE_NOT_FOUND.
    """
    absolute = Path(path).expanduser().absolute()
    if not absolute.is_file():
        raise InputError(ErrorCode.FILE_NOT_FOUND, name=Path(path).name)
    return str(absolute)


def output_file(path: str, suffix: str) -> Path:
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


def text_argument(text: str) -> str:
    """The text itself, or standard input for `-`."""
    return sys.stdin.read() if text == "-" else text


def render_options(arguments: argparse.Namespace) -> RenderOptions:
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
        raise bad_option(error) from None


def speech_options(arguments: argparse.Namespace) -> SpeechOptions:
    """What should be said and how.

    Raises:
        InputError: BAD_OPTION with the option's name and what is wrong with it.
    """
    try:
        return SpeechOptions(
            text=text_argument(arguments.text),
            language=arguments.language,
            voice=arguments.voice,
            speed=arguments.speed,
            style=arguments.style,
        )
    except ValidationError as error:
        raise bad_option(error) from None


def bad_option(error: ValidationError) -> InputError:
    """The first fault of some options as an error for the person who gave them."""
    first = error.errors()[0]
    option = str(first["loc"][0]).replace("_px", "").replace("_", "-") if first["loc"] else "option"
    told = first["msg"].removeprefix("Value error, ")
    reason = told[:1].lower() + told[1:]
    return InputError(ErrorCode.BAD_OPTION, option=option, reason=reason)


def script_text(path: str | None) -> str | None:
    """The words of a recording from a text file, None when there are none."""
    if path is None:
        return None
    try:
        text = Path(existing_file(path)).read_text("utf-8-sig")
    except UnicodeDecodeError:
        reason = "the file is not text in UTF-8"
        raise InputError(ErrorCode.BAD_OPTION, option="script", reason=reason) from None
    return text if text.strip() else None


def print_notes(codes: Sequence[str], values: dict[str, Any] | None = None) -> None:
    """Say on standard error what was left out, done differently or worth knowing."""
    for code in codes:
        message = describe(ErrorCode(code), values)
        print(f"{message.sentence} {message.hint}", file=sys.stderr)
