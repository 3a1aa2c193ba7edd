"""The sample tasks, with attempts that are counted outside the job's folder.

A worker's folder goes with the worker, so that a second attempt elsewhere cannot count there.
The first entry of a job's script names the file that counts.
"""

import json
import os
import signal
from pathlib import Path
from typing import Any

import sample_tasks

from engine.contracts import Progress, Stage
from engine.worker.task import TaskContext


def render(payload: dict[str, Any], context: TaskContext) -> dict[str, Any]:
    """Do the step of this attempt, then write a video that names the process."""
    job_dir = Path(payload["job_dir"])
    counter, *steps = json.loads((job_dir / sample_tasks.AUDIO_NAME).read_text("utf-8"))
    log = Path(counter["log"])
    with log.open("a", encoding="utf-8") as file:
        file.write(f"{os.getpid()} {os.getppid()}\n")
    attempt = len(log.read_text("utf-8").splitlines())
    context.report(Progress(stage=Stage.PREPARE, percent=1.0))
    context.report(Progress(stage=Stage.ANIMATE, done=1, total=4, percent=10.0))
    step = steps[min(attempt, len(steps)) - 1]
    TASKS[step["kind"]]({**step, "job_dir": str(job_dir)}, context)
    (job_dir / "video.mp4").write_text(f"{payload['spec']['job_id']} {os.getpid()}")
    context.report(Progress(stage=Stage.ASSEMBLE, percent=100.0))
    report = {"animator": "lite", "duration_s": 10.0, "elapsed_s": 1.0, "pid": os.getpid()}
    report["card"] = os.environ.get("CUDA_VISIBLE_DEVICES")
    size = (job_dir / "video.mp4").stat().st_size
    artifact = {"kind": "video", "name": "video.mp4", "size_bytes": size}
    return {"report": report, "artifacts": [artifact]}


def kill_carrier(_payload: dict[str, Any], context: TaskContext) -> dict[str, Any]:
    """Kill the process that carries the jobs, as a broken machine does."""
    os.kill(os.getppid(), signal.SIGKILL)
    context.canceled.wait(60)
    return {}


TASKS = {**sample_tasks.TASKS, "render": render, "kill_carrier": kill_carrier}
