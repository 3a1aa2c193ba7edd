"""A small engine for tests of the page: real files and real owner checks, no rendering."""

import dataclasses
import shutil
import uuid
from pathlib import Path

from PIL import Image

from engine.contracts import (
    AnimateRequest,
    Artifact,
    AudioVerdict,
    CheckReport,
    DiskReading,
    Estimate,
    FaceFound,
    JobError,
    JobRecord,
    JobSpec,
    JobStatus,
    MemoryEntry,
    MemoryReading,
    PortraitVerdict,
    Progress,
    RenderOptions,
    SpeechOptions,
    Stage,
    VoiceInfo,
    WeightsState,
    utc_now,
)
from engine.errors import EngineError, ErrorCode, InputError
from engine.jobs.backend import BackendHealth
from engine.worker.previews import VoicePreview
from engine.worker.supervisor import ChildState

VOICES = [
    VoiceInfo(
        voice_id="espeak:de",
        engine="espeak",
        name="German",
        languages=("de",),
        sample_rate_hz=22050,
        licence="GPL-3.0-or-later",
        natural=False,
    ),
    VoiceInfo(
        voice_id="espeak:en",
        engine="espeak",
        name="English",
        languages=("en",),
        sample_rate_hz=22050,
        licence="GPL-3.0-or-later",
        natural=False,
    ),
    VoiceInfo(
        voice_id="hibari:heart",
        engine="hibari",
        name="Heart",
        languages=("en",),
        sample_rate_hz=24000,
        licence="Apache-2.0",
    ),
]


@dataclasses.dataclass
class FakeEngine:
    """Keeps jobs in memory; a test moves them on with `set_status`."""

    folder: Path
    jobs: dict[str, JobRecord] = dataclasses.field(default_factory=dict)
    keys: dict[tuple[str, str], str] = dataclasses.field(default_factory=dict)
    requests: list[AnimateRequest] = dataclasses.field(default_factory=list)
    links: dict[str, str] = dataclasses.field(default_factory=dict)

    def warm_up(self) -> None:
        """Nothing has to be started."""

    def check(
        self,
        portrait: str,
        audio: str | None = None,
        speech: SpeechOptions | None = None,
        options: RenderOptions = RenderOptions(),  # noqa: B008 - frozen
        script: str | None = None,
    ) -> CheckReport:
        try:
            with Image.open(portrait) as picture:
                width_px, height_px = picture.size
        except OSError:
            verdict = PortraitVerdict(verdict=ErrorCode.NOT_AN_IMAGE)
            return CheckReport(ok=False, portrait=verdict)
        face = FaceFound(
            box=(width_px // 3, height_px // 5, width_px // 3, height_px // 3),
            score=0.9,
            yaw_deg=0,
            pitch_deg=0,
            roll_deg=0,
        )
        found = PortraitVerdict(faces=(face,), chosen=0, width_px=width_px, height_px=height_px)
        if audio is None and speech is None:
            return CheckReport(ok=True, portrait=found)
        heard = AudioVerdict(duration_s=7.1)
        cost = Estimate(seconds=6, peak_vram_mb=0, peak_rss_mb=400)
        return CheckReport(
            ok=True,
            portrait=found,
            audio=heard,
            estimate={"lite": cost},
            presets={"quick": cost, "standard": cost, "hd": cost},
        )

    def preview_portrait(
        self,
        portrait: str,
        options: RenderOptions = RenderOptions(),  # noqa: B008 - frozen
    ) -> Path:
        target = self.folder / f"{uuid.uuid4().hex}.jpg"
        try:
            with Image.open(portrait) as picture:
                picture.convert("RGB").save(target)
        except OSError:
            raise InputError(ErrorCode.NOT_AN_IMAGE) from None
        return target

    def submit(
        self,
        request: AnimateRequest,
        owner: str,
        idempotency_key: str | None = None,
        address: str | None = None,
    ) -> JobRecord:
        if not request.consent:
            raise InputError(ErrorCode.CONSENT_MISSING)
        known = self.keys.get((owner, idempotency_key or ""))
        if idempotency_key and known:
            return self.jobs[known]
        self.requests.append(request)
        job_id = uuid.uuid4().hex
        spec = JobSpec(job_id=job_id, portrait_name="portrait.png", options=request.options)
        record = JobRecord(
            job_id=job_id,
            owner=owner,
            title=request.title,
            status=JobStatus.QUEUED,
            spec=spec,
            queue_position=1,
            created_at=utc_now(),
            consent=True,
        )
        self.jobs[job_id] = record
        self.keys[(owner, idempotency_key or "")] = job_id
        return record

    def get(self, job_id: str, owner: str) -> JobRecord:
        record = self.jobs.get(job_id)
        if record is None or record.owner != owner:
            raise EngineError(ErrorCode.JOB_NOT_FOUND)
        return record

    def cancel(self, job_id: str, owner: str) -> JobRecord:
        self.get(job_id, owner)
        return self.set_status(job_id, JobStatus.CANCELED)

    def retry(self, job_id: str, owner: str) -> JobRecord:
        self.get(job_id, owner)
        return self.set_status(job_id, JobStatus.QUEUED)

    def delete(self, job_id: str, owner: str) -> None:
        self.get(job_id, owner)
        del self.jobs[job_id]

    def list_for(self, owner: str | None, limit: int) -> list[JobRecord]:
        mine = [record for record in self.jobs.values() if owner in (None, record.owner)]
        return sorted(mine, key=lambda record: record.created_at, reverse=True)[:limit]

    def artifact_path(self, job_id: str, kind: str, owner: str) -> Path:
        record = self.get(job_id, owner)
        for artifact in record.artifacts:
            if artifact.kind == kind:
                return self.folder / artifact.name
        raise EngineError(ErrorCode.JOB_NOT_FOUND)

    def artifact_link(self, job_id: str, kind: str, owner: str) -> str | None:
        self.get(job_id, owner)
        return self.links.get(kind)

    def input_path(self, job_id: str, kind: str, owner: str) -> Path:
        self.get(job_id, owner)
        path = self.folder / {"portrait": "portrait.png", "audio": "speech.wav"}[kind]
        if not path.exists():
            raise EngineError(ErrorCode.JOB_NOT_FOUND)
        return path

    def health(self) -> BackendHealth:
        return BackendHealth(is_dispatching=True, worker=ChildState.READY, job_id=None)

    def expected_start_s(self, job_id: str, owner: str) -> float | None:
        return None

    def live_picture(self, job_id: str, owner: str) -> Path | None:
        self.get(job_id, owner)
        path = self.folder / "live.jpg"
        return path if path.exists() else None

    def forget(self, owner: str) -> None:
        self.jobs = {name: job for name, job in self.jobs.items() if job.owner != owner}

    def disk(self) -> DiskReading:
        return DiskReading(total_gb=500, free_gb=90, ours_gb=1.5, limit_gb=50, is_low=False)

    def memory_ledger(self, limit: int = 50) -> list[MemoryEntry]:
        return []

    def weights(self, *, everything: bool = False) -> list[WeightsState]:
        return [
            WeightsState(
                name="sonic",
                title="Sonic",
                notice="non-commercial",
                folder="w",
                num_files=13,
                num_usable=0,
                missing_mb=8300,
            )
        ]

    def owner_choices(self) -> dict[str, float | None]:
        return {
            "result_days": 30.0,
            "input_hours": 24.0,
            "max_data_gb": 50.0,
            "min_free_disk_gb": 1.0,
            "idle_unload_s": 600.0,
            "render_threads": None,
            "speech_server_url": None,
            "speech_server_model": "tts-1",
            "speech_server_languages": "en",
        }

    def doctor(self) -> dict[str, object]:
        row = {"name": "Disk", "ok": True, "needed": True, "detail": "90 GB free"}
        return {"ok": True, "checks": [row]}

    measured_from_s = 5.0

    def measured_rate(self, animator: str, size_px: int) -> float | None:
        return 0.8 if animator == "lite" else None

    def gauge(self) -> MemoryReading:
        return MemoryReading(
            kind="ram", device="This computer", total_mb=16384, used_mb=6000, ours_mb=700
        )

    def voices(self, language: str | None = None) -> list[VoiceInfo]:
        return [voice for voice in VOICES if language in (None, *voice.languages)]

    def preview_voice_pieces(
        self, options: SpeechOptions, asker: str | None = None
    ) -> VoicePreview:
        if not options.text.strip():
            raise InputError(ErrorCode.TEXT_EMPTY)
        return VoicePreview([(self.folder / "voice.wav").read_bytes()])

    def warm_voice(self, language: str | None, voice: str | None) -> None:
        pass

    def set_status(
        self, job_id: str, status: JobStatus, *, percent: float = 0.0, error: JobError | None = None
    ) -> JobRecord:
        """Move a job on; a succeeded one gets the video `video.mp4` of the folder."""
        change: dict[str, object] = {"status": status, "error": error, "queue_position": None}
        if status is JobStatus.RUNNING:
            change["progress"] = Progress(
                stage=Stage.ANIMATE, done=int(percent), total=100, percent=percent, seconds_left=12
            )
        if status is JobStatus.SUCCEEDED:
            change["artifacts"] = tuple(
                Artifact(kind=kind, name=name, size_bytes=(self.folder / name).stat().st_size)
                for kind, name in (("video", "video.mp4"), ("poster", "poster.jpg"))
                if (self.folder / name).exists()
            )
            change["report"] = {"duration_s": 7.08, "elapsed_s": 6.3}
        self.jobs[job_id] = self.jobs[job_id].model_copy(update=change)
        return self.jobs[job_id]


def fill_results(folder: Path, video: Path | None = None) -> None:
    """Put the files of a finished job into the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", (64, 64), "#1f6b5b").save(folder / "poster.jpg")
    if video is not None:
        shutil.copyfile(video, folder / "video.mp4")
    else:
        (folder / "video.mp4").write_bytes(b"not a real video, only bytes to serve")
