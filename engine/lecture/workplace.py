"""What everything that makes a lecture is handed."""

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from engine.contracts import JobSpec
from engine.errors import EngineError, ErrorCode
from engine.lecture.cache import SectionCache
from engine.lecture.options import LectureOptions, LectureSpec
from engine.pipeline.stage import StageClock
from engine.pipeline.tools import Tools
from engine.worker.task import TaskContext


@dataclass(frozen=True)
class Workplace:
    """One job under way.

    Attributes:
        spec: what to make.
        job_dir: with its files.
        cache: keeps what is finished.
        context: settings, cancel.
        tools: models of this process.
        clock: told how far it is.
    """

    spec: JobSpec
    job_dir: Path
    cache: SectionCache
    context: TaskContext
    tools: Tools
    clock: StageClock

    @property
    def lecture(self) -> LectureSpec:
        """The part of the spec that is about lectures."""
        if self.spec.lecture is None:
            raise EngineError(ErrorCode.INTERNAL)
        return self.spec.lecture

    @property
    def options(self) -> LectureOptions:
        """Choices about the look."""
        return self.lecture.options

    @property
    def fps(self) -> Fraction:
        """Frames a second."""
        return Fraction(self.options.fps)

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the video in pixels."""
        return self.options.frame_size
