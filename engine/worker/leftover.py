"""The last child of an engine that was killed: wait for its end before another one starts.

Its id is kept in a small file. A child ends by itself within two seconds of its parent; one
that cannot, because native code keeps it busy, is killed here.
"""

import json
import logging
from pathlib import Path

import psutil

from engine.worker.ending import family_of, is_alive, kill_all, wait_gone

OWN_END_S = 3.0
"""How long a child may take to notice that its parent is gone."""

KILL_S = 10.0

_log = logging.getLogger(__name__)


def remember(path: Path, pid: int) -> None:
    """Write down which process runs now; without that, only a killed engine is worse off."""
    try:
        created = psutil.Process(pid).create_time()
        part = path.with_name(path.name + ".part")
        part.write_text(json.dumps({"pid": pid, "created": created}), "ascii")
        part.replace(path)
    except (OSError, psutil.Error):
        _log.warning("could not write down child %d", pid)


def is_there(path: Path | None) -> bool:
    """Whether the remembered process still runs."""
    return path is not None and _remembered(path) is not None


def wait_until_gone(path: Path) -> bool:
    """Make sure that the remembered process is gone; False when it cannot be ended."""
    process = _remembered(path)
    if process is None:
        return True
    family = family_of(process.pid)
    if wait_gone([process], OWN_END_S):
        return wait_gone(family, KILL_S)
    _log.warning("killing child %d of an engine that is gone", process.pid)
    kill_all(family)
    return wait_gone(family, KILL_S)


def _remembered(path: Path) -> psutil.Process | None:
    """The remembered process if it still runs and its id was not given to another."""
    try:
        known = json.loads(path.read_text("ascii"))
        process = psutil.Process(int(known["pid"]))
        is_same = abs(process.create_time() - float(known["created"])) < 1.0
    except (OSError, ValueError, KeyError, TypeError, psutil.Error):
        return None
    return process if is_same and is_alive(process) else None
