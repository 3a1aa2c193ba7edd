"""`serve-worker`: takes jobs from the broker and makes them here, one process for each card."""

import argparse
import logging
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from typing import Any

from engine.cli.options import EXIT_OK
from engine.errors import ErrorCode, InputError
from engine.settings import EngineSettings
from engine.worker.cards import chosen_cards
from engine.worker.environment import PROJECT_ROOT
from engine.worker.lanes import PRODUCT_TASKS
from engine.worker.recycle import back_off_s

POLL_S = 0.2
END_S = 15.0
"""What a process may take to end beyond the grace of its job."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,40}")

_log = logging.getLogger(__name__)


def add_worker_commands(commands: Any) -> None:  # noqa: ANN401 - argparse has no public type for sub-parsers
    """Add `serve-worker`."""
    summary = "make the videos of a studio elsewhere, which hands them out through a broker"
    parser = commands.add_parser("serve-worker", help=summary, description=summary)
    add = parser.add_argument
    add("--gpus", metavar="0,1", help="cards, one process each; or all; default: STUDIO_GPUS")
    add("--max-jobs", type=_positive, metavar="N", help="end after so many videos")
    add("--name", type=_name, metavar="NAME", help="own name of this worker on this data folder")
    add("--device", help=argparse.SUPPRESS)
    add("--tasks", default=PRODUCT_TASKS, help=argparse.SUPPRESS)
    add("--ends-with-parent", action="store_true", help=argparse.SUPPRESS)
    parser.set_defaults(serve=_serve)


def _serve(settings: EngineSettings, arguments: argparse.Namespace) -> int:
    logging.getLogger().setLevel(logging.INFO)
    logging.getLogger().handlers[0].setFormatter(
        logging.Formatter("%(asctime)s %(levelname)s %(message)s")
    )
    settings = settings.model_copy(update={"data_dir": settings.data_dir.expanduser().absolute()})
    cards: Sequence[str] = ()
    if arguments.device is None:
        wanted = settings.gpus if arguments.gpus is None else arguments.gpus.split(",")
        cards = chosen_cards(tuple(name.strip() for name in wanted))
    if len(cards) > 1:
        return Crew(arguments, cards, settings.shutdown_grace_s + END_S).run()
    return _work(settings, arguments, cards[0] if cards else arguments.device)


def _work(settings: EngineSettings, arguments: argparse.Namespace, device: str | None) -> int:
    try:
        # Only here, so that nobody needs the packages who has no broker.
        from engine.jobs.celery_worker import WorkerPlan, run_worker  # noqa: PLC0415
    except ImportError as error:
        reason = f"the package {error.name} is missing, install requirements-scale.txt"
        raise InputError(ErrorCode.BAD_OPTION, option="serve-worker", reason=reason) from None
    plan = WorkerPlan(
        name=arguments.name,
        device=device,
        max_jobs=arguments.max_jobs,
        tasks=arguments.tasks,
        ends_with_parent=arguments.ends_with_parent,
    )
    return run_worker(settings, plan)


class Crew:
    """One process for each card; a process that fails is started again, later each time.

    Args:
        arguments: of the command.
        cards: one each.
        end_s: what the processes may take to end.
    """

    def __init__(self, arguments: argparse.Namespace, cards: Sequence[str], end_s: float) -> None:
        self._arguments = arguments
        self._end_s = end_s
        self._stop = threading.Event()
        self._members = {card: self._start(card) for card in cards}
        self._failures = dict.fromkeys(cards, 0)

    def run(self) -> int:
        """Keep them running until a signal, or until each has made its number of videos."""
        for name in ("SIGTERM", "SIGINT", "SIGHUP"):
            if hasattr(signal, name):  # Windows has no SIGHUP
                signal.signal(getattr(signal, name), lambda *_: self._stop.set())
        while self._members and not self._stop.wait(POLL_S):
            for card, process in list(self._members.items()):
                code = process.poll()
                if code == EXIT_OK:
                    del self._members[card]
                elif code is not None:
                    self._restart(card, code)
        self._end()
        return EXIT_OK

    def _restart(self, card: str, code: int) -> None:
        self._failures[card] += 1
        wait_s = back_off_s(self._failures[card])
        _log.warning("the worker of card %s ended with %d, again in %.0f s", card, code, wait_s)
        self._stop.wait(wait_s)
        if not self._stop.is_set():
            self._members[card] = self._start(card)

    def _start(self, card: str) -> "subprocess.Popen[bytes]":
        given = self._arguments
        limit = [] if given.max_jobs is None else ["--max-jobs", str(given.max_jobs)]
        letters = "".join(letter for letter in card if letter.isalnum() or letter == "-")
        name = ["--name", f"{given.name or 'worker'}-gpu-{letters}"[:40]]
        program = [sys.executable, "-m", "engine", "serve-worker", "--ends-with-parent"]
        options = ["--device", card, "--tasks", given.tasks, *name, *limit]
        path = os.pathsep.join([str(PROJECT_ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
        environment = {**os.environ, "PYTHONPATH": path}
        return subprocess.Popen([*program, *options], stdin=subprocess.PIPE, env=environment)

    def _end(self) -> None:
        for process in self._members.values():
            if process.stdin is not None:
                process.stdin.close()  # they take it for the end of this process
        deadline = time.monotonic() + self._end_s
        for process in self._members.values():
            try:
                process.wait(max(0.1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("it must be 1 or more")
    return number


def _name(text: str) -> str:
    if not _NAME.fullmatch(text):
        raise argparse.ArgumentTypeError("letters, digits, - and _ only")
    return text
