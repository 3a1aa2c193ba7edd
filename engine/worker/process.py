"""One child process as its parent sees it: start, talk, notice its end, make sure it is gone.

Knows nothing about tasks. The thread that reads the child's messages also starts it and waits
for it, so it lives exactly as long as the child does.
"""

import contextlib
import logging
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.worker.channel import Channel, ChannelClosed, Message
from engine.worker.ending import family_of, is_alive, kill_all, wait_gone

MAX_LOG_BYTES = 5_000_000
"""A child's log is put aside (one is kept) when it is longer than this at a start."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Launch:
    """How to start a child.

    Attributes:
        arguments: program and arguments, never through a shell.
        environment: the whole environment of the child.
        folder: its working directory, outside the project.
        log_path: what it prints is appended here.
    """

    arguments: Sequence[str]
    environment: Mapping[str, str]
    folder: Path
    log_path: Path


class ChildProcess:
    """One started child.

    Attributes:
        pid: its process id.
        is_condemned: it was told to end and must not get another task.
        started_at: `time.monotonic()` of its start.

    Args:
        launch: how to start it.

    Raises:
        OSError: it could not be started.
    """

    def __init__(self, launch: Launch) -> None:
        self._inbox: queue.SimpleQueue[Message] = queue.SimpleQueue()
        self._gone = threading.Event()
        self._started: queue.SimpleQueue[subprocess.Popen[bytes] | OSError] = queue.SimpleQueue()
        threading.Thread(
            target=self._serve, args=(launch,), name="child-reader", daemon=True
        ).start()
        started = self._started.get()
        if isinstance(started, OSError):
            raise started
        self.is_condemned = False
        self._survived_kill = False
        self._channel = _channel_of(started)
        self.pid = started.pid
        self.started_at = time.monotonic()

    @property
    def is_gone(self) -> bool:
        """Whether the process has ended and nothing of it is left."""
        return self._gone.is_set()

    @property
    def is_stuck(self) -> bool:
        """Whether the process was killed and runs nevertheless."""
        return self._survived_kill and not self.is_gone

    def send(self, **message: object) -> None:
        """Send a message; a child that is gone is noticed by `receive`."""
        with contextlib.suppress(ChannelClosed):
            self._channel.send(**message)

    def receive(self, timeout_s: float) -> Message | None:
        """The next message, None when there is none in time. The last is ``gone``."""
        try:
            return self._inbox.get(timeout=timeout_s)
        except queue.Empty:
            return None

    def stop(self, timeout_s: float) -> bool:
        """Ask the child to end by itself, then kill it; True when it is gone."""
        self.is_condemned = True
        self.send(type="stop")
        return self._gone.wait(timeout_s) or self.kill()

    def kill(self, timeout_s: float = 10.0) -> bool:
        """Kill the child and all it started.

        Returns:
            True when all of it is confirmed gone; False when the child survived, as one
            does whose driver hangs in the kernel.
        """
        self.is_condemned = True
        if self._gone.is_set():
            return True
        deadline = time.monotonic() + timeout_s
        family = family_of(self.pid)
        kill_all(family)
        _kill_group(self.pid)
        is_gone = self._gone.wait(timeout_s)
        is_gone = wait_gone(family, max(0.0, deadline - time.monotonic())) and is_gone
        if not is_gone:
            self._survived_kill = True
            _log.error("child %d did not end when killed", self.pid)
        return is_gone

    def notice_end(self) -> None:
        """Look whether the child ended although something it started keeps its channel open."""
        if not self._gone.is_set() and not is_alive(self.pid):
            _kill_group(self.pid)

    def _serve(self, launch: Launch) -> None:
        try:
            popen = _start(launch)
        except OSError as error:
            self._started.put(error)
            return
        self._started.put(popen)
        for message in _channel_of(popen).messages():
            self._inbox.put(message)
        # The channel ends when the child ends. It is not waited for yet, so its id cannot
        # belong to anyone else, and what is left of its group can be killed safely.
        _kill_group(popen.pid)
        exit_code = popen.wait()
        for pipe in (popen.stdin, popen.stdout):
            with contextlib.suppress(OSError):
                if pipe is not None:
                    pipe.close()
        self._gone.set()
        self._inbox.put({"type": "gone", "exit_code": exit_code})


def _start(launch: Launch) -> "subprocess.Popen[bytes]":
    _put_aside_long_log(launch.log_path)
    with launch.log_path.open("ab") as log:
        return subprocess.Popen(
            list(launch.arguments),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            cwd=launch.folder,
            env=dict(launch.environment),
            process_group=0,  # can be killed whole, yet is weighed beside us: see `priority`
            creationflags=_windows_flags(),
        )


def _windows_flags() -> int:
    if sys.platform == "win32":
        return subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW
    return 0


def _channel_of(popen: "subprocess.Popen[bytes]") -> Channel:
    if popen.stdin is None or popen.stdout is None:
        raise ChannelClosed
    return Channel(reader=popen.stdout, writer=popen.stdin)


def _put_aside_long_log(path: Path) -> None:
    # On Windows a log that another engine's child holds open cannot be moved; then it grows on.
    with contextlib.suppress(OSError):
        if path.stat().st_size > MAX_LOG_BYTES:
            path.replace(path.with_name(path.name + ".1"))


def _kill_group(pid: int) -> None:
    if sys.platform != "win32":
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)
