"""Load: five people at the running studio, and a queue with ten thousand rows.

::

    python -m benchmarks.load studio --people 5 --seconds 120
    python -m benchmarks.load queue --rows 10000

`studio` starts `python app.py` on a folder of its own (or takes `--address`) and lets people open
pages, check photos, submit, watch, cancel and fetch, each with their own cookie, while videos are
made. `queue` measures `submit` on an empty and on a long queue: of the store alone, and through the
engine with tasks that decode nothing. Both print a table and end with 1 when a target is missed.
"""

import argparse
import json
import secrets
import sqlite3
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import psutil

from benchmarks.people import Sample, StudioProcess, crowd
from engine.api import StudioEngine
from engine.contracts import AnimateRequest, JobSpec
from engine.jobs import statements
from engine.jobs.admission import Admission
from engine.jobs.disk import DiskGate
from engine.jobs.rows import NewJob, columns_of
from engine.jobs.store import JobStore
from engine.jobs.submissions import add_submission
from engine.settings import EngineSettings

MAX_HANDLER_P99_MS = 1000.0
MAX_SUBMIT_P99_MS = 50.0
FIRST_S = 12.0
"""So long one person is alone with a studio whose programs are still loading."""

SUBMITS = 300
"""So many submissions are measured."""

PAUSE_S = 0.15
"""Between two submissions through the engine. A decoder is replaced after some files: by one that
is warm, unless files come so fast that three are used up while one starts."""

MANY = 10**6
NUM_OWNERS = 50


@dataclass(frozen=True)
class Line:
    """One line of a table, times in milliseconds."""

    name: str
    count: int
    errors: int
    median_ms: float
    p95_ms: float
    p99_ms: float
    max_ms: float


def line_of(name: str, seconds: Sequence[float], errors: int = 0) -> Line:
    """Sum up what was measured."""
    ms = np.asarray(seconds) * 1000.0
    median, p95, p99 = (round(float(np.percentile(ms, q)), 1) for q in (50, 95, 99))
    return Line(name, len(seconds), errors, median, p95, p99, round(float(ms.max()), 1))


def lines_of(samples: Sequence[Sample]) -> list[Line]:
    """One line for each handler."""
    names = sorted({sample.handler for sample in samples})
    of = {name: [sample for sample in samples if sample.handler == name] for name in names}
    return [
        line_of(name, [sample.seconds for sample in group], sum(bool(s.error) for s in group))
        for name, group in of.items()
    ]


def print_table(lines: Sequence[Line]) -> None:
    """As Markdown, for the docs."""
    write = sys.stdout.write
    write("| what | calls | errors | median ms | p95 ms | p99 ms | max ms |\n")
    write("| --- | --- | --- | --- | --- | --- | --- |\n")
    for line in lines:
        write("| " + " | ".join(str(value) for value in asdict(line).values()) + " |\n")


def cores_of_others(busy_before_s: float, own_before_s: float, seconds: float) -> float:
    """How many cores worked for somebody else meanwhile, on average."""
    others_s = _busy_s() - busy_before_s - (_own_s() - own_before_s)
    return max(0.0, others_s / seconds)


def _busy_s() -> float:
    """Processor seconds of this computer since it started, all cores."""
    times = psutil.cpu_times()
    return float(sum(times) - times.idle - getattr(times, "iowait", 0.0))


def _own_s() -> float:
    """Processor seconds of this program and of all it started, ended children too."""
    own = psutil.Process()
    return sum(sum(child.cpu_times()[:4]) for child in (own, *own.children(recursive=True)))


def measure_studio(people: int, seconds: float, address: str | None) -> tuple[list[Line], bool]:
    """Let people use the studio.

    Returns:
        The lines, and whether every target was met.
    """
    with ExitStack() as stack:
        if address is None:
            address = stack.enter_context(StudioProcess()).address
        first = crowd(address, 1, FIRST_S)
        busy_s, own_s = _busy_s(), _own_s()
        samples = crowd(address, people, seconds)
        others = cores_of_others(busy_s, own_s, seconds)
    lines = lines_of(samples)
    sys.stdout.write("the first person, as soon as the studio has told its address:\n")
    print_table(lines_of(first))
    rendering = [sample for sample in samples if sample.is_rendering]
    sys.stdout.write(
        f"{len(samples)} calls of {people} people in {seconds:.0f} s; a video was being made "
        f"during {len(rendering) / len(samples):.0%} of them; other work had {others:.2f} cores\n"
    )
    for fault in sorted({sample.error for sample in samples if sample.error}):
        sys.stdout.write(f"error: {fault}\n")
    met = all(line.errors == 0 and line.p99_ms < MAX_HANDLER_P99_MS for line in lines)
    met = met and not any(sample.error for sample in first)
    return lines, met


def measure_queue(rows: int) -> tuple[list[Line], bool]:
    """Submit to an empty and to a long queue."""
    with tempfile.TemporaryDirectory() as name:
        lines = [*_measure_store(Path(name) / "store", rows)]
        lines += _measure_engine(Path(name) / "engine", rows)
    return lines, all(line.p99_ms < MAX_SUBMIT_P99_MS for line in lines)


def _measure_store(folder: Path, rows: int) -> list[Line]:
    folder.mkdir()
    settings = _settings(folder)
    store = JobStore(settings.store_path)
    admission = Admission(store, settings, DiskGate(settings))

    def submit(number: int) -> float:
        owner = f"owner-{number % NUM_OWNERS}"
        started = time.perf_counter()
        store.add(_new_job(owner), admission.refuse(owner))
        return time.perf_counter() - started

    empty = [submit(number) for number in range(SUBMITS)]
    _fill(settings, rows)
    full = [submit(number) for number in range(SUBMITS)]
    store.close()
    return [line_of("store, empty queue", empty), line_of(f"store, {rows} rows", full)]


def _measure_engine(folder: Path, rows: int) -> list[Line]:
    folder.mkdir()
    inputs = [folder / "portrait.png", folder / "speech.wav"]
    tasks = "benchmarks.queue_tasks:TASKS"
    with StudioEngine(_settings(folder), exclusive=True, tasks=tasks, decode_tasks=tasks) as engine:

        def submit(number: int) -> float:
            for path in inputs:  # files that were decoded before are not decoded again
                path.write_text(f"nothing {secrets.token_hex()}", "utf-8")
            request = AnimateRequest(portrait=str(inputs[0]), audio=str(inputs[1]), consent=True)
            started = time.perf_counter()
            engine.submit(request, f"owner-{number % NUM_OWNERS}")
            seconds = time.perf_counter() - started
            time.sleep(PAUSE_S)
            return seconds

        submit(0)  # starts the children
        empty = [submit(number) for number in range(SUBMITS)]
        _fill(engine.settings, rows)
        full = [submit(number) for number in range(SUBMITS)]
    return [line_of("engine, empty queue", empty), line_of(f"engine, {rows} rows", full)]


def _settings(folder: Path) -> EngineSettings:
    return EngineSettings(
        data_dir=folder / "data" if folder.name == "engine" else folder,
        max_queued_jobs=MANY,
        max_waiting_per_owner=MANY,
        max_submits_per_minute=MANY,
    )


def _new_job(owner: str) -> NewJob:
    spec = JobSpec(job_id=secrets.token_hex(16), portrait_name="portrait.png", audio_name="a.wav")
    return NewJob(spec=spec, owner=owner, title="Load", duration_s=3.0, consent=True)


def _fill(settings: EngineSettings, rows: int) -> None:
    """Queue many jobs at once, as many small submissions would have left them."""
    with closing(sqlite3.connect(settings.store_path, timeout=60)) as connection, connection:
        for number in range(rows):
            owner = f"owner-{number % NUM_OWNERS}"
            add_submission(connection, owner, None, time.time())
            connection.execute(statements.ADD, columns_of(_new_job(owner), number))


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("what", choices=("studio", "queue"))
    parser.add_argument("--people", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--address", help="of a studio that runs already")
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--out", type=Path, help="a JSON file for the figures")
    given = parser.parse_args()
    if given.what == "studio":
        lines, met = measure_studio(given.people, given.seconds, given.address)
    else:
        lines, met = measure_queue(given.rows)
    print_table(lines)
    if given.out is not None:
        given.out.write_text(json.dumps([asdict(line) for line in lines], indent=2), "utf-8")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
