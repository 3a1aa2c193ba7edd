"""An engine in a process of its own: submits one job and waits for it.

Usage: engine_program.py DATA_DIR PORTRAIT AUDIO [--exclusive] [--held]
Prints the job's id, then its end, as JSON lines. With `--held` it does the product's own tasks,
which a test can stop, on a small video.
"""

import json
import sys

from engine.api import StudioEngine
from engine.contracts import AnimateRequest, RenderOptions
from engine.settings import EngineSettings

TASKS = ("sample_tasks:TASKS", "sample_tasks:TASKS")
HELD_TASKS = ("held_tasks:TASKS", "held_tasks:DECODE_TASKS")
SMALL = RenderOptions(animator="lite", size_px=256)


def main() -> None:
    data_dir, portrait, audio = sys.argv[1:4]
    settings = EngineSettings(data_dir=data_dir, cancel_grace_s=1.0)
    exclusive, is_held = "--exclusive" in sys.argv, "--held" in sys.argv
    tasks, decode_tasks = HELD_TASKS if is_held else TASKS
    request = AnimateRequest(
        portrait=portrait,
        audio=audio,
        consent=True,
        options=SMALL if is_held else RenderOptions(),
    )
    with StudioEngine(
        settings, exclusive=exclusive, tasks=tasks, decode_tasks=decode_tasks
    ) as engine:
        job = engine.submit(request, idempotency_key="the one" if is_held else None)
        say(job_id=job.job_id)
        done = engine.wait(job.job_id, 300)
        say(status=done.status, attempt=done.attempt)


def say(**fields: object) -> None:
    sys.stdout.write(json.dumps(fields) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
