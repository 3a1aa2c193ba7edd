"""Types that cross the process wall: what is asked, what is known, what came out.

Frozen pydantic models, JSON on the wire, no arrays, paths as strings. `schema_version` of
`JobSpec` changes when a stored row could no longer be read.
"""

from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from engine.errors import ErrorCode
from engine.lecture.options import LectureSpec

Framing = Literal["face", "bust", "full"]
Aspect = Literal["source", "1:1", "9:16", "16:9"]
AnimatorChoice = Literal["auto", "lite", "sonic"]
PresetName = Literal["quick", "standard", "hd"]
Captions = Literal["off", "srt", "burn"]
DtypeName = Literal["auto", "bf16", "fp16", "fp32"]
Lane = Literal["render", "quick", "decode"]


class Frozen(BaseModel):
    """Base of every contract type: immutable, unknown fields refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Preset(Frozen):
    """What a preset name stands for."""

    size_px: int
    num_inference_steps: int


PRESETS: dict[PresetName, Preset] = {
    "quick": Preset(size_px=512, num_inference_steps=20),
    "standard": Preset(size_px=768, num_inference_steps=25),
    "hd": Preset(size_px=1024, num_inference_steps=30),
}


Weight = Annotated[float, Field(ge=0.0, le=20.0)]
"""Of one part of the guidance."""


Share = Annotated[float, Field(ge=0.0, le=1.0)]
"""Of a width or a height."""

Point = tuple[Share, Share]
"""x and y."""


class RenderOptions(Frozen):
    """Everything a person may choose about the picture.

    Attributes:
        animator: `auto` takes sonic when its weights and memory are there, else lite.
        preset: quick 512, standard 768, hd 1024 pixels on the short side.
        size_px: short side of the output in pixels, 256-1024 in steps of 2; None = preset.
        num_inference_steps: diffusion steps (sonic only), 10-50; None = preset.
        dynamic_scale: strength of the mouth, 0.3-2; 1 = natural.
        motion_scale: strength of head and brow motion, 0-2; 1 = natural.
        expand_ratio: crop to the square around the face with this much room on every side, as a
            share of the face box, 0-1 (sonic); None = only for the framing `face`, with .5.
        seed: repeats a video exactly; None = drawn and recorded.
        fps: frames a second, 25 or 50 (any of 24, 25, 30, 50, 60).
        framing: how much of the photo is kept: face, bust, or full.
        aspect: shape of the output; `source` keeps the framing's own shape.
        face_index: which face speaks, in order of `check`; None = largest.
        face_points: where the face is when none is found, as in a drawing: left eye, right eye,
            left and right corner of the mouth as they stand in the upright picture, each x and y
            as a share of its width and height, 0-1.
        smoothing: strength of temporal smoothing of the mouth, 0-2; 1 = tuned default, 0 = off.
        background: colour behind transparent pictures and padding, `#rrggbb` or a colour name.
        allow_smaller: draw one size smaller when the memory does not suffice otherwise.
        force: animate although the pre-flight check would refuse a turned or small face.
        captions: `srt` = files beside the video, `burn` = drawn into the picture too; both need
            a typed text, or the words of the recording.
        highlight_words: colour the word that is said: in the picture, and in WebVTT for players
            that can.
        level_sound: bring the sound to -16 LUFS, so that voices and recordings of one series
            are equally loud; False keeps the level.
        reduce_noise: take steady noise out of a recording, gently.
        trim_silence: cut off the silence before and behind the speech of a recording.
        guidance: weights of the picture and of the speech, 0-20 each (sonic).
        dtype: what the large networks compute in (sonic); `auto` = fp16 on a card, else fp32.
        decode_chunk: keyframes decoded together, 1-25 (sonic); fewer need less memory.
        calibrate: `auto` = measure how late the picture comes and correct it within 80 ms (sonic);
            a number = let it come so many milliseconds earlier; `off` = neither.
        segment_seconds: longest piece of speech animated at once, 5-30 (sonic); longer speech
            is spliced in pauses.
    """

    animator: AnimatorChoice = "auto"
    preset: PresetName = "quick"
    size_px: int | None = Field(default=None, ge=256, le=1024)
    num_inference_steps: int | None = Field(default=None, ge=1, le=100)
    dynamic_scale: float = Field(default=1.0, ge=0.3, le=2.0)
    motion_scale: float = Field(default=1.0, ge=0.0, le=2.0)
    expand_ratio: float | None = Field(default=None, ge=0.0, le=1.0)
    seed: int | None = Field(default=None, ge=0, le=2**31 - 1)
    fps: Literal[24, 25, 30, 50, 60] = 25
    framing: Framing = "full"
    aspect: Aspect = "source"
    face_index: int | None = Field(default=None, ge=0)
    face_points: tuple[Point, Point, Point, Point] | None = None
    smoothing: float = Field(default=1.0, ge=0.0, le=2.0)
    background: str = "white"
    allow_smaller: bool = False
    force: bool = False
    captions: Captions = "off"
    highlight_words: bool = False
    level_sound: bool = True
    reduce_noise: bool = False
    trim_silence: bool = False
    guidance: tuple[Weight, Weight] = (2.0, 7.5)
    dtype: DtypeName = "auto"
    decode_chunk: int = Field(default=8, ge=1, le=25)
    calibrate: Literal["auto", "off"] | Annotated[int, Field(ge=-200, le=200)] = "auto"
    segment_seconds: int = Field(default=30, ge=5, le=30)

    @field_validator("guidance", mode="before")
    @classmethod
    def _split_guidance(cls, given: object) -> object:
        """Take `2,7.5` for two numbers."""
        parts = given.split(",") if isinstance(given, str) else given
        if not isinstance(parts, list | tuple) or len(parts) != 2:
            raise ValueError("two numbers such as 2,7.5 are needed")
        return tuple(parts)

    @field_validator("face_points", mode="before")
    @classmethod
    def _split_face_points(cls, given: object) -> object:
        """Take `x,y,x,y,x,y,x,y` for four points."""
        if not isinstance(given, str):
            return given
        numbers = given.split(",")
        if len(numbers) != 8:
            raise ValueError("eight numbers are needed: x and y of both eyes and mouth corners")
        return tuple(zip(numbers[::2], numbers[1::2], strict=True))

    @property
    def steps(self) -> int:
        """Diffusion steps, from `num_inference_steps` or the preset."""
        return self.num_inference_steps or PRESETS[self.preset].num_inference_steps

    @property
    def output_size_px(self) -> int:
        """Short side of the output in pixels, from `size_px` or the preset."""
        return self.size_px or PRESETS[self.preset].size_px


class SpeechOptions(Frozen):
    """What should be said and by whom.

    Attributes:
        text: what the person typed, up to the setting's limit.
        language: BCP 47 tag such as `en` or `pt-br`; None = the voice's first language.
        voice: id from `voices`, such as `hibari:heart`; None = best one for the language.
        speed: 0.5 (slow) to 2 (fast); 1 = the voice's own.
        style: plain word such as `happy`; voices that cannot do it ignore it and say so.
    """

    text: str
    language: str | None = None
    voice: str | None = None
    speed: float = Field(default=1.0, ge=0.5, le=2.0)
    style: str | None = None


class AnimateRequest(Frozen):
    """One video a caller asks for: a portrait and either a recording or a text.

    Attributes:
        portrait: path of the picture as the caller has it; it is copied into the job.
        audio: path of the recording, or None when `speech` is given.
        speech: the text to speak, or None when `audio` is given.
        script: the known words of `audio`, if any; they time the mouth and the captions.
        script_language: BCP 47 tag of `script`; None = guessed from its words.
        options: choices about the picture.
        consent: the caller states they may use this face and voice.
        title: what lists show; the user's own file name or first words.
        label_language: BCP 47 tag of the "AI-generated" in the picture; English where it is not
            there in this language.
    """

    portrait: str
    audio: str | None = None
    speech: SpeechOptions | None = None
    script: str | None = None
    script_language: str | None = None
    options: RenderOptions = RenderOptions()
    consent: bool = False
    title: str = ""
    label_language: str = "en"


class JobSpec(Frozen):
    """What a worker needs to make one video. File names are relative to the job's folder."""

    schema_version: int = 1
    job_id: str
    kind: Literal["video", "lecture"] = "video"
    portrait_name: str
    audio_name: str | None = None
    speech: SpeechOptions | None = None
    script: str | None = None
    script_language: str | None = None
    options: RenderOptions = RenderOptions()
    seed: int = 0
    consent: bool = False
    label_language: str = "en"
    lecture: LectureSpec | None = None

    @property
    def input_names(self) -> tuple[str, ...]:
        """Every file in the job's folder that was given, not made."""
        own = filter(None, (self.portrait_name, self.audio_name))
        return (*own, *(self.lecture.file_names if self.lecture is not None else ()))


class JobStatus(StrEnum):
    """Where a job is. `queued` and `running` are live, the others final."""

    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELED = "canceled"

    @property
    def is_final(self) -> bool:
        """Whether nothing more will happen by itself."""
        return self not in (JobStatus.QUEUED, JobStatus.RUNNING)


class Stage(StrEnum):
    """The steps of one job, in order."""

    PREPARE = "prepare"
    SPEAK = "speak"
    LISTEN = "listen"
    ANIMATE = "animate"
    FINISH = "finish"
    ASSEMBLE = "assemble"


class Progress(Frozen):
    """How far a running job is.

    Attributes:
        stage: the step being done.
        done: units finished in this stage (frames, seconds, ...).
        total: units of this stage; 0 when unknown.
        percent: share of the whole job, 0-100.
        seconds_left: measured estimate for the whole job; None until it can be told.
        waits_for: what the job waits for before it goes on, such as `card_busy`; `values` are
            the numbers of its sentence.
    """

    stage: Stage
    done: int = 0
    total: int = 0
    percent: float = Field(default=0.0, ge=0.0, le=100.0)
    seconds_left: float | None = None
    waits_for: ErrorCode | None = None
    values: dict[str, Any] = Field(default_factory=dict)


ArtifactKind = Literal[
    "video", "poster", "srt", "vtt", "report", "speech", "timings", "contents", "clips"
]


class Artifact(Frozen):
    """One finished file of a job. `name` is relative to the job's folder."""

    kind: ArtifactKind
    name: str
    size_bytes: int


class JobError(Frozen):
    """Why a job failed: the code, the values its sentence needs, the stage it happened in."""

    code: ErrorCode
    values: dict[str, Any] = Field(default_factory=dict)
    stage: Stage | None = None


class JobRecord(Frozen):
    """One row of the job store as callers see it.

    Attributes:
        job_id: 128-bit random id in hex.
        owner: who submitted it, as `studio.session` or the command line named them.
        title: what lists show.
        status: where it is.
        spec: what was asked.
        attempt: how often a worker has started it.
        progress: last progress, None before the first.
        queue_position: 1 = next, None when not queued.
        error: why it failed, else None.
        artifacts: finished files, video first.
        report: the numbers of `animate --json` once succeeded.
        created_at, started_at, finished_at: UTC.
    """

    job_id: str
    owner: str
    title: str = ""
    status: JobStatus
    spec: JobSpec
    attempt: int = 0
    progress: Progress | None = None
    queue_position: int | None = None
    error: JobError | None = None
    artifacts: tuple[Artifact, ...] = ()
    report: dict[str, Any] = Field(default_factory=dict)
    created_at: datetime
    started_at: datetime | None = None
    finished_at: datetime | None = None
    consent: bool = False


class JobEvent(Frozen):
    """One change of one job, for feeds.

    Attributes:
        cursor: grows with every change; the last one seen is where the next call goes on.
        job_id: which job changed.
        record: the job as it is now; None when it was deleted.
    """

    cursor: int
    job_id: str
    record: JobRecord | None = None


class LabelCheck(Frozen):
    """What `verify` found in a video or a spoken WAV.

    Attributes:
        ok: every label is there and valid.
        problems: `ErrorCode` values, one for each that is not.
        duration_s: of the video.
        visible_label: language of the words in the picture; None when they are not there
            all the time, and for a WAV.
        aigc: fields of the AIGC tag.
        xmp_says_ai: whether the XMP names the video as made by a model.
        manifest: `valid`, `broken` (the file or the manifest was changed), or `missing`.
        manifest_faults: what does not fit, in C2PA's words.
        says_ai: whether the manifest names the video as made by a model.
        signer: name in the certificate.
        signed_here: whether this installation signed it.
        watermark: whether the hidden one was found; None when none is looked for.
        facts: what a valid manifest of ours says: models, consent, ...
        sync: the lip-sync figures in it.
    """

    ok: bool
    problems: tuple[str, ...] = ()
    duration_s: float = 0.0
    visible_label: str | None = None
    aigc: dict[str, Any] | None = None
    xmp_says_ai: bool = False
    manifest: Literal["valid", "broken", "missing"] = "missing"
    manifest_faults: tuple[str, ...] = ()
    says_ai: bool = False
    signer: str | None = None
    signed_here: bool = False
    watermark: bool | None = None
    facts: dict[str, Any] = Field(default_factory=dict)
    sync: dict[str, Any] = Field(default_factory=dict)

    @property
    def has_label(self) -> bool:
        """Whether any label at all was found, be it broken; None says nothing about the file."""
        found = (self.visible_label, self.aigc, self.xmp_says_ai, self.watermark)
        return any(found) or self.manifest != "missing"


class FaceFound(Frozen):
    """One face of a portrait, in pixels of the upright picture.

    Attributes:
        box: x, y, width, height of the face-oval landmarks (forehead to chin).
        score: detector confidence, 0-1.
        yaw_deg, pitch_deg, roll_deg: head pose; yaw > 0 looks to the picture's right,
            pitch > 0 looks down, roll > 0 is turned clockwise.
    """

    box: tuple[int, int, int, int]
    score: float
    yaw_deg: float
    pitch_deg: float
    roll_deg: float


class PortraitVerdict(Frozen):
    """What the check says about a picture. `verdict` other than `ok` blocks.

    `shown` is the part of the upright picture that the video will show: x, y, width, height in
    pixels; it may reach outside, where the video is filled up. None when there is no face.
    `turn_deg` is by how much the picture was turned clockwise to be upright: 0, 90, 180 or 270.
    """

    turn_deg: int = 0
    shown: tuple[int, int, int, int] | None = None
    faces: tuple[FaceFound, ...] = ()
    chosen: int | None = None
    width_px: int | None = None
    height_px: int | None = None
    verdict: str = "ok"
    warnings: tuple[str, ...] = ()
    values: dict[str, Any] = Field(default_factory=dict)


class AudioVerdict(Frozen):
    """What the check says about a recording. `verdict` other than `ok` blocks."""

    duration_s: float | None = None
    sample_rate_hz: int | None = None
    channels: int | None = None
    speech_share: float | None = None
    verdict: str = "ok"
    warnings: tuple[str, ...] = ()
    values: dict[str, Any] = Field(default_factory=dict)


class Estimate(Frozen):
    """What a job would cost on this machine with one animator."""

    seconds: float
    peak_vram_mb: float
    peak_rss_mb: float


class CheckReport(Frozen):
    """The pre-flight verdict; `audio` is None when only a portrait was given.

    `estimate` is by animator, `presets` by preset: the same for each quality, drawn by the
    animator that would be taken.
    """

    ok: bool
    portrait: PortraitVerdict | None = None
    audio: AudioVerdict | None = None
    estimate: dict[str, Estimate] = Field(default_factory=dict)
    presets: dict[PresetName, Estimate] = Field(default_factory=dict)


class VoiceInfo(Frozen):
    """One voice a person can choose.

    Attributes:
        voice_id: `engine:name`, such as `hibari:heart` or `espeak:de`.
        engine: which back end speaks it.
        name: what lists show.
        languages: BCP 47 tags, best first.
        gender: `female`, `male` or None when unknown.
        sample_rate_hz: of the sound it makes.
        licence: of the voice, SPDX where there is one.
        size_mb: on disk.
        needs: `none`, `download` or `gpu`.
        styles: plain words it obeys.
        installed: whether it can speak now.
        natural: whether it sounds like a person (espeak does not).
    """

    voice_id: str
    engine: str
    name: str
    languages: tuple[str, ...]
    gender: Literal["female", "male"] | None = None
    sample_rate_hz: int
    licence: str
    size_mb: float = 0.0
    needs: Literal["none", "download", "gpu"] = "none"
    styles: tuple[str, ...] = ()
    installed: bool = True
    natural: bool = True


class MemoryReading(Frozen):
    """What the gauge shows; a figure that cannot be told is None, never a guess.

    Attributes:
        kind: `vram` where a card is, else `ram`.
        device: name of the card or `This computer`.
        total_mb, used_mb: of the card, or of the computer's memory.
        ours_mb: what our render process holds.
        peak_mb: highest `ours_mb` since the studio started.
        temperature_c, load_percent: where the driver tells.
        warning: `memory_rising` when the memory held between videos grew a lot lately.
        rise_mb: by how much, in the last ten minutes.
    """

    kind: Literal["vram", "ram"]
    device: str
    total_mb: float | None = None
    used_mb: float | None = None
    ours_mb: float | None = None
    peak_mb: float | None = None
    temperature_c: float | None = None
    load_percent: float | None = None
    warning: ErrorCode | None = None
    rise_mb: float | None = None


class DiskReading(Frozen):
    """The disk the data folder lies on.

    Attributes:
        total_gb, free_gb: of the disk.
        ours_gb: what jobs, temporary files and uploads take.
        limit_gb: what they may take.
        is_low: less than 15 % of the disk are free.
    """

    total_gb: float
    free_gb: float
    ours_gb: float
    limit_gb: float
    is_low: bool


class WeightsState(Frozen):
    """One set of weights: what is here, and how far its download is.

    Attributes:
        name: what commands call it.
        title, notice: for people; the notice tells the licences.
        folder: where its files belong.
        num_files, num_usable: how many there are, how many of them are here and whole.
        missing_mb: what is still to come, at most.
        is_running: whether it is being downloaded.
        done_mb, total_mb: of the whole set; the total is None until the hub has told it.
        error: why the last download ended early.
    """

    name: str
    title: str
    notice: str
    folder: str
    num_files: int
    num_usable: int
    missing_mb: float = 0.0
    is_running: bool = False
    done_mb: float = 0.0
    total_mb: float | None = None
    error: JobError | None = None

    @property
    def is_complete(self) -> bool:
        """Whether everything is here."""
        return self.num_usable == self.num_files


class VoiceDownload(Frozen):
    """Voices that one download brings.

    Attributes:
        files: what is here of it, and how far it is.
        voices: that speak the language asked for.
    """

    files: WeightsState
    voices: tuple[VoiceInfo, ...]


class MemoryEntry(Frozen):
    """What one attempt of one job took, in MB; a figure that cannot be told is None.

    Attributes:
        job_id: which job; it may have been deleted since.
        attempt: which attempt of it.
        at: when it ended, UTC.
        child_pid: of the process that did it.
        rss_before_mb, rss_peak_mb, rss_after_mb: resident memory of that process.
        vram_before_mb, vram_after_mb: used on the card by everybody.
        vram_peak_mb: most that process reserved on the card.
        residue_mb: what it still held of the card after the job, beyond its context.
        replaced: why the process was replaced afterwards, None when it was kept.
    """

    job_id: str
    attempt: int
    at: datetime
    child_pid: int
    rss_before_mb: float
    rss_peak_mb: float
    rss_after_mb: float
    vram_before_mb: float | None = None
    vram_peak_mb: float | None = None
    vram_after_mb: float | None = None
    residue_mb: float | None = None
    replaced: str | None = None


def utc_now() -> datetime:
    """The current time, aware, in UTC."""
    return datetime.now(UTC)


class BatchRow(Frozen):
    """One video of a batch: a text to speak, a recording, or a recording with its words.

    Attributes:
        name: what its files are called, together with the language.
        language: BCP 47 tag of the text; None = the voice's own, or told by the words.
        voice: id from `voices`; None = the best one for the language.
        text: what is spoken, or the words of `audio`.
        audio: path of a recording; None = the text is spoken.
        speed: of the voice, 0.5-2.
    """

    name: str = Field(default="", max_length=200)
    language: str | None = None
    voice: str | None = None
    text: str | None = None
    audio: str | None = None
    speed: float = Field(default=1.0, ge=0.5, le=2.0)


class BatchRequest(Frozen):
    """Several videos of one portrait, asked for together.

    Attributes:
        portrait: path of the picture as the caller has it.
        rows: one for each video.
        options: choices about the picture, for all of them.
        consent: the caller states they may use this face and these voices.
        title: what lists show.
        label_language: BCP 47 tag of the label in the pictures.
    """

    portrait: str
    rows: tuple[BatchRow, ...]
    options: RenderOptions = RenderOptions()
    consent: bool = False
    title: str = ""
    label_language: str = "en"


class BatchPart(Frozen):
    """One row of a batch as it is now.

    Attributes:
        number: of the row, from 1.
        name, language, voice: as asked.
        file_stem: what its files are called, without an ending; unlike those of the others.
        job: the video; None when the row was refused or its video deleted.
        error: why the row was refused before it was queued.
        seconds_left: until its video is there; None once it has ended.
    """

    number: int
    name: str
    language: str | None = None
    voice: str | None = None
    file_stem: str
    job: JobRecord | None = None
    error: JobError | None = None
    seconds_left: float | None = None

    @property
    def is_final(self) -> bool:
        """Whether nothing more will happen by itself."""
        return self.job is None or self.job.status.is_final

    @property
    def is_ready(self) -> bool:
        """Whether its video is there."""
        return self.job is not None and self.job.status is JobStatus.SUCCEEDED

    @property
    def fault(self) -> JobError | None:
        """Why there is no video; None when there is one or may be one."""
        return self.error if self.job is None else self.job.error


class BatchRecord(Frozen):
    """A batch as callers see it.

    Attributes:
        batch_id: 128-bit random id in hex.
        owner: who submitted it.
        title: what lists show.
        created_at: UTC.
        parts: one for each row, in the person's order.
        percent: share of the whole work, 0-100; rows count by their length.
        seconds_left: until the last video is there; None once all have ended.
    """

    batch_id: str
    owner: str
    title: str = ""
    created_at: datetime
    parts: tuple[BatchPart, ...]
    percent: float = 0.0
    seconds_left: float | None = None

    @property
    def is_final(self) -> bool:
        """Whether nothing more will happen by itself."""
        return all(part.is_final for part in self.parts)

    @property
    def num_ready(self) -> int:
        """How many videos are there."""
        return sum(part.is_ready for part in self.parts)
