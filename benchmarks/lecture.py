"""How long a lecture takes and how much memory, through the command line.

    python -m benchmarks.lecture --slides 12
    python -m benchmarks.lecture --slides 120 --voice espeak:en-us

Prints one line for each run: length, wall time, processor time of all processes, peak memory of
the process that draws, and how many slides were made.
"""

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.lecture_deck import ROOT, write_deck
from engine.machine import usable_cores

PORTRAIT = ROOT / "tests" / "data" / "portraits" / "astronaut_collins.jpg"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--slides", type=int, nargs="+", default=[12], help="half a minute each")
    parser.add_argument("--out", type=Path, help="kept here; else in a folder that is removed")
    parser.add_argument("--layout", default="corner")
    parser.add_argument("--size", default="720")
    parser.add_argument("--voice")
    parser.add_argument("--clips", action="store_true")
    arguments = parser.parse_args()
    print(f"{platform.platform()}, {usable_cores()} cores, load {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory() as scratch:
        folder = arguments.out or Path(scratch)
        for count in arguments.slides:
            run = folder / f"{count}-slides"
            run.mkdir(parents=True, exist_ok=True)
            _measure(run, count, arguments)


def _measure(folder: Path, num_slides: int, arguments: argparse.Namespace) -> None:
    pdf, script = write_deck(folder, num_slides)
    command = [
        sys.executable, "-m", "engine", "lecture", str(PORTRAIT), str(pdf), str(script),
        "-o", str(folder / "lecture.mp4"), "--json",
        "--layout", arguments.layout, "--size", arguments.size,
        *(["--voice", arguments.voice] if arguments.voice else []),
        *(["--clips"] if arguments.clips else []),
    ]  # fmt: skip
    environment = {**os.environ, "STUDIO_DATA_DIR": str(folder / "data"), "PYTHONPATH": str(ROOT)}
    before, started = _children_cpu_s(), time.monotonic()
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=False)
    wall_s, cpu_s = time.monotonic() - started, _children_cpu_s() - before
    if done.returncode:
        print(done.stderr.decode())
        raise SystemExit(done.returncode)
    report = json.loads(done.stdout)
    (folder / "report.json").write_text(json.dumps(report, indent=1), "utf-8")
    length_s = report["duration_s"]
    print(
        f"{num_slides} slides, {length_s / 60:.1f} min: {wall_s:.0f} s wall "
        f"({wall_s / length_s:.2f} of its length), {cpu_s:.0f} s processor "
        f"({cpu_s / length_s:.2f}), peak {report['peak_rss_mb']:.0f} MB, "
        f"{report['rendered_sections']} made, stages {report['stages']}"
    )


def _children_cpu_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    main()
