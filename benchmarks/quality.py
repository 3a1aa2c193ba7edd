"""Render portraits x recordings through the real engine and judge the finished videos.

    python -m benchmarks.quality --portraits FILE... --speech FILE... --out DIR
        [--cross] [--workers N] [--sheets] [--shard K/N]

Writes rows.json and table.md: the sync report with the gates that a picture of this kind fails
(`sample_kinds`), a second sight of the jaw without landmarks of the lips (`second_sight`), and, for
recordings with a stored forced alignment (NAME.alignment.json beside them or in
tests/data/speech), the independent check: landmarks found anew on the decoded frames against the
aligned text; the curves that drove the animator play no part in it. Each worker makes one video at
a time on one thread. Started again with the same folder, it goes on where it stopped.
"""

import argparse
import json
import os
import platform
import shutil
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import cv2
import numpy as np

from benchmarks.contact_sheet import contact_sheet, moments_row, save_row
from benchmarks.finished_video import (
    FLOW_STEP,
    find_alignment,
    heard,
    independent_check,
    jaw_check,
    likeness,
    look,
    second_sight,
)
from benchmarks.sample_kinds import failed_gates, kind_of
from benchmarks.telling_moments import telling_moments
from engine import AnimateRequest, EngineSettings, RenderOptions, StudioEngine
from engine.contracts import JobStatus
from engine.errors import EngineError
from engine.face.detector import FaceFinder
from engine.media.image import read_portrait

SEED = 1


@dataclass(frozen=True)
class Order:
    """One video to make and to judge; `sheet` = with a contact sheet."""

    portrait: Path
    speech: Path
    out: Path
    size_px: int
    sheet: bool

    @property
    def name(self) -> str:
        return f"{self.portrait.stem}__{self.speech.stem}"

    @property
    def title(self) -> tuple[str, str]:
        """Portrait and recording in a few words."""
        portrait = self.portrait.stem.removeprefix("lowres_bw_").replace("_", " ")
        return portrait, self.speech.stem.replace("librivox_", "").replace("_", " ")


def judge(order: Order) -> dict:
    """Make one video and everything that is known about it, on one thread."""
    cv2.setNumThreads(1)
    kind = kind_of(order.portrait.stem)
    row = {"portrait": order.portrait.stem, "speech": order.speech.stem, "kind": kind}
    options = RenderOptions(size_px=order.size_px, animator="lite", seed=SEED, force=True)
    settings = EngineSettings(data_dir=order.out / "data" / order.name, render_threads=1)
    with StudioEngine(settings) as engine:
        try:
            request = AnimateRequest(
                portrait=str(order.portrait), audio=str(order.speech), consent=True, options=options
            )
            job = engine.wait(engine.submit(request).job_id)
        except EngineError as error:
            return {**row, "refused": str(error.code)}
        if job.status is not JobStatus.SUCCEEDED:
            return {**row, "failed": str(job.error and job.error.code)}
        row |= seen_in(order, job.report, engine, job.job_id)
    shutil.rmtree(settings.data_dir, ignore_errors=True)
    row["failed_gates"] = failed_gates(kind, row, row.get("identity"))
    return row


def seen_in(order: Order, report: dict, engine: StudioEngine, job_id: str) -> dict:
    """What is known about a finished video."""
    video = engine.artifact_path(job_id, "video")
    finder, alignment, fps = FaceFinder(), find_alignment(order.speech), RenderOptions().fps
    every = 1 if alignment is not None else FLOW_STEP
    seen = look(video, report["num_frames"], finder, every)
    if order.sheet:
        contact_sheet(seen.tiles, order.out / f"{order.name}.jpg")
        show_moments(order, report, video, engine.input_path(job_id, "portrait"))
    check = second_sight(seen, fps, order.speech)
    if alignment is not None:
        opening = np.array(seen.opening)
        check |= independent_check(opening, fps, alignment)
        check |= jaw_check(opening, fps, alignment)
    size = (report["width_px"], report["height_px"])
    check |= likeness(seen, engine.input_path(job_id, "portrait"), size, finder)
    keys = ("duration_s", "elapsed_s", "realtime_factor", "peak_rss_mb")
    return {**{key: report.get(key) for key in keys}, **report["sync"], **check}


def show_moments(order: Order, report: dict, video: Path, portrait: Path) -> None:
    """The row of the video for the pages of `quality_pages`."""
    photo = read_portrait(portrait, EngineSettings()).pixels
    size = (report["width_px"], report["height_px"])
    how = cv2.INTER_AREA if size[0] < photo.shape[1] else cv2.INTER_CUBIC
    fps = float(RenderOptions().fps)
    moments = telling_moments(heard(order.speech), fps, report["num_frames"], SEED)
    row = moments_row(video, cv2.resize(photo, size, interpolation=how), moments, fps, order.title)
    save_row(row, order.out / "rows" / f"{order.name}.jpg")


COLUMNS = (
    "portrait", "kind", "speech", "by_flow", "open_range", "corr_jaw", "lag_ms", "closure_hit",
    "num_closures", "sil_open", "jitter", "blinks_per_min", "flow_range", "flow_corr",
    "true_jaw_corr", "closed_share", "identity", "sharp", "failed_gates",
)  # fmt: skip


def as_markdown(rows: list[dict]) -> str:
    """All rows as one table, and how many videos pass every gate."""

    def cell(row: dict, column: str) -> str:
        value = row.get(column)
        if column == "failed_gates":
            return row.get("refused") or row.get("failed") or ", ".join(value or []) or "-"
        if isinstance(value, bool):
            return "yes" if value else "no"
        return "-" if value is None else str(value)

    lines = [f"| {' | '.join(COLUMNS)} |", f"|{' --- |' * len(COLUMNS)}"]
    ordered = sorted(rows, key=lambda row: (row["portrait"], row["speech"]))
    lines += [f"| {' | '.join(cell(row, column) for column in COLUMNS)} |" for row in ordered]
    passed = sum(row.get("failed_gates") == [] for row in rows)
    return "\n".join([*lines, "", f"{passed} of {len(rows)} videos pass every gate.", ""])


def pairs_of(portraits: list[Path], speech: list[Path], *, cross: bool) -> list[tuple[Path, Path]]:
    """Every portrait with every recording, or all of both, each at least once."""
    if cross:
        return [(portrait, sound) for portrait in portraits for sound in speech]
    count = max(len(portraits), len(speech))
    return [(portraits[i % len(portraits)], speech[i % len(speech)]) for i in range(count)]


def shard_of(text: str) -> tuple[int, int]:
    """`2/4` as (1, 4): the second of four parts.

    Raises:
        argparse.ArgumentTypeError: for anything else.
    """
    part, _, parts = text.partition("/")
    if not (part.isdigit() and parts.isdigit() and 1 <= int(part) <= int(parts)):
        raise argparse.ArgumentTypeError(f"{text} is no K/N")
    return int(part) - 1, int(parts)


def main() -> None:
    """Render, judge, write down."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--portraits", type=Path, nargs="+", required=True)
    parser.add_argument("--speech", type=Path, nargs="+", required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--cross", action="store_true", help="every portrait with every recording")
    parser.add_argument("--size", type=int, default=512)
    parser.add_argument("--workers", type=int, default=1, help="videos made at the same time")
    parser.add_argument("--sheets", action="store_true", help="contact sheets for each video")
    parser.add_argument("--shard", type=shard_of, default=(0, 1), metavar="K/N")
    arguments = parser.parse_args()
    out = arguments.out
    out.mkdir(parents=True, exist_ok=True)
    table = out / "rows.json"
    rows = json.loads(table.read_text("utf-8"))["rows"] if table.exists() else []
    known = {(row["portrait"], row["speech"]) for row in rows}
    orders = [
        Order(portrait, speech, out, arguments.size, arguments.sheets)
        for portrait, speech in pairs_of(
            arguments.portraits, arguments.speech, cross=arguments.cross
        )[arguments.shard[0] :: arguments.shard[1]]
        if (portrait.stem, speech.stem) not in known
    ]
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    machine = f"{os.cpu_count()} cores, {platform.machine()}, {platform.system()}"
    with ProcessPoolExecutor(arguments.workers, mp_context=get_context("spawn")) as pool:
        for done in as_completed([pool.submit(judge, order) for order in orders]):
            rows.append(done.result())
            print(json.dumps(rows[-1]), flush=True)
            table.write_text(json.dumps({"machine": machine, "rows": rows}, indent=1), "utf-8")
            (out / "table.md").write_text(as_markdown(rows), "utf-8")


if __name__ == "__main__":
    main()
