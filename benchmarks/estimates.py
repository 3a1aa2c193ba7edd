"""Compare what the studio tells beforehand and on the way with what twelve videos really took.

Short clips beside the lengths that people make: 3 to 90 seconds, recordings and typed text.

For each: the time told by `check`, the time left told when a fifth of the job is done, and the
memory told, against what was measured. Run it on a quiet machine:

    python -m benchmarks.estimates [--out estimates.json]
"""

import argparse
import json
import statistics
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.lite import repeated
from engine.api import StudioEngine
from engine.contracts import AnimateRequest, JobRecord, JobStatus, RenderOptions, SpeechOptions
from engine.settings import EngineSettings

DATA = Path(__file__).resolve().parents[1] / "tests" / "data"
COLLINS = DATA / "portraits/astronaut_collins.jpg"
VANGOGH = DATA / "portraits/vangogh_self.jpg"
THREE_SECONDS = DATA / "speech/en_librivox_austen_0880.wav"
SEVEN_SECONDS = DATA / "speech/en_librivox_austen_0870.wav"
ELEVEN_SECONDS = DATA / "speech/en_jfk_1961_16k.flac"
TEXT = (
    "Good morning, and welcome to the first lecture of this course. On 12 May 2025 we meet at "
    "9:30 as usual. The book costs 25 dollars; please read chapter three until then."
)

# What must hold: error of the time left after a fifth, and of the memory.
FIFTH_PERCENT = 20.0
TIME_LIMIT = 0.30
MEMORY_LIMIT = 0.25

# One video of each size teaches the studio this machine's speed; it is not counted.
WARM_UP = (("quick", ELEVEN_SECONDS), ("standard", ELEVEN_SECONDS))

JOBS = (
    (COLLINS, THREE_SECONDS, {"preset": "quick"}),
    (COLLINS, SEVEN_SECONDS, {"preset": "quick"}),
    (COLLINS, 90.0, {"preset": "quick"}),
    (VANGOGH, 30.0, {"preset": "quick", "framing": "face"}),
    (COLLINS, TEXT, {"preset": "quick"}),
    (VANGOGH, TEXT, {"preset": "quick", "fps": 50}),
    (COLLINS, 30.0, {"preset": "standard"}),
    (VANGOGH, ELEVEN_SECONDS, {"preset": "standard", "aspect": "9:16"}),
    (COLLINS, TEXT, {"preset": "standard"}),
    (COLLINS, SEVEN_SECONDS, {"preset": "hd"}),
    (VANGOGH, 30.0, {"preset": "hd", "framing": "bust"}),
    (COLLINS, ELEVEN_SECONDS, {"preset": "hd", "aspect": "16:9"}),
)
"""Portrait, what is said (a number: the eleven seconds again and again for so many), choices."""


@dataclass(frozen=True)
class Row:
    """One video: what was told and what was measured."""

    name: str
    told_s: float
    took_s: float
    left_told_s: float | None
    left_true_s: float | None
    told_mb: float
    took_mb: float

    @property
    def time_error(self) -> float | None:
        """Of the time left after a fifth, as a share of the true one."""
        if self.left_told_s is None or not self.left_true_s:
            return None
        return abs(self.left_told_s - self.left_true_s) / self.left_true_s

    @property
    def memory_error(self) -> float:
        """As a share of what was measured."""
        return abs(self.told_mb - self.took_mb) / self.took_mb


def make(engine: StudioEngine, portrait: Path, voice: Path | str, options: RenderOptions) -> Row:
    """Make one video and note what was told about it."""
    audio = str(voice) if isinstance(voice, Path) else None
    speech = SpeechOptions(text=voice, language="en") if isinstance(voice, str) else None
    told = engine.check(portrait, audio=audio, speech=speech, options=options).estimate["lite"]
    request = AnimateRequest(
        portrait=str(portrait), audio=audio, speech=speech, options=options, consent=True
    )
    seen: list[tuple[float, float, float | None]] = []

    def note(record: JobRecord) -> None:
        if record.progress is not None:
            progress = record.progress
            seen.append((time.monotonic(), progress.percent, progress.seconds_left))

    begun = time.monotonic()
    job_id = engine.submit(request).job_id
    record = engine.wait(job_id, on_progress=note)
    ended = time.monotonic()
    if record.status is not JobStatus.SUCCEEDED:
        raise SystemExit(f"a video failed: {record.error}")
    fifth = next((entry for entry in seen if entry[1] >= FIFTH_PERCENT), None)
    entry = next(each for each in engine.memory_ledger() if each.job_id == job_id)
    kind = voice.stem if isinstance(voice, Path) else "typed"
    return Row(
        name=f"{portrait.stem}, {kind}, {options.preset}, {options.fps} fps",
        told_s=told.seconds,
        took_s=round(ended - begun, 2),
        left_told_s=fifth[2] if fifth else None,
        left_true_s=round(ended - fifth[0], 2) if fifth else None,
        told_mb=told.peak_rss_mb,
        took_mb=entry.rss_peak_mb,
    )


def said(voice: Path | str | float, folder: Path) -> Path | str:
    """A recording or a text."""
    if not isinstance(voice, float):
        return voice
    return repeated(ELEVEN_SECONDS, voice / 60, folder / f"{voice:.0f}_seconds.wav")


def line(row: Row) -> str:
    """One video, told against true."""
    error = "-" if row.time_error is None else f"{row.time_error:.0%}"
    return (
        f"{row.name:60} told {row.told_s:5.1f} s took {row.took_s:5.1f} s | left after a "
        f"fifth: told {row.left_told_s} true {row.left_true_s} error {error} | memory told "
        f"{row.told_mb:.0f} took {row.took_mb:.0f} MB error {row.memory_error:.0%}"
    )


def main() -> None:
    """Make the videos and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        settings = EngineSettings(data_dir=Path(folder), recycle_after_jobs=100)
        with StudioEngine(settings, exclusive=True) as engine:
            for preset, voice in WARM_UP:
                make(engine, COLLINS, voice, RenderOptions(preset=preset, seed=1))
            rows = []
            for portrait, voice, options in JOBS:
                spoken = said(voice, Path(folder))
                rows.append(make(engine, portrait, spoken, RenderOptions(seed=1, **options)))
                print(line(rows[-1]), flush=True)
    times = [row.time_error for row in rows if row.time_error is not None]
    memory = [row.memory_error for row in rows]
    print(
        f"time left: worst {max(times):.0%}, median {statistics.median(times):.0%}, "
        f"{sum(error <= TIME_LIMIT for error in times)} of {len(times)} within {TIME_LIMIT:.0%}; "
        f"memory: worst {max(memory):.0%}, "
        f"{sum(error <= MEMORY_LIMIT for error in memory)} of {len(memory)} within "
        f"{MEMORY_LIMIT:.0%}"
    )
    if arguments.out:
        arguments.out.write_text(json.dumps([asdict(row) for row in rows], indent=2))


if __name__ == "__main__":
    main()
