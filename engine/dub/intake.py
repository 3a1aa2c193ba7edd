"""Taking in a batch: the portrait once, then what each row says."""

import os
import secrets
import shutil
from dataclasses import dataclass
from pathlib import Path

from engine.contracts import AnimateRequest, BatchRequest, BatchRow, JobError, SpeechOptions
from engine.errors import EngineError, ErrorCode, InputError
from engine.jobs.admission import Admission
from engine.jobs.batches import RowFacts
from engine.jobs.requests import can_recognise, new_job, require_complete
from engine.jobs.rows import NewJob
from engine.settings import EngineSettings
from engine.storage import JobFolders
from engine.worker.quick import QuickLane, no_room

# The fault of one row. Whatever else goes wrong would go wrong with the next row, too.
_ROW_FAULTS = {ErrorCode.PROBE_TIMEOUT}


@dataclass(frozen=True)
class RowIntake:
    """Turns the rows of a batch into jobs that can be queued.

    Attributes:
        folders, lane, admission, settings: of the engine.
    """

    folders: JobFolders
    lane: QuickLane
    admission: Admission
    settings: EngineSettings

    def take_in(
        self, request: BatchRequest, owner: str, taken: dict[int, NewJob]
    ) -> list[RowFacts]:
        """Take in every row.

        Args:
            request: the batch.
            owner: who asks.
            taken: is filled with the jobs, by the index of their row; the caller removes their
                folders when something is raised.

        Returns:
            What is kept of each row; one that cannot be used has an error.

        Raises:
            InputError: what is wrong with the portrait.
            EngineError: what would befall every row.
        """
        keeper = secrets.token_hex(16)
        try:
            first = self.folders.create(keeper)
        except OSError as error:
            raise no_room(error) from error
        try:
            answer = self.lane.take_in_portrait(request.portrait, request.options, first)
            portrait = first / str(answer["portrait_name"])
            facts = []
            for index, row in enumerate(request.rows):
                refused: JobError | None = None
                try:
                    taken[index] = self._take_in_row(request, row, owner, portrait)
                except EngineError as error:
                    if not isinstance(error, InputError) and error.code not in _ROW_FAULTS:
                        raise
                    refused = JobError(code=error.code, values=error.values)
                facts.append(RowFacts(row.name, row.language, row.voice, refused))
            return facts
        finally:
            self.folders.remove(keeper)

    def _take_in_row(
        self, request: BatchRequest, row: BatchRow, owner: str, portrait: Path
    ) -> NewJob:
        wanted = request_of_row(request, row, can_recognise=can_recognise(self.settings))
        require_complete(wanted, self.settings)
        job_id = secrets.token_hex(16)
        try:
            folder = self.folders.create(job_id)
            _share(portrait, folder / portrait.name)
        except OSError as error:
            self.folders.remove(job_id)
            raise no_room(error) from error
        try:
            answer = self.lane.take_in_speech(wanted, folder)
            new = new_job(wanted, {**answer, "portrait_name": portrait.name}, job_id, owner)
            self.admission.require_room(new.spec, new.duration_s)
        except BaseException:
            self.folders.remove(job_id)
            raise
        return new


def request_of_row(request: BatchRequest, row: BatchRow, *, can_recognise: bool) -> AnimateRequest:
    """What one row asks for.

    A recording whose words nobody knows has no captions; that is no reason to refuse it, unless
    they should be drawn into the picture.

    Args:
        request: of the batch.
        row: of it.
        can_recognise: whether the words of a recording can be found out.

    Raises:
        InputError: ROW_EMPTY.
    """
    text = row.text if row.text and row.text.strip() else None
    if row.audio is None and text is None:
        raise InputError(ErrorCode.ROW_EMPTY)
    speech = None
    if row.audio is None and text is not None:
        speech = SpeechOptions(text=text, language=row.language, voice=row.voice, speed=row.speed)
    options = request.options
    if options.captions == "srt" and text is None and not can_recognise:
        options = options.model_copy(update={"captions": "off"})
    has_recording = row.audio is not None
    return AnimateRequest(
        portrait=request.portrait,
        audio=row.audio,
        speech=speech,
        script=text if has_recording else None,
        script_language=row.language if has_recording else None,
        options=options,
        consent=request.consent,
        label_language=request.label_language,
        title=" · ".join(filter(None, (row.name, row.language))) or request.title,
    )


def _share(source: Path, target: Path) -> None:
    """The same file under a second name; a copy where the disk knows no links."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)
