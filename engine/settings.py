"""Every setting of the engine, read from `STUDIO_...` environment variables.

Nothing else in the engine reads the environment. Units are in the names.
"""

from pathlib import Path
from typing import Any, Literal

import platformdirs
from pydantic import Field, SecretStr, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict


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
    "result_days": 1.0,
    "min_free_disk_gb": 5.0,
}
"""What holds for strangers unless set otherwise; a minute of speech has about 1,000 characters."""


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

    render_threads: int | None = Field(default=None, ge=1)
    """Threads that draw frames; None = one per core, at most four."""

    sonic_weights_dir: Path | None = None
    """A folder with Sonic's weights in the public layout; None = under the data folder."""

    hub_endpoint: str = "https://huggingface.co"
    """Where weights are fetched from; a mirror with the same addresses may stand here."""

    hub_token: SecretStr | None = None
    """Access token for weights whose licence must be accepted first; sent to the hub alone."""

    @model_validator(mode="before")
    @classmethod
    def _fill_for_strangers(cls, given: dict[str, Any]) -> dict[str, Any]:
        """What was not set has the defaults of the mode."""
        is_public = given.get("public", "no") != "no"
        return {**PUBLIC_DEFAULTS, **given} if is_public else given

    @property
    def is_public(self) -> bool:
        """Whether strangers may use this installation."""
        return self.public != "no"

    @property
    def sonic_dir(self) -> Path:
        """Where Sonic's weights lie or would lie."""
        return self.sonic_weights_dir or self.data_dir / "weights" / "sonic"

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
