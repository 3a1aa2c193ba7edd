"""StudioEngine: everything a page, a command or a script may ask the engine for.

Imports nothing heavy and never draws, decodes or speaks itself: short questions go to the quick
child, videos go to the queue.
"""

import dataclasses
import os
import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from filelock import FileLock, Timeout
from pydantic import ValidationError

from engine.contracts import (
    PRESETS,
    AnimateRequest,
    CheckReport,
    DiskReading,
    JobEvent,
    JobRecord,
    JobSpec,
    JobStatus,
    LabelCheck,
    MemoryEntry,
    MemoryReading,
    Progress,
    RenderOptions,
    SpeechOptions,
    VoiceDownload,
    VoiceInfo,
    WeightsState,
)
from engine.dub.intake import RowIntake
from engine.dub.service import BatchService, BatchTools
from engine.errors import EngineError, ErrorCode, InputError
from engine.gpu.gauge import MemoryGauge
from engine.gpu.residue import RISE_MB
from engine.jobs.admission import Admission
from engine.jobs.backend import BackendHealth, JobBackend
from engine.jobs.choice import create_backend, create_executors
from engine.jobs.counts import JobCounts
from engine.jobs.disk import DiskGate
from engine.jobs.fairness import LOCAL_OWNER, priority_of
from engine.jobs.limits import PACE, rate_for, spoken_duration_s
from engine.jobs.rows import NewJob, StoredJob
from engine.jobs.store import JobStore
from engine.jobs.temp import SessionTemp
from engine.jobs.waiting import LOOKED_AT, start_of_place_s
from engine.lecture.cache import FOLDER_NAME, remove_scope, scope_of
from engine.lecture.service import LectureService, LectureTools
from engine.metrics import Figures, serve_metrics
from engine.owner_settings import OWNER_FIELDS, write_choices
from engine.settings import EngineSettings
from engine.storage import LIVE_NAME, JobFolders
from engine.weights.fetching import WeightsFetcher
from engine.weights.recogniser import recogniser_folder
from engine.weights.translator import translator_folder
from engine.weights.voices import set_of_voice
from engine.worker.lanes import (
    PRODUCT_DECODE_TASKS,
    PRODUCT_TASKS,
    decode_lane,
    quick_pool,
)
from engine.worker.lecture_lane import LectureLane
from engine.worker.quick import QuickLane, no_room
from engine.worker.supervisor import ignore_progress

STUDIO_LOCK_NAME = "studio.lock"
WAIT_POLL_S = 0.1


class StudioEngine:
    """Makes talking-portrait videos; usable as a context manager.

    Several engines may share a data folder: one of them runs the jobs of all.

    Attributes:
        batches: several videos of one portrait, asked for together.
        lectures: slides, a script and a presenter become one video.

    Args:
        settings: None = from the environment.
        exclusive: refuse when another exclusive engine (a running studio) has the folder, and
            begin at once with the jobs that wait there.
        tasks: ``module:NAME`` of the tasks the children can do.
        decode_tasks: the same for the children that open files of strangers.

    Raises:
        EngineError: DATA_DIR_BUSY, DATA_DIR_TOO_NEW, or OUTPUT_NOT_WRITABLE.
    """

    def __init__(
        self,
        settings: EngineSettings | None = None,
        *,
        exclusive: bool = False,
        tasks: str = PRODUCT_TASKS,
        decode_tasks: str = PRODUCT_DECODE_TASKS,
    ) -> None:
        settings = settings or EngineSettings()
        data_dir = settings.data_dir.expanduser().absolute()
        self.settings = settings.model_copy(update={"data_dir": data_dir})
        try:
            data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._folders = JobFolders(self.settings.jobs_dir)
        except OSError as error:
            raise EngineError(ErrorCode.OUTPUT_NOT_WRITABLE) from error
        self._studio_lock = FileLock(data_dir / STUDIO_LOCK_NAME, thread_local=False)
        if exclusive:
            self._claim_folder()
        self._store = JobStore(self.settings.store_path)
        self._disk = DiskGate(self.settings)
        self._admission = Admission(self._store, self.settings, self._disk)
        self._temp = SessionTemp(self.settings.temp_dir)
        self._gauge = MemoryGauge(self._pids, os.environ.get("CUDA_VISIBLE_DEVICES"))
        temp_dir = self._temp.path
        self._counts = JobCounts()
        self._render = create_executors(self.settings, tasks, temp_dir, self._gauge.read_now)
        self._quick = quick_pool(self.settings, tasks, temp_dir)
        self._decode = decode_lane(self.settings, decode_tasks, temp_dir)
        self._lane = QuickLane(self._quick, self._decode, self.settings, self._temp.create)
        self._backend: JobBackend = create_backend(
            self.settings, self._store, self._folders, self._render, self._disk, self._counts
        )
        self.lectures = LectureService(
            LectureTools(
                store=self._store,
                folders=self._folders,
                admission=self._admission,
                backend=self._backend,
                lane=LectureLane(self._quick, self._decode, self.settings, self._temp.create),
            )
        )
        intake = RowIntake(
            self._folders,
            self._lane,
            self._admission,
            self._require,
            _new_job,
            lambda: self.can_recognise,
        )
        self.batches = BatchService(
            BatchTools(
                store=self._store,
                folders=self._folders,
                admission=self._admission,
                disk=self._disk,
                backend=self._backend,
                settings=self.settings,
                temp_dir=self._temp.create,
                intake=intake,
            )
        )
        self._weights = WeightsFetcher(self.settings, self._lane.forget_voices)
        self._open = ExitStack()
        if exclusive:
            self._open.enter_context(serve_metrics(self.settings, self._figures))
            self._backend.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def finish(self, timeout_s: float | None = None) -> bool:
        """Begin no more jobs and wait for the running one; call it before `close`.

        Args:
            timeout_s: how long it may go on; None = the setting. One that is known to need
                longer is not waited for: `close` puts it back into the queue.

        Returns:
            Whether nothing runs any more.
        """
        limit_s = self.settings.shutdown_grace_s if timeout_s is None else timeout_s
        return self._backend.finish(limit_s)

    def close(self) -> None:
        """End the children, put a running job back into the queue, remove temporary files."""
        self._weights.stop()
        self._open.close()
        self._quick.close()
        self._decode.pool.close()
        self._backend.close()
        for executor in self._render:
            executor.close()
        self._temp.remove()
        self._store.close()
        self._studio_lock.release()

    # -- questions that are answered at once -----------------------------------------------

    def warm_up(self) -> None:
        """Begin to start what the first question about a photo needs; returns at once."""
        self._lane.warm_up()

    def check(
        self,
        portrait: str | Path | None,
        audio: str | Path | None = None,
        speech: SpeechOptions | None = None,
        options: RenderOptions | None = None,
        script: str | None = None,
    ) -> CheckReport:
        """Say whether these inputs will do, and what the video would cost here.

        Args:
            portrait: the picture, None = not given yet.
            audio: the recording.
            speech: the text, in place of a recording.
            options: choices about the picture.
            script: the known words of `audio`.

        Raises:
            EngineError: PROBE_TIMEOUT when a file could not be looked at in time.
        """
        options = options or RenderOptions()
        sizes = {options.output_size_px, *(preset.size_px for preset in PRESETS.values())}
        return self._lane.check(portrait, audio, speech, options, self._rates(sizes), script)

    def voices(
        self,
        language: str | None = None,
        *,
        refresh: bool = False,
        with_missing: bool = False,
    ) -> list[VoiceInfo]:
        """The voices that speak `language` (None = all); kept until `refresh`.

        Args:
            language: BCP 47 tag.
            refresh: ask anew, after a voice was fetched.
            with_missing: list those too that `fetch_voice` would bring, behind the others.
        """
        return self._lane.voices(language, refresh=refresh, with_missing=with_missing)

    def fetch_voice(self, voice_id: str) -> str:
        """Download what a voice needs in the background.

        Returns:
            The name under which `weights` tells how far it is; empty when it needs nothing.

        Raises:
            InputError: VOICE_UNKNOWN.
        """
        needed = set_of_voice(voice_id)
        if needed is None:
            known = self.voices(with_missing=True)
            if voice_id not in {voice.voice_id for voice in known}:
                raise InputError(ErrorCode.VOICE_UNKNOWN, voice=voice_id)
            return ""
        self._weights.start(needed.name)
        return needed.name

    def voice_downloads(self, language: str | None = None) -> list[VoiceDownload]:
        """What a download would bring, or is bringing, to a language (None = to all).

        Voices that need more than a download are left out.

        Args:
            language: BCP 47 tag.
        """
        states = {state.name: state for state in self._weights.states(everything=True)}
        found: dict[str, list[VoiceInfo]] = {}
        for voice in self.voices(language, with_missing=True):
            needed = set_of_voice(voice.voice_id) if voice.needs == "download" else None
            if needed is not None:
                found.setdefault(needed.name, []).append(voice)
        return [
            VoiceDownload(files=states[name], voices=tuple(voices))
            for name, voices in found.items()
        ]

    def try_speech_server(self, address: str) -> tuple[str, ...]:
        """Ask a speech server of the local network for its voices; nothing is kept.

        Args:
            address: such as `http://192.168.1.20:8880`.

        Raises:
            EngineError: SPEECH_SERVER_FAILED: it is outside, or does not answer.
        """
        return self._lane.try_speech_server(address)

    def preview_portrait(self, portrait: str | Path, options: RenderOptions | None = None) -> Path:
        """The picture as `check` sees it, upright, as a temporary JPEG; boxes of `check` fit it.

        Raises:
            InputError: what is wrong with the picture.
            EngineError: PROBE_TIMEOUT when it could not be decoded in time.
        """
        return self._lane.preview_portrait(portrait, options or RenderOptions())

    def preview_voice(self, speech: SpeechOptions) -> Path:
        """Speak a short text into a temporary WAV that lives for an hour at least."""
        return self._lane.preview(speech)

    def preview_voice_pieces(self, speech: SpeechOptions) -> Iterator[Path]:
        """As `preview_voice`, piece by piece: the first is there while the rest is spoken.

        Each WAV is the reader's to delete; all together they are the whole.
        """
        return self._lane.preview_pieces(speech)

    def speak(
        self,
        speech: SpeechOptions,
        target: str | Path,
        on_progress: Callable[[Progress], None] = ignore_progress,
    ) -> dict[str, Any]:
        """Speak a text into a WAV file.

        Args:
            speech: text and voice.
            target: the file.
            on_progress: told how many pieces of the text are spoken.

        Returns:
            `duration_s`, `voice`, `language`, `timings`, `notes`.
        """
        return self._lane.speak(speech, target, on_progress)

    def listen(
        self,
        audio: str | Path,
        script: str | None,
        target_json: str | Path,
        script_language: str | None = None,
    ) -> dict[str, Any]:
        """Write the mouth curves of a recording as JSON, with its words where they are known.

        Returns:
            `num_samples`, `rate_hz`, `num_words` of the script that were found, `notes`.
        """
        return self._lane.listen(audio, script, target_json, script_language)

    def verify(self, video: str | Path) -> LabelCheck:
        """Read the labels of a finished video, ours or not: what is there, what was changed.

        Raises:
            InputError: NOT_A_VIDEO or what else is wrong with the file.
            EngineError: PROBE_TIMEOUT when it could not be looked at in time.
        """
        return self._lane.verify(video)

    @property
    def can_recognise(self) -> bool:
        """Whether the words of a recording can be found out here, for its captions."""
        return recogniser_folder(self.settings) is not None

    @property
    def can_translate(self) -> bool:
        """Whether drafts of translations can be made here."""
        return translator_folder(self.settings) is not None

    def translate(self, text: str, source: str, targets: Sequence[str]) -> dict[str, str]:
        """Drafts of a text for people to read and correct; nothing is spoken or kept.

        Args:
            text: up to the limit of typed texts.
            source: BCP 47 tag of the text.
            targets: BCP 47 tags wanted.

        Returns:
            A draft for each target that the translator knows.

        Raises:
            InputError: TRANSLATOR_MISSING, TRANSLATION_UNSUPPORTED, TEXT_TOO_LONG.
        """
        limit = self.settings.max_text_characters
        if len(text) > limit:
            raise InputError(ErrorCode.TEXT_TOO_LONG, count=len(text), limit=limit)
        return self._lane.translate(text, source, targets)

    def doctor(self) -> dict[str, Any]:
        """What this machine can do: `ok`, `checks`, and `memory` of the last jobs."""
        entries = [entry.model_dump(mode="json") for entry in self.memory_ledger()]
        return {**self._lane.doctor(), "memory": entries}

    def gauge(self) -> MemoryReading:
        """The memory of the card, or of the computer; never waits for the driver."""
        reading = self._gauge.read()
        rise_mb = self._store.ledger.rise_mb(reading.kind)
        if rise_mb <= RISE_MB:
            return reading
        update = {"warning": ErrorCode.MEMORY_RISING, "rise_mb": round(rise_mb)}
        return reading.model_copy(update=update)

    def disk(self) -> DiskReading:
        """The space on the disk, and how much of it is ours."""
        return self._disk.read()

    def memory_ledger(self, limit: int = 50) -> list[MemoryEntry]:
        """What the last jobs took of the memory, newest first."""
        return self._store.ledger.newest(limit)

    def health(self) -> BackendHealth:
        """How the queue is doing here."""
        return self._backend.health()

    def measured_rate(self, animator: str, size_px: int) -> float | None:
        """Measured seconds of work per second of 25 fps video; None before the first video."""
        return rate_for(self._store.rates(), animator, size_px)

    # -- jobs --------------------------------------------------------------------------------

    def submit(
        self,
        request: AnimateRequest,
        owner: str = LOCAL_OWNER,
        idempotency_key: str | None = None,
        address: str | None = None,
    ) -> JobRecord:
        """Take in the inputs of one video and queue it.

        The caller's files are read now and not needed afterwards.

        Args:
            request: what to make.
            owner: who asks; only they (and local callers) see the job.
            idempotency_key: the same key of the same owner gives the same job.
            address: where they ask from; those who share one share wider limits.

        Raises:
            InputError: something about the inputs; nothing was queued.
            EngineError: QUEUE_FULL, TOO_MANY_WAITING, SUBMITTED_TOO_FAST, DAILY_LIMIT,
                DISK_LOW, STORAGE_FULL, DISK_FULL, PROBE_TIMEOUT, WORKER_LOST.
        """
        self._require(request)
        if idempotency_key is not None:
            known = self._store.find_by_key(owner, idempotency_key)
            if known is not None:
                return known
        self._admission.require(owner, address)
        job_id = secrets.token_hex(16)
        try:
            folder = self._folders.create(job_id)
        except OSError as error:
            raise no_room(error) from error
        try:
            taken = self._lane.take_in(request, folder)
            new = dataclasses.replace(
                _new_job(request, taken, job_id, owner),
                idempotency_key=idempotency_key,
                address=address,
            )
            self._admission.require_room(new.spec, new.duration_s)
            record = self._store.add(new, self._admission.refuse(owner))
        except BaseException:
            self._folders.remove(job_id)
            raise
        if record.job_id != job_id:
            self._folders.remove(job_id)
        self._backend.start()
        self._backend.submitted(record.job_id)
        return record

    def get(self, job_id: str, owner: str | None = None) -> JobRecord:
        """One job. An owner of None is a trusted local caller, here and below.

        Raises:
            EngineError: JOB_NOT_FOUND, also when it belongs to someone else.
        """
        return self._find(job_id, owner).record

    def wait(
        self,
        job_id: str,
        timeout_s: float | None = None,
        on_progress: Callable[[JobRecord], None] | None = None,
        owner: str | None = None,
    ) -> JobRecord:
        """Wait until a job has ended; runs it here when no other engine does.

        Args:
            job_id: which one.
            timeout_s: give up waiting after this time; the job goes on.
            on_progress: called in this thread with every change.
            owner: see `get`.

        Returns:
            The job; its status is final unless the time ran out.
        """
        self._backend.start()
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        seen: tuple[int, int | None] | None = None
        while True:
            job = self._find(job_id, owner)
            state = (job.revision, job.record.queue_position)
            if on_progress is not None and state != seen:
                on_progress(job.record)
            seen = state
            if job.record.status.is_final:
                return job.record
            if deadline is not None and time.monotonic() >= deadline:
                return job.record
            time.sleep(WAIT_POLL_S)

    def cancel(self, job_id: str, owner: str | None = None) -> JobRecord:
        """Stop a job: a waiting one at once, a running one within seconds."""
        self._find(job_id, owner)
        self._store.request_cancel(job_id)
        self._backend.canceled(job_id)
        return self._find(job_id, owner).record

    def retry(self, job_id: str, owner: str | None = None) -> JobRecord:
        """Queue a failed or canceled job again; any other is left as it is.

        Raises:
            EngineError: JOB_NOT_FOUND, or the queue is full for this owner.
        """
        self._admission.require(self._find(job_id, owner).record.owner)
        self._store.retry(job_id)
        self._backend.start()
        self._backend.submitted(job_id)
        return self._find(job_id, owner).record

    def delete(self, job_id: str, owner: str | None = None) -> None:
        """Remove a job and its files. It is invisible at once; one that runs is stopped first."""
        self._find(job_id, owner)
        self._store.hide(job_id)
        self._backend.canceled(job_id)
        self._purge_hidden()

    def forget(self, owner: str) -> None:
        """Remove everything about an owner: jobs, files, what limits them. It cannot be undone.

        A job that runs is invisible at once, stopped, and removed within seconds.
        """
        self._store.forget(owner)
        remove_scope(self.settings.data_dir / FOLDER_NAME, scope_of(owner))
        self._purge_hidden()

    def resume(self) -> None:
        """Go on with the queue although `health` says it is paused."""
        self._backend.resume()

    def expected_start_s(self, job_id: str, owner: str | None = None) -> float | None:
        """About how many seconds a waiting job waits; None when it does not wait."""
        place = self._find(job_id, owner).record.queue_position
        if place is None:
            return None
        queue = self._store.list_queued(LOOKED_AT)
        running = next(iter(self._store.list_running()), None)
        return start_of_place_s(place, queue, running, self._store.rates())

    def list_for(self, owner: str | None, limit: int = 50) -> list[JobRecord]:
        """The newest jobs of one owner (None = of all), newest first."""
        return self._store.list_jobs(owner, limit)

    def events_since(self, owner: str | None, cursor: int = 0) -> list[JobEvent]:
        """What changed after `cursor`, oldest first; go on with the last event's cursor."""
        return self._store.events_since(owner, cursor)

    def artifact_path(self, job_id: str, kind: str, owner: str | None = None) -> Path:
        """The finished file of a kind, such as `video`.

        Raises:
            EngineError: JOB_NOT_FOUND when there is none or it belongs to someone else.
        """
        record = self._find(job_id, owner).record
        name = next((item.name for item in record.artifacts if item.kind == kind), None)
        if name is None:
            raise EngineError(ErrorCode.JOB_NOT_FOUND)
        return self._folders.file(job_id, name)

    def artifact_link(self, job_id: str, kind: str, owner: str | None = None) -> str | None:
        """An address at which a browser fetches a finished file from S3 itself; ten minutes long.

        Returns:
            None when there is no such way: serve `artifact_path` then.

        Raises:
            EngineError: JOB_NOT_FOUND when there is none or it belongs to someone else.
        """
        record = self._find(job_id, owner).record
        name = next((item.name for item in record.artifacts if item.kind == kind), None)
        if name is None:
            raise EngineError(ErrorCode.JOB_NOT_FOUND)
        return self._backend.link(job_id, name) if self.settings.storage_links else None

    def input_path(self, job_id: str, kind: str, owner: str | None = None) -> Path:
        """The file a job was given: `portrait` or `audio`, as it was taken in.

        Raises:
            EngineError: JOB_NOT_FOUND when there is none or it belongs to someone else.
        """
        spec = self._find(job_id, owner).record.spec
        name = {"portrait": spec.portrait_name, "audio": spec.audio_name}.get(kind)
        path = self._folders.file(job_id, name) if name is not None else None
        if path is None or not path.is_file():
            raise EngineError(ErrorCode.JOB_NOT_FOUND)
        return path

    def live_picture(self, job_id: str, owner: str | None = None) -> Path | None:
        """The newest frame of a video in the making as a small JPEG; None before the first.

        Raises:
            EngineError: JOB_NOT_FOUND when it does not exist or belongs to someone else.
        """
        record = self._find(job_id, owner).record
        path = self._folders.path(record.job_id) / LIVE_NAME
        return path if record.status is JobStatus.RUNNING and path.is_file() else None

    # -- weights -----------------------------------------------------------------------------

    def weights(self, *, everything: bool = False) -> list[WeightsState]:
        """The sets of weights: what is here, and how far a download is.

        Args:
            everything: those too of which nothing is here and that no animator needs.
        """
        return self._weights.states(everything=everything)

    def fetch_weights(self, name: str) -> None:
        """Download what is missing of a set in the background; `weights` tells how far it is.

        Raises:
            InputError: WEIGHTS_UNKNOWN.
        """
        self._weights.start(name)

    def stop_fetching(self) -> None:
        """End a running download of weights; what came is kept."""
        self._weights.stop()

    # -- settings ----------------------------------------------------------------------------

    def owner_choices(self) -> dict[str, Any]:
        """What the owner may change on the page, as it holds now."""
        return {name: getattr(self.settings, name) for name in OWNER_FIELDS}

    def choose(self, values: Mapping[str, Any]) -> None:
        """Keep what the owner chose; it holds from the next start on.

        Raises:
            InputError: BAD_OPTION, naming the first value that cannot be used, or
                OUTPUT_NOT_WRITABLE.
            EngineError: SPEECH_SERVER_FAILED when its address leads outside.
        """
        try:
            EngineSettings(data_dir=self.settings.data_dir, **values)
        except ValidationError as error:
            fault = error.errors()[0]
            name = str(fault["loc"][0]).replace("_", " ") if fault["loc"] else "settings"
            raise InputError(ErrorCode.BAD_OPTION, option=name, reason=fault["msg"]) from None
        if values.get("speech_server_url"):
            self._lane.require_private(str(values["speech_server_url"]))
        try:
            write_choices(self.settings.data_dir, values)
        except OSError as error:
            raise InputError(ErrorCode.OUTPUT_NOT_WRITABLE) from error

    # -- inside ------------------------------------------------------------------------------

    def _require(self, request: AnimateRequest) -> None:
        """Refuse what can be seen without opening a file."""
        _validate(request, can_recognise=self.can_recognise)

    def _find(self, job_id: str, owner: str | None) -> StoredJob:
        job = self._store.get(job_id)
        if job is None or owner not in (None, job.record.owner):
            raise EngineError(ErrorCode.JOB_NOT_FOUND)
        return job

    def _purge_hidden(self) -> None:
        for job_id in self._store.purge_hidden():
            self._folders.remove(job_id)

    def _claim_folder(self) -> None:
        try:
            self._studio_lock.acquire(timeout=0)
        except Timeout:
            raise EngineError(ErrorCode.DATA_DIR_BUSY) from None

    def _rates(self, sizes: Iterable[int]) -> dict[str, float]:
        """What was measured here as the check task knows it: see `check_inputs`."""
        measured = self._store.rates()
        rates = {f"{name}:{size}": rate for (name, size), rate in measured.items()}
        for animator in {name for name, _ in measured}:
            for size_px in sizes:
                rate = rate_for(measured, animator, size_px)
                if rate is not None:
                    rates[f"{animator}:{size_px}"] = rate
        paces = {f"{PACE}:{stage}": pace for stage, pace in self._store.paces().items()}
        return {**rates, **paces}

    def _figures(self) -> Figures:
        health = self._backend.health()
        return Figures(
            counted=self._counts.read(),
            jobs=self._store.count_statuses(),
            workers=health.num_workers,
            busy=len(health.job_ids),
            memory=self._gauge.read(),
        )

    def _pids(self) -> list[int]:
        renders = [child.pid for child in self._render if child.pid is not None]
        return [*renders, *self._quick.pids, *self._decode.pool.pids]


def _validate(request: AnimateRequest, *, can_recognise: bool) -> None:
    """Refuse what can be seen without opening a file.

    Args:
        request: of a caller.
        can_recognise: whether the words of a recording can be found out.
    """
    if not request.consent:
        raise InputError(ErrorCode.CONSENT_MISSING)
    if (request.audio is None) == (request.speech is None):
        raise InputError(
            ErrorCode.BAD_OPTION, option="audio", reason="give either a recording or a text"
        )
    has_script = bool(request.script and request.script.strip())
    has_words = request.speech is not None or has_script or can_recognise
    if request.options.captions != "off" and not has_words:
        raise InputError(ErrorCode.CAPTIONS_NEED_TEXT)
    for path in (request.portrait, request.audio):
        if path is not None and not Path(path).is_file():
            raise InputError(ErrorCode.FILE_NOT_FOUND, name=Path(path).name)


def _new_job(request: AnimateRequest, taken: dict[str, Any], job_id: str, owner: str) -> NewJob:
    """A job to add, from a request and what its intake answered."""
    seed = request.options.seed
    duration_s = taken.get("duration_s")
    spec = JobSpec(
        job_id=job_id,
        portrait_name=taken["portrait_name"],
        audio_name=taken.get("audio_name"),
        speech=request.speech,
        script=request.script,
        script_language=request.script_language,
        options=request.options,
        seed=secrets.randbelow(2**31) if seed is None else seed,
        consent=request.consent,
        label_language=request.label_language,
    )
    return NewJob(
        spec=spec,
        owner=owner,
        title=request.title or Path(request.portrait).stem,
        duration_s=duration_s,
        consent=request.consent,
        priority=priority_of(spec, duration_s or spoken_duration_s(spec)),
    )
