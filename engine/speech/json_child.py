"""A small program of our own that answers JSON lines; started when needed, replaced when lost.

Speech back ends with another licence or other dependencies than the product live in such a
process. It ends with its stdin, so a killed parent leaves none behind.
"""

import contextlib
import json
import logging
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

_log = logging.getLogger(__name__)

_PROJECT_ROOT = Path(__file__).resolve().parents[2]
_END_GRACE_S = 2.0
"""How long a child may take to end after its stdin closed; it has nothing to save."""


class ChildLost(Exception):
    """The child could not be started, ended, or did not answer in time."""


class JsonChild:
    """Asks one module run as a program, one question at a time, from any thread.

    Args:
        module: dotted name of the module, run as ``python -m module``.
        timeout_s: longest wait for one answer; a child that needs longer is killed.
        command: another program to run instead; `module` is then only its name.
    """

    def __init__(self, module: str, timeout_s: float, command: Sequence[str] | None = None) -> None:
        self._module = module
        self._timeout_s = timeout_s
        self._command = command
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._answers: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()

    @property
    def pid(self) -> int | None:
        """Process id of the running child, None when there is none."""
        process = self._process
        return process.pid if process and process.poll() is None else None

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """Send one request and wait for its answer; a lost child is started anew once.

        Raises:
            ChildLost: when the second child was lost too, or no answer came in time.
        """
        line = json.dumps(request, separators=(",", ":")).encode() + b"\n"
        with self._lock:
            reply = self._exchange(line)
            if reply is None:
                _log.warning("%s ended while it was asked; starting it again", self._module)
                reply = self._exchange(line)
        if reply is None:
            raise ChildLost(f"{self._module} ended twice")
        answer: dict[str, Any] = json.loads(reply)
        return answer

    def close(self) -> None:
        """End the child; the next question starts a new one."""
        with self._lock:
            self._end()

    def _exchange(self, line: bytes) -> bytes | None:
        """One try: the answer line, or None when the child was lost on the way."""
        process = self._running()
        try:
            if process.stdin is not None:  # Popen with PIPE always has one
                process.stdin.write(line)
                process.stdin.flush()
            reply = self._answers.get(timeout=self._timeout_s)
        except OSError:
            reply = None
        except queue.Empty:
            process.kill()
            self._end()
            raise ChildLost(f"{self._module} gave no answer in {self._timeout_s:g} s") from None
        if reply is None:
            self._end()
        return reply

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is None:
            return self._process
        self._end()
        paths = [str(_PROJECT_ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
        try:
            process = subprocess.Popen(
                self._command or [sys.executable, "-m", self._module],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
                creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            )
        except OSError as error:
            raise ChildLost(f"{self._module} could not be started") from error
        self._process = process
        # A queue of its own, so that nothing of an earlier child can be taken for an answer.
        self._answers = queue.SimpleQueue()
        threading.Thread(
            target=_read_lines, args=(process, self._answers), name=self._module, daemon=True
        ).start()
        return process

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        if process.stdin is not None:
            with contextlib.suppress(OSError):
                process.stdin.close()
        try:
            process.wait(_END_GRACE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _read_lines(process: subprocess.Popen[bytes], answers: queue.SimpleQueue[bytes | None]) -> None:
    """Hand every line on; None says that there will be no more."""
    if process.stdout is not None:
        with process.stdout:
            for line in process.stdout:
                answers.put(line)
    answers.put(None)
