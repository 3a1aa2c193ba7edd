"""The command line over an engine that stays open, for tests of what its commands do.

A command of its own starts four processes first, which takes longer than most of them work. That
it does the same in a process of its own is what test_cli.py, test_dub.py and test_lecture.py hold
with one case of each kind.
"""

import io
import subprocess
from contextlib import nullcontext, redirect_stderr, redirect_stdout

import pytest

from engine.api import StudioEngine
from engine.cli import main


class CommandLine:
    """Runs commands in this process.

    Args:
        engine: used by all of them, in place of one each.
    """

    def __init__(self, engine: StudioEngine) -> None:
        self.engine = engine

    def __call__(self, *arguments: object, text: str = "") -> "subprocess.CompletedProcess[str]":
        """What a process of its own would have answered.

        Args:
            arguments: without the name of the program.
            text: on standard input.
        """
        argv = [str(argument) for argument in arguments]
        out, err = io.StringIO(), io.StringIO()
        with (
            pytest.MonkeyPatch.context() as patch,
            redirect_stdout(out),
            redirect_stderr(err),
        ):
            patch.setenv("STUDIO_DATA_DIR", str(self.engine.settings.data_dir))
            patch.setattr("sys.stdin", io.StringIO(text))
            patch.setattr("engine.cli.program.StudioEngine", lambda _: nullcontext(self.engine))
            try:
                code = main(argv)
            except SystemExit as end:
                code = int(end.code or 0)
        return subprocess.CompletedProcess(argv, code, out.getvalue(), err.getvalue())
