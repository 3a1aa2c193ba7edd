"""The progress bar of the command line, on a terminal only."""

import sys
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from engine.contracts import JobRecord, JobStatus, Stage
from engine.messages import describe

_STAGE_WORDS = {
    Stage.PREPARE: "Preparing the photo",
    Stage.SPEAK: "Speaking the text",
    Stage.LISTEN: "Listening",
    Stage.ANIMATE: "Drawing frames",
    Stage.FINISH: "Checking lip-sync",
    Stage.ASSEMBLE: "Saving",
}


class JobProgressBar:
    """Shows stage, percent and time left on standard error; silent when it is not a terminal."""

    def __init__(self, title: str) -> None:
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            disable=not sys.stderr.isatty(),
            transient=True,
        )
        self._task = self._progress.add_task(title or "Starting", total=100)

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._progress.stop()

    def show(self, job: JobRecord) -> None:
        """Draw the state of `job`."""
        if job.status is JobStatus.QUEUED:
            waiting = f"Waiting (place {job.queue_position})" if job.queue_position else "Waiting"
            self._progress.update(self._task, description=waiting)
        elif job.progress is not None:
            words = _STAGE_WORDS[job.progress.stage]
            if job.progress.waits_for is not None:
                words = describe(job.progress.waits_for, job.progress.values).sentence
            self._progress.update(self._task, description=words, completed=job.progress.percent)
