"""What a soak measured: a row a job, the figures over them, and the files they are written to."""

import csv
import json
import statistics
from collections import Counter
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TextIO

import numpy as np

from tests.soak.curve import Panel, draw_curves

WRITTEN_EVERY = 25
"""Jobs between two drawings of the curves."""


@dataclass(frozen=True)
class Row:
    """What one job did and what the web process held after it."""

    number: int
    kind: str
    outcome: str
    attempt: int
    seconds: float
    web_rss_mb: float
    open_files: int
    threads: int
    zombies: int
    temp_files: int
    child_pid: int
    child_rss_mb: float
    web_pid: int


@dataclass(frozen=True)
class Figures:
    """What the whole run showed.

    Attributes:
        lost: jobs that did not end as they should.
        wrong_owner: times somebody saw what is not theirs.
        doubled: jobs or job folders that are there beyond those that should be.
        looked_at, unlabeled: videos whose labels were read at the end; those that lack one.
        slope_kb: growth of the web process a job after the warm-up, least squares.
        growth_mb: of the web process from the end of the warm-up to the end.
        more_files: open files at the end beyond those after the warm-up, medians of many jobs.
        zombies: most seen after any job.
        temp_files: when the last job had ended and the engine was still open; meanwhile, the most
            of those that nobody had touched for minutes.
        left_temp, left_processes: after the engine was closed; -1 while it runs.
        restarts: different render children seen.
        web_processes: 1 unless the run was interrupted.
        mean_s: seconds a job took.
    """

    jobs: int
    seconds: float
    outcomes: dict[str, int]
    lost: int
    doubled: int
    looked_at: int
    unlabeled: int
    wrong_owner: int
    slope_kb: float
    growth_mb: float
    more_files: int
    zombies: int
    temp_files: int
    left_temp: int
    left_processes: int
    restarts: int
    web_processes: int
    mean_s: float


def is_as_planned(row: Row) -> bool:
    """Whether a job ended as one of its kind should."""
    planned = {"bad": "refused", "canceled": "canceled"}.get(row.kind, "succeeded")
    return row.outcome == planned


def slope(runs: list[list[float]]) -> float:
    """Growth a step within the runs, one least-squares line through all; 0 for too few values."""
    steps = [np.arange(len(run)) - (len(run) - 1) / 2 for run in runs if len(run) > 1]
    rises = [np.asarray(run) - np.mean(run) for run in runs if len(run) > 1]
    if not steps:
        return 0.0
    x, y = np.concatenate(steps), np.concatenate(rises)
    return float((x * y).sum() / (x * x).sum())


def settled_runs(rows: list[Row], warm_up: int) -> list[list[Row]]:
    """The rows of each web process after its warm-up; at least the last row of each."""
    pids = dict.fromkeys(row.web_pid for row in rows)
    runs = [[row for row in rows if row.web_pid == pid] for pid in pids]
    return [run[min(warm_up, len(run) - 1) :] for run in runs]


def more_files_of(run: list[Row]) -> int:
    """How many more files are open in the last tenth of a run than in the first."""
    tenth = max(1, len(run) // 10)
    first, last = (
        statistics.median(row.open_files for row in part) for part in (run[:tenth], run[-tenth:])
    )
    return round(last - first)


def figures_of(rows: list[Row], warm_up: int, wrong_owner: int) -> Figures:
    """What the rows show; what only the end shows is left open."""
    runs = settled_runs(rows, warm_up)
    return Figures(
        jobs=len(rows),
        seconds=round(sum(row.seconds for row in rows), 1),
        outcomes=dict(Counter(f"{row.kind} {row.outcome}" for row in rows)),
        lost=sum(not is_as_planned(row) for row in rows),
        doubled=-1,
        looked_at=0,
        unlabeled=-1,
        wrong_owner=wrong_owner,
        slope_kb=round(slope([[row.web_rss_mb for row in run] for run in runs]) * 1024, 2),
        growth_mb=round(max(run[-1].web_rss_mb - run[0].web_rss_mb for run in runs), 2),
        more_files=max(more_files_of(run) for run in runs),
        zombies=max(row.zombies for row in rows),
        temp_files=max(row.temp_files for row in rows),
        left_temp=-1,
        left_processes=-1,
        restarts=len({row.child_pid for row in rows} - {0}),
        web_processes=len(runs),
        mean_s=round(sum(row.seconds for row in rows) / len(rows), 2),
    )


class Report:
    """The files of a run: written as it goes, read again to go on.

    Attributes:
        rows: of all processes so far.

    Args:
        out: their folder.
        warm_up: how many jobs of a process do not count for growth.
        resume: go on with what lies there.
    """

    def __init__(self, out: Path, warm_up: int, *, resume: bool) -> None:
        out.mkdir(parents=True, exist_ok=True)
        self._out, self._warm_up = out, warm_up
        self._table = out / "jobs.csv"
        self.rows = self._read() if resume and self._table.exists() else []
        with self._table.open("w", newline="", encoding="utf-8") as file:
            table = self._writer(file)
            table.writeheader()
            table.writerows(asdict(row) for row in self.rows)

    def add(self, row: Row, wrong_owner: int) -> None:
        """Take in one more job."""
        self.rows.append(row)
        with self._table.open("a", newline="", encoding="utf-8") as file:
            self._writer(file).writerow(asdict(row))
        if len(self.rows) % WRITTEN_EVERY == 0:
            self.write(figures_of(self.rows, self._warm_up, wrong_owner))

    def write(self, figures: Figures) -> None:
        """Write the figures and draw the curves."""
        text = json.dumps(asdict(figures), indent=2) + "\n"
        (self._out / "figures.json").write_text(text, "utf-8")
        rows = self.rows
        panels = [
            Panel("Memory of the web process, MB", [row.web_rss_mb for row in rows], 10),
            Panel("Open files of the web process", [row.open_files for row in rows], 10),
            Panel(
                "Memory of the render child after each job, MB", [r.child_rss_mb for r in rows], 100
            ),
        ]
        draw_curves(panels, self._warm_up, self._out / "soak.png")

    def _read(self) -> list[Row]:
        with self._table.open(newline="", encoding="utf-8") as file:
            kinds = {field.name: field.type for field in fields(Row)}
            return [
                Row(**{name: kinds[name](text) for name, text in line.items()})  # type: ignore[operator]
                for line in csv.DictReader(file)
            ]

    @staticmethod
    def _writer(file: TextIO) -> "csv.DictWriter[str]":
        return csv.DictWriter(file, [field.name for field in fields(Row)])
