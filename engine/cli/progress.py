"""The progress bar of the command line, on a terminal only."""

import sys
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from engine.contracts import JobRecord, JobStatus, Stage
from engine.contracts import Progress as StageProgress
from engine.messages import describe

_STAGE_WORDS = {
    Stage.PREPARE: "Preparing the photo",
    Stage.SPEAK: "Speaking the text",
    Stage.LISTEN: "Listening",
    Stage.ANIMATE: "Drawing frames",
    Stage.FINISH: "Checking lip-sync",
    Stage.ASSEMBLE: "Saving",
}


class _Bar:
    """A bar on standard error; silent when that is not a terminal."""

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


class JobProgressBar(_Bar):
    """Shows stage, percent and time left of a job."""

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


class SpeechBar(_Bar):
    """Shows how many pieces of a text are spoken."""

    def __init__(self) -> None:
        super().__init__(_STAGE_WORDS[Stage.SPEAK])

    def show(self, progress: StageProgress) -> None:
        """Draw how far it is."""
        words = f"{_STAGE_WORDS[Stage.SPEAK]} ({progress.done} of {progress.total})"
        self._progress.update(self._task, description=words, completed=progress.percent)
