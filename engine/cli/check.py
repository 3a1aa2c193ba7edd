"""`check` and `doctor`: what will do, and what this machine can do; nothing is made."""

import argparse
import json
from typing import Any

from engine.api import StudioEngine
from engine.cli.options import (
    EXIT_OK,
    EXIT_OURS,
    EXIT_USER,
    FACE_POINTS_HELP,
    add_command,
    existing_file,
    force_hint,
    render_options,
)
from engine.contracts import CheckReport
from engine.errors import ErrorCode
from engine.messages import describe

# From here on an estimate is told in minutes.
FEW_S = 90


def add_check_commands(commands: Any) -> None:  # noqa: ANN401 - argparse has no public type for sub-parsers
    """Add `check` and `doctor`."""
    check = add_command(commands, "check", _check, "say whether a photo and a recording will do")
    check.add_argument("portrait", metavar="PORTRAIT", help="a picture file")
    check.add_argument("audio", metavar="AUDIO", nargs="?", help="a sound or video file")
    check.add_argument(
        "--face", dest="face_index", type=int, metavar="N", help="0 is the largest face"
    )
    check.add_argument("--face-points", metavar="X,Y,...", help=FACE_POINTS_HELP)
    check.add_argument(
        "--force", action="store_true", default=None, help="only warn of a turned or small face"
    )
    check.add_argument("--json", action="store_true", help="print one JSON object")

    doctor = add_command(commands, "doctor", _doctor, "say what this machine can do")
    doctor.add_argument("--json", action="store_true")


def _check(engine: StudioEngine, arguments: argparse.Namespace) -> int:
    report = engine.check(
        existing_file(arguments.portrait),
        existing_file(arguments.audio) if arguments.audio else None,
        options=render_options(arguments),
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
    if report.portrait is not None and (hint := force_hint(report.portrait.verdict)):
        lines.append(hint)
    lines += [
        f"{name}: about {_time_words(estimate.seconds)} to make."
        for name, estimate in report.estimate.items()
    ]
    return "\n".join(lines)


def _time_words(seconds: float) -> str:
    """Seconds, minutes or hours, as exact as an estimate is."""
    if seconds < FEW_S:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def _doctor(engine: StudioEngine, arguments: argparse.Namespace) -> int:
    report = engine.doctor()
    if arguments.json:
        print(json.dumps(report, ensure_ascii=False))
    else:
        for row in report["checks"]:
            print(f"{'ok ' if row['ok'] else '-- '} {row['name']}: {row['detail']}")
    return EXIT_OK if report["ok"] else EXIT_OURS
