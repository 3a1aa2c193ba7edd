"""Tasks that decode and draw nothing, to measure what the queue itself takes; see `load`."""

import shutil
from pathlib import Path
from typing import Any

from engine.contracts import Progress, Stage
from engine.errors import Canceled
from engine.worker.task import TaskContext


def decode(payload: dict[str, Any], _context: TaskContext) -> dict[str, Any]:
    """Hand the file on as it is."""
    shutil.copyfile(payload["source"], payload["target"])
    return {}


def intake(payload: dict[str, Any], _context: TaskContext) -> dict[str, Any]:
    """Keep a picture of nothing."""
    Path(payload["job_dir"], "portrait.png").write_bytes(b"")
    return {"portrait_name": "portrait.png", "audio_name": "speech.wav", "duration_s": 3.0}


def render(_payload: dict[str, Any], context: TaskContext) -> dict[str, Any]:
    """Run until it is canceled, telling progress as a real job does."""
    percent = 0.0
    while not context.canceled.wait(0.1):
        percent = min(percent + 0.1, 99.0)
        context.report(Progress(stage=Stage.ANIMATE, percent=percent))
    raise Canceled


TASKS = {"decode_picture": decode, "decode_sound": decode, "intake": intake, "render": render}
