"""How urgent a process is: renders let the page and quick answers go first."""

import contextlib
import logging
import os
import sys
from pathlib import Path

import psutil

RENDER_NICENESS = 10
"""POSIX niceness: about a tenth of the processor's time when others want it, all of it else."""

SESSION_NICENESS = 5
"""A third of the weight of another session. With the two threads of a render on two cores, a quick
answer beside it has 86 % of a core then (67 % without, 95 % with 10), and a render beside other
busy programs still goes on: with 10 it had next to nothing and no video was finished."""

AUTOGROUP_PATH = Path("/proc/self/autogroup")

_log = logging.getLogger(__name__)


def lower_priority() -> None:
    """Let everything else on this computer go before this process."""
    process = psutil.Process()
    try:
        if sys.platform == "win32":
            process.nice(psutil.BELOW_NORMAL_PRIORITY_CLASS)
            return
        process.nice(max(RENDER_NICENESS, process.nice()))
    except psutil.Error:
        _log.warning("could not lower the priority of this process")
    if os.getsid(0) == os.getpid():
        _lower_session()


def _lower_session() -> None:
    """The same for a session that is this process's own.

    On a Linux desktop each session has an equal share of the processor, whatever the niceness
    of what runs in it; the session has a niceness of its own.
    """
    with contextlib.suppress(OSError):  # another system, or a kernel without it
        AUTOGROUP_PATH.write_text(str(SESSION_NICENESS), "ascii")
