"""Speed and memory of the lite animator through the real engine.

    python -m benchmarks.lite PORTRAIT... --speech RECORDING [--minutes 10] [--sizes 512 1024]

Per portrait and size: frames a second with encoding (stage `animate`), the whole job against the
length of the speech, and the peak memory of the child; then the same for a recording repeated to
`--minutes`, to show that memory does not grow with length. Figures mean something on a quiet
machine only; the load is printed with them.
"""

import argparse
import os
import platform
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import soundfile as sf

from engine import AnimateRequest, EngineSettings, RenderOptions, StudioEngine
from engine.contracts import JobStatus
from engine.machine import usable_cores

ROW = "| {:<24} | {:>5} | {:>9} | {:>8} | {:>8} | {:>6} | {:>6} | {:>7} |"


def measure(engine: StudioEngine, portrait: Path, speech: Path, size_px: int) -> dict[str, Any]:
    """The report of one job, which must succeed."""
    request = AnimateRequest(
        portrait=str(portrait),
        audio=str(speech),
        options=RenderOptions(animator="lite", size_px=size_px, seed=1),
        consent=True,
    )
    job = engine.wait(engine.submit(request).job_id)
    if job.status is not JobStatus.SUCCEEDED:
        raise SystemExit(f"{portrait.name} at {size_px}: {job.error and job.error.code}")
    engine.delete(job.job_id)
    return job.report


def repeated(speech: Path, minutes: float, target: Path) -> Path:
    """The recording again and again until it fills the time, as a WAV file."""
    samples, rate_hz = sf.read(speech, dtype="float32", always_2d=True)
    samples = samples.mean(axis=1)
    times = int(np.ceil(minutes * 60 * rate_hz / len(samples)))
    with sf.SoundFile(target, "w", rate_hz, 1) as file:
        for _ in range(times):
            file.write(samples)
    return target


def show(portrait: Path, size_px: int, report: dict[str, Any]) -> None:
    """One row of the table."""
    frames_per_s = report["num_frames"] / report["stages"]["animate"]
    picture = f"{report['width_px']}x{report['height_px']}"
    cells = (
        *(portrait.stem, size_px, picture, f"{report['audio_duration_s']:.1f}"),
        *(f"{frames_per_s:.0f}", f"{report['elapsed_s']:.1f}"),
        *(f"{report['realtime_factor']:.2f}", f"{report['peak_rss_mb']:.0f}"),
    )
    print(ROW.format(*cells), flush=True)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("portraits", type=Path, nargs="+")
    parser.add_argument("--speech", type=Path, required=True)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--sizes", type=int, nargs="+", default=[512, 768, 1024])
    arguments = parser.parse_args()
    load = f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"
    cores = usable_cores()
    print(f"{cores} cores, {platform.machine()}, {platform.system()}, load at start {load}\n")
    heads = ("portrait", "size", "picture", "speech s", "frames/s", "job s", "factor", "peak MB")
    print(ROW.format(*heads))
    print(ROW.format(*["---"] * len(heads)))
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        with StudioEngine(EngineSettings(data_dir=folder / "data")) as engine:
            for portrait in arguments.portraits:
                for size_px in arguments.sizes:
                    show(portrait, size_px, measure(engine, portrait, arguments.speech, size_px))
            if arguments.minutes > 0:
                long = repeated(arguments.speech, arguments.minutes, folder / "long.wav")
                portrait, size_px = arguments.portraits[0], arguments.sizes[0]
                show(portrait, size_px, measure(engine, portrait, long, size_px))


if __name__ == "__main__":
    main()
