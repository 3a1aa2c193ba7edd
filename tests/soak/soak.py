"""Many small jobs through one engine, some of them canceled, killed or refused.

The process that holds the engine stands for the web process. Run the long form by hand::

    python -m tests.soak.soak --jobs 1400 --out /tmp/soak

It writes `jobs.csv` (a row a job), `soak.png` (the curves) and `figures.json` as it goes, and
prints the figures at the end. One that was interrupted goes on where it stopped when it is started
again with `--resume`; growth is then judged within each process alone.
"""

import argparse
import contextlib
import gc
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from pathlib import Path

import psutil
import soundfile as sf

from engine.api import StudioEngine
from engine.contracts import AnimateRequest, JobRecord, JobStatus, RenderOptions
from engine.errors import EngineError
from engine.settings import EngineSettings
from tests.hostile.hostile_pictures import PICTURES
from tests.hostile.hostile_sounds import SOUNDS
from tests.media_files import PORTRAIT, SPEECH
from tests.soak.figures import Figures, Report, Row, figures_of, is_as_planned

CANCELED_EVERY, KILLED_EVERY, BAD_EVERY = 20, 50, 30
OWNERS = tuple(f"owner-{number}" for number in range(5))
BAD_PICTURES = ("jpeg_cut_in_half", "png_claims_400_megapixels", "svg_reads_a_file", "empty")
BAD_SOUNDS = ("concat_list", "wav_not_a_number", "mp4_cut")
JOB_LIMIT_S = 600.0
AT_ONCE = 3
"""People who submit at the same time; one video is made at a time."""

LITTER_S = 300.0
"""A temporary file that is older than this belongs to no job under way."""

LOOKED_AT_EVERY = 20
"""Of the videos kept, every tenth: their labels are read and their signatures checked."""

SPEECH_S = 1.0
NUM_FRAMES = 25
MB = 2**20


def kind_of(number: int) -> str:
    """What happens to a job: each kind as often as the plan says, none twice at once."""
    if number % BAD_EVERY == BAD_EVERY // 2:
        return "bad"
    if number % KILLED_EVERY == KILLED_EVERY // 2 - 1:
        return "killed"
    if number % CANCELED_EVERY == CANCELED_EVERY // 2 + 1:
        return "canceled"
    return "plain"


class Soak:
    """One run.

    Attributes:
        wrong_owner: times somebody saw what is not theirs.
        kept: ids of the jobs that were not deleted.
        looked_at: the videos whose labels are read at the end.

    Args:
        engine: the engine of this process.
        folder: for inputs.
    """

    def __init__(self, engine: StudioEngine, folder: Path) -> None:
        self._engine = engine
        self._bad = self._write_bad(folder)
        self._speech = folder / "speech.wav"
        samples, rate_hz = sf.read(SPEECH, start=8_000, frames=16_000)
        assert len(samples) == SPEECH_S * rate_hz
        sf.write(self._speech, samples, rate_hz)
        self._me = psutil.Process()
        self.wrong_owner = 0
        self.kept: set[str] = set()
        self.looked_at: list[Path] = []

    def run(self, numbers: range) -> Iterator[Row]:
        """Do the jobs, a few at once; their rows come in order."""
        pool = ThreadPoolExecutor(AT_ONCE)
        try:
            yield from pool.map(self._row, numbers)
        finally:
            pool.shutdown(cancel_futures=True)

    def _row(self, number: int) -> Row:
        kind, owner = kind_of(number), OWNERS[number % len(OWNERS)]
        started = time.monotonic()
        outcome, attempt = self._one(number, kind, owner)
        return self._measure(number, kind, outcome, attempt, time.monotonic() - started)

    def count_doubled(self) -> int:
        """Rows and folders of jobs that nobody asked for, and those that are missing."""
        expected = self.kept
        rows = {job.job_id for job in self._engine.list_for(None, 1_000_000)}
        folders = {entry.name for entry in self._engine.settings.jobs_dir.iterdir()}
        return len(rows ^ expected) + len(folders ^ expected)

    def _one(self, number: int, kind: str, owner: str) -> tuple[str, int]:
        try:
            job = self._engine.submit(self._request(number, kind), owner)
        except EngineError as error:
            return ("refused" if kind == "bad" else f"refused: {error.code}"), 0
        if kind == "canceled":
            self._wait_for_frames(job)
            self._engine.cancel(job.job_id, owner)
        for child in self._render_children():
            with contextlib.suppress(psutil.Error):  # no right to, or gone
                child.nice(0)  # it steps back behind everything else, which takes hours here
        if kind == "killed":
            self._wait_for_frames(job)
            for child in self._render_children():
                child.kill()
        done = self._engine.wait(job.job_id, JOB_LIMIT_S, owner=owner)
        self._check_owner(done, owner)
        outcome = done.status.value if done.error is None else f"failed: {done.error.code}"
        if done.status is JobStatus.SUCCEEDED:
            video = self._engine.artifact_path(job.job_id, "video", owner)
            outcome = fault_of(video, done) or outcome
            if kind == "killed" and done.attempt != 2:
                outcome = "was not killed"
        if number % 2:
            self._engine.delete(job.job_id, owner)
        else:
            self.kept.add(job.job_id)
            if done.status is JobStatus.SUCCEEDED and number % LOOKED_AT_EVERY == 0:
                self.looked_at.append(self._engine.artifact_path(job.job_id, "video", owner))
        return outcome, done.attempt

    def _request(self, number: int, kind: str) -> AnimateRequest:
        portrait, audio = PORTRAIT, self._speech
        if kind == "bad":
            bad = self._bad[number // BAD_EVERY % len(self._bad)]
            portrait, audio = (bad, audio) if bad.suffix == ".jpg" else (portrait, bad)
        options = RenderOptions(animator="lite", size_px=256)
        return AnimateRequest(
            portrait=str(portrait), audio=str(audio), options=options, consent=True
        )

    def _wait_for_frames(self, job: JobRecord) -> None:
        deadline = time.monotonic() + JOB_LIMIT_S
        while time.monotonic() < deadline:
            now = self._engine.get(job.job_id)
            if now.status.is_final:
                return
            if now.progress is not None and now.progress.stage == "animate":
                return
            time.sleep(0.02)

    def _render_children(self) -> list[psutil.Process]:
        found = []
        for child in self._me.children():
            try:
                if "render" in child.cmdline():
                    found.append(child)
            except psutil.Error:
                continue
        return found

    def _check_owner(self, job: JobRecord, owner: str) -> None:
        stranger = next(other for other in OWNERS if other != owner)
        seen_by_stranger = {record.job_id for record in self._engine.list_for(stranger)}
        if job.owner != owner or job.job_id in seen_by_stranger:
            self.wrong_owner += 1
        try:
            self._engine.get(job.job_id, stranger)
        except EngineError:
            return
        self.wrong_owner += 1

    def _measure(self, number: int, kind: str, outcome: str, attempt: int, seconds: float) -> Row:
        gc.collect()
        entries = self._engine.memory_ledger(1)
        return Row(
            number=number,
            kind=kind,
            outcome=outcome,
            attempt=attempt,
            seconds=round(seconds, 2),
            web_rss_mb=round(self._me.memory_info().rss / MB, 2),
            open_files=self._me.num_fds() if hasattr(self._me, "num_fds") else 0,
            threads=self._me.num_threads(),
            zombies=count_zombies(self._me),
            temp_files=count_files(self._engine.settings.temp_dir, LITTER_S),
            child_pid=entries[0].child_pid if entries else 0,
            child_rss_mb=entries[0].rss_after_mb if entries else 0.0,
            web_pid=self._me.pid,
        )

    @staticmethod
    def _write_bad(folder: Path) -> list[Path]:
        made = [(f"{name}.jpg", PICTURES[name]()) for name in BAD_PICTURES]
        made += [(f"{name}.wav", SOUNDS[name]()) for name in BAD_SOUNDS]
        for name, data in made:
            (folder / name).write_bytes(data)
        return [folder / name for name, _ in made]


def count_unlabeled(videos: list[Path]) -> int:
    """How many videos lack a label or a valid signature, told by a process of its own.

    What reads them is native code, which must not count as the web process's memory.
    """
    if not videos:
        return 0
    program = [sys.executable, "-m", "tests.soak.labels", *map(str, videos)]
    return int(subprocess.run(program, check=True, capture_output=True, text=True).stdout)


def count_zombies(process: psutil.Process) -> int:
    """Children that ended and are not collected within a second."""
    seen = zombies_of(process)
    if seen:
        time.sleep(1.0)
        seen &= zombies_of(process)
    return len(seen)


def zombies_of(process: psutil.Process) -> set[int]:
    """Process ids of children that ended and are not collected yet."""
    found = set()
    for child in process.children(recursive=True):
        with contextlib.suppress(psutil.Error):
            if child.status() == psutil.STATUS_ZOMBIE:
                found.add(child.pid)
    return found


def count_files(folder: Path, min_age_s: float = 0.0) -> int:
    """Files anywhere under a folder that nobody wrote to for this long."""
    count, newest = 0, time.time() - min_age_s
    for path in folder.rglob("*") if folder.is_dir() else ():
        with contextlib.suppress(OSError):
            count += path.is_file() and path.stat().st_mtime <= newest
    return count


def fault_of(video: Path, job: JobRecord) -> str | None:
    """What is wrong with a finished video; None when nothing is."""
    data = video.read_bytes()
    if data[4:8] != b"ftyp":
        return "no video"
    if b"c2pa" not in data or b"AIGC" not in data:
        return "no labels"
    if job.report["num_frames"] != NUM_FRAMES:
        return "wrong length"
    kinds = [item.kind for item in job.artifacts]
    return "doubled artifact" if len(set(kinds)) < len(kinds) else None


def soak(jobs: int, warm_up: int, out: Path, *, resume: bool = False) -> Figures:
    """Run and judge.

    Args:
        jobs: how many.
        warm_up: the first of them do not count for growth.
        out: folder for the table and the curve.
        resume: go on with an interrupted run in `out`.
    """
    report = Report(out, warm_up, resume=resume)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # Five people submit as fast as they can, which the limit for people would refuse.
        settings = EngineSettings(
            data_dir=folder / "data", recycle_after_jobs=10, max_submits_per_minute=1000
        )
        with StudioEngine(settings, exclusive=True) as engine:
            run = Soak(engine, folder)
            for row in run.run(range(len(report.rows), jobs)):
                report.add(row, run.wrong_owner)
            doubled = run.count_doubled()
            idle_temp = count_files(settings.temp_dir)
            unlabeled = count_unlabeled(run.looked_at)
        figures = replace(
            figures_of(report.rows, warm_up, run.wrong_owner),
            doubled=doubled,
            temp_files=idle_temp,
            looked_at=len(run.looked_at),
            unlabeled=unlabeled,
            left_temp=count_files(settings.temp_dir),
            left_processes=len(psutil.Process().children(recursive=True)),
        )
    report.write(figures)
    for row in report.rows:
        if not is_as_planned(row):
            sys.stderr.write(f"{row.number} {row.kind}: {row.outcome}\n")
    return figures


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=1400)
    parser.add_argument("--warm-up", type=int, default=50)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--resume", action="store_true")
    given = parser.parse_args()
    figures = soak(given.jobs, given.warm_up, given.out, resume=given.resume)
    sys.stdout.write(json.dumps(asdict(figures), indent=2) + "\n")


if __name__ == "__main__":
    main()
