"""End processes and be sure that they are gone.

A zombie counts as gone: it holds no memory and runs no code, and where the first process of a
container collects none, it stays for ever.
"""

import contextlib
import time
from collections.abc import Iterable, Sequence

import psutil

POLL_S = 0.02


def is_alive(process: psutil.Process | int) -> bool:
    """Whether a process (or whatever has this id now) still runs."""
    try:
        found = psutil.Process(process) if isinstance(process, int) else process
        return found.is_running() and found.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
    except psutil.Error:
        return True  # not ours to look at, but there


def family_of(pid: int) -> list[psutil.Process]:
    """The process, then everything it started, also what moved to a group of its own."""
    try:
        process = psutil.Process(pid)
        return [process, *process.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def kill_all(processes: Iterable[psutil.Process]) -> None:
    """Kill each process; its id is checked against its start time first."""
    for process in processes:
        with contextlib.suppress(psutil.Error):
            process.kill()


def wait_gone(processes: Sequence[psutil.Process], timeout_s: float) -> bool:
    """Wait until none of the processes runs; False when one outlives the time."""
    deadline = time.monotonic() + timeout_s
    while any(is_alive(process) for process in processes):
        if time.monotonic() >= deadline:
            return False
        time.sleep(POLL_S)
    return True
