"""How urgent a process is: renders let the page and quick answers go first."""

import logging
import sys

import psutil

RENDER_NICENESS = 10
"""POSIX niceness. Linux may share the processor between sessions first (autogroup) and weigh
niceness only within one, so children stay in the session of the studio, each in a group of its own.
A session of its own with a niceness was tried: beside other busy programs no video was finished."""

_log = logging.getLogger(__name__)


def lower_priority() -> None:
    """Let everything else on this computer go before this process."""
    process = psutil.Process()
    try:
        if sys.platform == "win32":
            process.nice(psutil.BELOW_NORMAL_PRIORITY_CLASS)
        else:
            process.nice(max(RENDER_NICENESS, process.nice()))
    except psutil.Error:
        _log.warning("could not lower the priority of this process")
