"""An engine in a process of its own: submits one job and waits for it.

Usage: engine_program.py DATA_DIR PORTRAIT AUDIO [--exclusive]
Prints the job's id, then its end, as JSON lines.
"""

import json
import sys

from engine.api import StudioEngine
from engine.contracts import AnimateRequest
from engine.settings import EngineSettings

TASKS = "sample_tasks:TASKS"


def main() -> None:
    data_dir, portrait, audio = sys.argv[1:4]
    settings = EngineSettings(data_dir=data_dir, cancel_grace_s=1.0)
    exclusive = "--exclusive" in sys.argv
    with StudioEngine(settings, exclusive=exclusive, tasks=TASKS, decode_tasks=TASKS) as engine:
        job = engine.submit(AnimateRequest(portrait=portrait, audio=audio, consent=True))
        say(job_id=job.job_id)
        done = engine.wait(job.job_id, 60)
        say(status=done.status, attempt=done.attempt)


def say(**fields: object) -> None:
    sys.stdout.write(json.dumps(fields) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
