"""What every process test needs: where the sample tasks are, and waiting without fixed sleeps."""

import os
import time
from collections.abc import Callable
from pathlib import Path

from tests.patience import PATIENCE

TASKS = "sample_tasks:TASKS"
HERE = Path(__file__).resolve().parent


def python_path(*folders: Path) -> str:
    """`PYTHONPATH` with these folders before what is there already."""
    known = os.environ.get("PYTHONPATH")
    return os.pathsep.join([*map(str, folders), *([known] if known else [])])


def wait_until(is_true: Callable[[], object], timeout_s: float = 15.0) -> float:
    """Poll until `is_true`; returns how many seconds that took."""
    start = time.monotonic()
    while not is_true():
        assert time.monotonic() - start < timeout_s * PATIENCE, "it did not happen in time"
        time.sleep(0.02)
    return time.monotonic() - start
