"""The command line: parse, call the engine, print one sentence or one JSON object.

Exit codes: 0 success, 2 the user's error (one plain sentence, no traceback), 1 our failure,
130 stopped with Ctrl-C, 143 by a polite kill, 129 by its terminal.
"""

import argparse
import json
import logging
import sys
from collections.abc import Sequence
from typing import NoReturn

from pydantic import ValidationError

from engine.api import StudioEngine
from engine.cli.check import add_check_commands
from engine.cli.dub import add_dub_commands
from engine.cli.lecture import add_lecture_commands
from engine.cli.options import (
    EXIT_INTERRUPTED,
    EXIT_OURS,
    EXIT_USER,
    OUR_FAULTS,
    bad_option,
    force_hint,
)
from engine.cli.signals import Terminated, ended_politely
from engine.cli.speech import add_speech_commands
from engine.cli.users import add_user_commands
from engine.cli.verify import add_verify_commands
from engine.cli.video import add_video_commands
from engine.cli.weights import add_weights_commands
from engine.cli.worker import add_worker_commands
from engine.errors import EngineError
from engine.messages import describe
from engine.settings import EngineSettings


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
        if hasattr(arguments, "serve"):
            return int(arguments.serve(settings, arguments))
        with ended_politely(), StudioEngine(settings) as engine:
            return int(arguments.run(engine, arguments))
    except ValidationError as error:  # a variable of the environment
        return _report_error(bad_option(error), as_json=getattr(arguments, "json", False))
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
    print(f"{message.sentence} {message.hint} {force_hint(error.code)}".strip(), file=sys.stderr)
    return EXIT_OURS if error.code in OUR_FAULTS else EXIT_USER


def _build_parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="sonic-studio", description="One photo and speech become a video.")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    add_video_commands(commands)
    add_dub_commands(commands)
    add_lecture_commands(commands)
    add_speech_commands(commands)
    add_check_commands(commands)
    add_weights_commands(commands)
    add_worker_commands(commands)
    add_verify_commands(commands)
    add_user_commands(commands)
    return parser
