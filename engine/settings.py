"""Every setting of the engine, read from `STUDIO_...` environment variables.

Nothing else in the engine reads the environment. Units are in the names.
"""

from pathlib import Path
from typing import Annotated, Any, Literal

import platformdirs
from pydantic import Field, SecretStr, ValidationInfo, field_validator, model_validator
from pydantic_settings import (
    BaseSettings,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from engine.owner_settings import OwnerChoices


def _default_data_dir() -> Path:
    return Path(platformdirs.user_data_dir("sonic-studio", appauthor=False))


PUBLIC_DEFAULTS: dict[str, Any] = {
    "max_queued_jobs": 50,
    "max_waiting_per_owner": 2,
    "max_submits_per_minute": 3,
    "max_jobs_per_day": 20,
    "max_audio_s": 60.0,
    "max_audio_bytes": 50_000_000,
    "max_text_characters": 1000,
    "max_batch_rows": 10,
    "max_slides": 40,
    "max_slides_bytes": 50_000_000,
    "max_script_characters": 10_000,
    "lecture_cache_days": 1.0,
    "result_days": 1.0,
    "min_free_disk_gb": 5.0,
}
"""What holds for strangers unless set otherwise; a minute of speech has about 1,000 characters."""


def _stricter(name: str, given: Any) -> Any:  # noqa: ANN401 - not validated yet
    """What was set, unless it would allow strangers without accounts more than the default."""
    limit = PUBLIC_DEFAULTS[name]
    try:
        number = float(given)
    except (TypeError, ValueError):
        return limit if given is None else given  # validation says what is wrong
    is_laxer = number < limit if name.startswith("min_") else number > limit
    return limit if is_laxer else given


class EngineSettings(BaseSettings):
    """Where things are kept and what the limits are."""

    model_config = SettingsConfigDict(env_prefix="STUDIO_", frozen=True)

    data_dir: Path = Field(default_factory=_default_data_dir)
    """All state: jobs, results, weights, temporary files."""

    recycle_after_jobs: int = Field(default=10, ge=1)
    """A render child is replaced after this many jobs, so that no leak can pile up."""

    idle_unload_s: float = Field(default=600.0, gt=0)
    """The render child ends after this time without work, so that others can use the card."""

    child_start_timeout_s: float = Field(default=120.0, gt=0)
    """A child that is not ready by then is killed and started anew."""

    heartbeat_timeout_s: float = Field(default=60.0, gt=0)
    """A child silent for this long is taken for hung and killed."""

    cancel_grace_s: float = Field(default=10.0, ge=0)
    """How long a canceled child may take to stop by itself before it is killed."""

    card_limit_mb: float | None = Field(default=None, ge=1500)
    """Most memory of a card that Sonic may take, its context included; None = whatever is free."""

    card_wait_s: float = Field(default=300.0, ge=0)
    """How long a video waits for the card when other programs hold its memory; then it fails with
    advice, so that the videos behind it go on."""

    shutdown_grace_s: float = Field(default=60.0, ge=0)
    """How long a running job may go on when the studio is asked to end; then it is put back."""

    quick_timeout_s: float = Field(default=60.0, gt=0)
    """Limit of one task on the quick lane (a check, a voice preview)."""

    decode_timeout_s: float = Field(default=8.0, gt=0)
    """Processor time for decoding a small picture, and for a recording the longest time without
    progress; large files get more. An 80 MP photo needs about 4 s."""

    decode_memory_mb: int = Field(default=1000, ge=300)
    """Most memory a process that decodes a stranger's file may take."""

    quick_processes: int = Field(default=2, ge=1)
    """Questions about photos, recordings and voices that are answered at once; a studio starts the
    second process after the first question, a command when the first is busy."""

    decode_processes: int = Field(default=2, ge=1)
    """Files of strangers that are decoded at once."""

    job_timeout_min_s: float = Field(default=600.0, gt=0)
    """Shortest limit of one job; the limit is ten times its estimate, never below this."""

    stall_timeout_s: float = Field(default=600.0, gt=0)
    """A job that reports no progress for this long (or twice its estimate) is taken for hung."""

    public: Literal["no", "accounts", "anonymous"] = "no"
    """Whether strangers may use this installation; other limits then have other defaults."""

    max_queued_jobs: int = Field(default=100, ge=1)
    """Submissions beyond this many waiting jobs are refused."""

    max_waiting_per_owner: int = Field(default=10, ge=1)
    """Waiting jobs of one person; the command line of a private installation has no such limit."""

    max_submits_per_minute: int = Field(default=10, ge=1)
    """Jobs one person may submit within a minute."""

    max_jobs_per_day: int | None = Field(default=None, ge=1)
    """Jobs one person may submit within 24 hours; None = any number."""

    result_days: float = Field(default=30.0, gt=0)
    """Videos and everything about them are removed this many days after they ended."""

    input_hours: float = Field(default=24.0, gt=0)
    """The photo and recording of a finished video are removed after this time."""

    min_free_disk_gb: float = Field(default=1.0, ge=0)
    """New jobs are refused when less would be free; large jobs need three times their estimate."""

    max_data_gb: float = Field(default=50.0, gt=0)
    """What jobs, temporary files and uploads may take together; new jobs are refused beyond."""

    uploads_dir: Path | None = None
    """Where the page keeps uploads; counted as ours and swept. None = in the data folder."""

    max_image_bytes: int = 50_000_000
    """Largest picture file taken."""

    max_image_megapixels: float = 80.0
    """Largest picture decoded; 80 MP need about 240 MB as RGB."""

    min_image_px: int = 48
    """Smallest side of a picture taken."""

    max_audio_bytes: int = 500_000_000
    """Largest sound file taken."""

    max_audio_s: float = 7200.0
    """Longest recording taken: two hours."""

    min_audio_s: float = 0.2
    """Shortest recording taken; below it no mouth shape can be seen."""

    max_text_characters: int = 5000
    """Longest text spoken in one video."""

    max_batch_rows: int = Field(default=50, ge=1)
    """Videos asked for at once by one table: half of the queue, so that others find a place."""

    max_slides: int = Field(default=300, ge=1)
    """Most slides of one lecture."""

    max_slides_bytes: int = 200_000_000
    """Largest file with slides taken."""

    max_script_characters: int = 100_000
    """Longest script of one lecture: about 100 minutes; what is said to one slide has the limit of
    one text."""

    office_path: Path | None = None
    """LibreOffice's program, which opens PowerPoint files; None = looked for."""

    office_timeout_s: float = Field(default=120.0, gt=0)
    """How long the conversion of a PowerPoint file may take."""

    lecture_cache_days: float = Field(default=7.0, ge=0)
    """Finished sections of lectures are kept this long after their last use."""

    lecture_cache_gb: float = Field(default=5.0, ge=0)
    """What they may take together; those used longest ago go first."""

    render_threads: int | None = Field(default=None, ge=1)
    """Threads that draw frames; None = one per core, at most four."""

    sonic_weights_dir: Path | None = None
    """A folder with Sonic's weights in the public layout; None = under the data folder."""

    speech_server_url: str | None = None
    """A speech server on this computer or a private network that speaks OpenAI's
    `/v1/audio/speech`, such as `http://192.168.1.20:8880`; None = none is asked."""

    speech_server_model: str = "tts-1"
    """What is asked for there as `model`."""

    speech_server_languages: str = "en"
    """Languages its voices speak, as tags with commas: `en,de`."""

    speech_server_key: SecretStr | None = None
    """Sent to the speech server alone, as a bearer token."""

    speech_server_timeout_s: float = Field(default=60.0, gt=0)
    """A server that says nothing for this long while it speaks a sentence is given up."""

    recogniser_dir: Path | None = None
    """A folder with Whisper for CTranslate2, for captions of recordings; None = the one that
    `weights get recogniser` fetched."""

    translator_dir: Path | None = None
    """A folder with M2M-100 for CTranslate2, for drafts of a dub's rows; None = the one that
    `weights get translator` fetched."""

    hub_endpoint: str = "https://huggingface.co"
    """Where weights are fetched from; a mirror with the same addresses may stand here."""

    hub_token: SecretStr | None = None
    """Access token for weights whose licence must be accepted first; sent to the hub alone."""

    visible_label: bool = True
    """Whether "AI-generated" stands in the picture; cannot be switched off in public."""

    watermark: str | None = None
    """A hidden watermark of a package of yours, as `module:NAME`; see docs/labels.md."""

    provenance_certificate: Path | None = None
    """PEM chain that signs videos, the signer's certificate first; None = a self-made one."""

    provenance_key: Path | None = None
    """PEM private key of that certificate, without a password."""

    provenance_timestamp_url: str | None = None
    """RFC 3161 service that stamps the time of each signature; None = nobody is asked."""

    # -- several cards and several machines, see docs/scaleout.md

    gpus: Annotated[tuple[str, ...], NoDecode] = ()
    """Cards that make videos, one worker each: `0,1`, ids such as `GPU-...`, or `all`; none = the
    one that CUDA chooses."""

    executor: Literal["child", "zerogpu"] = "child"
    """What makes the videos: a child process, or this process where ZeroGPU lends the card."""

    backend: Literal["local", "celery"] = "local"
    """Who carries jobs to workers: this process, or a broker that workers elsewhere ask."""

    broker_url: SecretStr | None = None
    """Redis or RabbitMQ for `celery`, such as `redis://host:6379/0` or `amqp://user:key@host//`."""

    broker_prefix: str = Field(default="sonic-studio", pattern=r"^[A-Za-z0-9._-]{1,60}$")
    """How names of queues begin: installations that share a broker need different ones, and the
    workers of one the same."""

    broker_queue: Literal["classic", "quorum"] = "classic"
    """Kind of queue on RabbitMQ; `quorum` for a cluster and from 4.3 on."""

    broker_window: int = Field(default=16, ge=1)
    """Jobs at the broker at once, others wait here in turn: at least as many as workers."""

    broker_silence_s: float = Field(default=60.0, ge=3.0)
    """A worker not heard of for this long counts as lost, its job is given to another one."""

    broker_hold_s: float = Field(default=24 * 3600.0, ge=60.0)
    """How long Redis leaves a job with a worker before it hands it out again by itself, and
    RabbitMQ waits for its end; longer than any job."""

    storage_url: SecretStr | None = None
    """Where files of jobs travel to workers and back: `s3://bucket/folder`, or a folder that all
    machines see; None = a folder in the data folder, for workers on this machine."""

    storage_links: bool = False
    """Whether browsers fetch videos from S3 themselves, by links that work for ten minutes."""

    metrics_port: int | None = Field(default=None, ge=1, le=65535)
    """Port of the Prometheus endpoint; None = there is none."""

    metrics_host: str = "127.0.0.1"
    """Address of the Prometheus endpoint."""

    @field_validator("gpus", mode="before")
    @classmethod
    def _read_list(cls, given: Any) -> Any:  # noqa: ANN401 - whatever pydantic was given
        if isinstance(given, str):
            return tuple(name for name in (part.strip() for part in given.split(",")) if name)
        return given

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Arguments win over the environment, and both over what the owner chose on the page."""
        return init_settings, env_settings, OwnerChoices(settings_cls)

    @model_validator(mode="before")
    @classmethod
    def _fill_for_strangers(cls, given: dict[str, Any]) -> dict[str, Any]:
        """What was not set has the defaults of the mode."""
        mode = given.get("public", "no")
        if mode == "no":
            return given
        filled = {**PUBLIC_DEFAULTS, **given}
        if mode == "anonymous":
            filled.update({name: _stricter(name, filled[name]) for name in PUBLIC_DEFAULTS})
        return filled

    @field_validator("visible_label")
    @classmethod
    def _force_labels(cls, is_on: bool, info: ValidationInfo) -> bool:
        """Strangers' videos are labelled, whatever else is set."""
        if not is_on and info.data.get("public", "no") != "no":
            raise ValueError("videos of strangers always carry the visible label")
        return is_on

    @property
    def is_public(self) -> bool:
        """Whether strangers may use this installation."""
        return self.public != "no"

    @property
    def sonic_dir(self) -> Path:
        """Where Sonic's weights lie or would lie."""
        return self.sonic_weights_dir or self.data_dir / "weights" / "sonic"

    @property
    def weights_dir(self) -> Path:
        """Where downloaded weights lie, one folder a set."""
        return self.data_dir / "weights"

    @property
    def own_voices_dir(self) -> Path:
        """Voices of a person's own, one folder a kind; need not be there."""
        return self.data_dir / "voices"

    @property
    def qwen_env_dir(self) -> Path:
        """The environment of Qwen3-TTS; need not be there."""
        return self.data_dir / "environments" / "qwen"

    @property
    def pronunciations_path(self) -> Path:
        """A person's own pronunciations, `word = how to say it` a line; need not be there."""
        return self.data_dir / "pronunciations.txt"

    @property
    def jobs_dir(self) -> Path:
        """One folder per job: inputs, kept outputs, results."""
        return self.data_dir / "jobs"

    @property
    def temp_dir(self) -> Path:
        """Short-lived files; swept at start."""
        return self.data_dir / "tmp"

    @property
    def uploads_path(self) -> Path:
        """Where the page keeps uploads."""
        return self.uploads_dir or self.data_dir / "uploads"

    @property
    def store_path(self) -> Path:
        """The SQLite job store."""
        return self.data_dir / "store.sqlite3"

    @property
    def logs_dir(self) -> Path:
        """What the child processes say; no texts or names of people."""
        return self.data_dir / "logs"
