"""What the hostile tests share: a decode lane, its memory, and who opens the file beside."""

import ctypes
import os
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from engine.errors import EngineError, ErrorCode
from engine.settings import EngineSettings
from engine.worker.decode import DecodeLane
from engine.worker.lanes import decode_lane as make_decode_lane
from engine.worker.supervisor import ChildState, Supervisor
from tests.patience import PATIENCE

IN_OPEN = 0x20
MB = 2**20


def decode_lane(folder: Path, tasks: str, **changes: object) -> tuple[DecodeLane, Supervisor]:
    """A lane of one child, as the engine makes it, on a folder of the test's own."""
    settings = EngineSettings(data_dir=folder / "data", decode_processes=1, **changes)
    settings.data_dir.mkdir(parents=True)
    lane = make_decode_lane(settings, tasks, folder / "tmp")
    return lane, lane.pool.supervisors[0]


def wait_ready(supervisor: Supervisor) -> None:
    """Wait until a child is ready, as one is when files come as seldom as people send them."""
    deadline = time.monotonic() + 60 * PATIENCE
    while supervisor.state is not ChildState.READY:
        supervisor.warm_up()
        assert time.monotonic() < deadline
        time.sleep(0.01)


def refusal_of(lane: DecodeLane, medium: str, source: Path, target: Path) -> str | None:
    """The code a file is refused with; None when it is taken."""
    try:
        if medium == "picture":
            lane.picture(str(source), "white", target)
            return None
        return ErrorCode.SILENT if lane.sound(str(source), target)["is_silent"] else None
    except EngineError as error:
        return error.code


class MemoryWatch:
    """Highest resident memory of a lane's children, looked at 50 times a second."""

    def __init__(self, lane: DecodeLane) -> None:
        self.peak_mb = 0.0
        self._lane = lane
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._done.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._done.wait(0.02):
            for pid in self._lane.pool.pids:
                try:
                    rss_mb = psutil.Process(pid).memory_info().rss / MB
                except psutil.Error:
                    continue
                self.peak_mb = max(self.peak_mb, rss_mb)


class OpenWatch:
    """Tells, by the kernel's own word, how often any process opened one file."""

    def __init__(self, path: Path) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._descriptor = self._libc.inotify_init1(os.O_NONBLOCK)
        assert self._libc.inotify_add_watch(self._descriptor, os.fsencode(path), IN_OPEN) >= 0

    def count(self) -> int:
        """Events since the last call."""
        try:
            return len(os.read(self._descriptor, 65_536)) // struct.calcsize("iIII")
        except BlockingIOError:
            return 0

    def close(self) -> None:
        os.close(self._descriptor)


@contextmanager
def watched_opens(path: Path) -> Iterator[OpenWatch]:
    watch = OpenWatch(path)
    try:
        yield watch
    finally:
        watch.close()
