"""Lectures as callers ask for them: taken in, queued like any other job, looked at beforehand."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.contracts import JobRecord, JobSpec
from engine.jobs.fairness import LOCAL_OWNER
from engine.jobs.reception import Asker, Reception
from engine.jobs.rows import NewJob
from engine.lecture.cache import USED_NAME, scope_of
from engine.lecture.plan import Slide, expected_duration_s
from engine.lecture.request import LectureRequest
from engine.storage import JobFolders
from engine.worker.lecture_lane import LectureLane, TakenLecture, require_lecture

DEFAULT_SEED = 0
"""Fixed, so that a section that did not change is found again."""


@dataclass(frozen=True)
class OpenedDeck:
    """Slides that can be shown.

    Attributes:
        folder: with a small JPEG of each; it lives for an hour at least.
        slides: in order.
    """

    folder: Path
    slides: tuple[Slide, ...]


class LectureService:
    """Takes lectures; safe from any thread."""

    def __init__(self, folders: JobFolders, lane: LectureLane, reception: Reception) -> None:
        self._folders = folders
        self._lane = lane
        self._reception = reception

    def submit(
        self,
        request: LectureRequest,
        owner: str = LOCAL_OWNER,
        idempotency_key: str | None = None,
        address: str | None = None,
    ) -> JobRecord:
        """Take in the inputs of one lecture and queue it; arguments as of `StudioEngine.submit`.

        Raises:
            InputError: something about the inputs; nothing was queued.
            EngineError: QUEUE_FULL, TOO_MANY_WAITING, SUBMITTED_TOO_FAST, DAILY_LIMIT,
                DISK_LOW, STORAGE_FULL, DISK_FULL, PROBE_TIMEOUT, WORKER_LOST.
        """
        require_lecture(request)

        def take_in(job_id: str, folder: Path) -> NewJob:
            taken = self._lane.take_in_lecture(request, folder, scope_of(owner))
            return NewJob(
                spec=_spec_of(job_id, request, taken),
                owner=owner,
                title=_title_of(request),
                duration_s=_duration_s(taken),
                consent=request.consent,
            )

        return self._reception.receive(Asker(owner, idempotency_key, address), take_in)

    def open_deck(self, slides: Sequence[str]) -> OpenedDeck:
        """Look at slides before anything is made.

        Raises:
            InputError: what is wrong with the file.
            EngineError: PROBE_TIMEOUT, WORKER_LOST.
        """
        return OpenedDeck(*self._lane.open_deck(slides))

    def preview(self, request: LectureRequest, number: int) -> Path:
        """A small video of the first words of one slide; it lives for an hour at least.

        Args:
            request: the lecture; recordings, captions and music are left out.
            number: of the slide, from 1.

        Raises:
            InputError: something about the inputs.
            EngineError: PROBE_TIMEOUT, WORKER_LOST.
        """
        require_lecture(request)
        return self._lane.preview_section(request, number)

    def keep_sections(self, job_id: str) -> None:
        """Let the finished sections of a lecture outlive its job, for the next version of it.

        They are removed when they were not used for some days.
        """
        (self._folders.path(job_id) / USED_NAME).unlink(missing_ok=True)


def _spec_of(job_id: str, request: LectureRequest, taken: TakenLecture) -> JobSpec:
    render = request.render.model_copy(update={"fps": request.options.fps})
    seed = render.seed
    return JobSpec(
        job_id=job_id,
        kind="lecture",
        portrait_name=taken.portrait_name,
        options=render,
        seed=DEFAULT_SEED if seed is None else seed,
        consent=request.consent,
        label_language=request.label_language,
        lecture=taken.spec,
    )


def _title_of(request: LectureRequest) -> str:
    return request.title or request.options.title or Path(request.slides[0]).stem


def _duration_s(taken: TakenLecture) -> float:
    """About how long the lecture will be."""
    spec = taken.spec
    lengths = (
        expected_duration_s(section, spec.options, spec.voice.speed)
        for section in spec.sections
        if section.audio_name is None
    )
    return taken.recorded_s + sum(length or 0.0 for length in lengths)
