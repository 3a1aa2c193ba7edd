"""Whole jobs of Sonic on a card, with the weights of `sonic_tree`.

`python -m benchmarks.sonic_jobs whole|many|command TREE [--out FILE.json] ...`

`whole` makes clips within this process and tells seconds, peak memory and a sum of some frames;
`many` makes many short ones of mixed sizes and tells what stays; `command` runs the command line
under a limit of the card's memory while the driver's own counter is watched.
"""

import argparse
import gc
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from threading import Event

import numpy as np
import psutil
import pynvml
import soundfile

from benchmarks.sonic_table import GB, Table
from engine.animators.animator import Scene
from engine.animators.sonic.animator import SonicAnimator
from engine.animators.sonic.options import SonicOptions
from engine.animators.sonic.shelf import WeightShelf
from engine.face.geometry import NUM_LANDMARKS, Face
from engine.gpu.cleanup import release_memory
from engine.lipsync.curves import VISEMES, MouthCurves
from engine.media.audio import write_wav

ROOT = Path(__file__).resolve().parents[1]
PORTRAIT = ROOT / "tests" / "data" / "portraits" / "astronaut_collins.jpg"
SPEECH = ROOT / "tests" / "data" / "speech" / "en_jfk_1961_16k.flac"
FPS = 25
FACE_SHARE = 0.5
MIXED_SIZES = (256, 384, 512, 320, 448)
WARM_UP_JOBS = 10


def write_speech(folder: Path, seconds: float) -> Path:
    """A recording of that length, said again and again where it is too short."""
    samples, rate = soundfile.read(SPEECH, dtype="float32")
    path = folder / f"speech-{seconds:g}.wav"
    write_wav(path, np.resize(samples, round(seconds * rate)), rate)
    return path


def make_scene(size_px: int, speech: Path, seconds: float) -> Scene:
    """A picture of noise with a face box of the usual size."""
    num_frames = round(seconds * FPS)
    canvas = np.random.default_rng(0).integers(0, 256, (size_px, size_px, 3), np.uint8)
    side, corner = FACE_SHARE * size_px, (0.5 - FACE_SHARE / 2) * size_px
    box = (corner, corner, side, side)
    zeros = np.zeros(num_frames, np.float32)
    return Scene(
        canvas=canvas,
        face=Face(np.zeros((NUM_LANDMARKS, 3), np.float32), 1.0, box, 0, 0, 0),
        curves=MouthCurves(np.zeros((num_frames, len(VISEMES)), np.float32), *[zeros] * 9),
        speech_wav=speech,
        fps=Fraction(FPS),
        seed=1,
    )


def run_whole(table: Table, tree: Path, given: argparse.Namespace) -> None:
    """Clips of each size and length, no file written."""
    import torch  # noqa: PLC0415 - heavy

    shelf = WeightShelf()
    stages = stage_clock()
    with tempfile.TemporaryDirectory() as folder:
        for seconds in given.seconds:
            speech = write_speech(Path(folder), seconds)
            for size in given.sizes:
                scene = make_scene(size, speech, seconds)
                options = SonicOptions(num_inference_steps=given.steps, dtype=given.dtype)
                animator = SonicAnimator(tree, options, shelf=shelf, card_limit_mb=given.limit_mb)
                started = time.monotonic()
                frames = animator.animate(scene, Event())
                next(frames)
                first_s = time.monotonic() - started
                count, seen = 1, 0
                for frame in frames:
                    count += 1
                    if count % 10 == 0:
                        seen = zlib.crc32(frame.tobytes(), seen)
                table.add(
                    stage="whole",
                    size=size,
                    seconds=seconds,
                    steps=given.steps,
                    frames=count,
                    first_frame_s=round(first_s, 2),
                    total_s=round(time.monotonic() - started, 2),
                    allocated_gb=round(torch.cuda.max_memory_allocated() / GB, 2),
                    reserved_gb=round(torch.cuda.max_memory_reserved() / GB, 2),
                    way=animator.last_way,
                    every_tenth_frame=f"{seen:08x}",
                    stages_s={name: round(took, 2) for name, took in stages.items()},
                )
                stages.clear()
                del frames, animator
                release_memory()


def run_many(table: Table, tree: Path, given: argparse.Namespace) -> None:
    """Short clips of mixed sizes in one process."""
    import torch  # noqa: PLC0415 - heavy

    shelf = WeightShelf()
    options = SonicOptions(num_inference_steps=given.steps, dtype=given.dtype)
    after_mb, held_mb, rss_mb, took_s = [], [], [], []
    stages = stage_clock()
    with tempfile.TemporaryDirectory() as folder:
        speech = write_speech(Path(folder), 1.0)
        for job in range(given.jobs):
            scene = make_scene(MIXED_SIZES[job % len(MIXED_SIZES)], speech, 1.0)
            started = time.monotonic()
            animator = SonicAnimator(tree, options, shelf=shelf, card_limit_mb=given.limit_mb)
            count = sum(1 for _ in animator.animate(scene, Event()))
            took_s.append(round(time.monotonic() - started, 2))
            del animator
            gc.collect()
            release_memory()
            after_mb.append(torch.cuda.memory_allocated() / 2**20)
            held_mb.append(torch.cuda.memory_reserved() / 2**20)
            rss_mb.append(psutil.Process().memory_info().rss / 2**20)
            if count != FPS:
                raise RuntimeError("a frame is missing")
            if job < 4 or job % 10 == 9:
                table.add(
                    job=job,
                    size=scene.canvas.shape[0],
                    took_s=took_s[-1],
                    allocated_mb=round(after_mb[-1], 2),
                    reserved_mb=held_mb[-1],
                    rss_mb=round(rss_mb[-1]),
                    stages_s={name: round(seconds, 2) for name, seconds in stages.items()},
                )
            stages.clear()
    late = np.arange(len(after_mb) - WARM_UP_JOBS)
    table.add(
        stage="many",
        jobs=given.jobs,
        allocated_slope_mb=float(np.polyfit(late, after_mb[WARM_UP_JOBS:], 1)[0]),
        reserved_slope_mb=float(np.polyfit(late, held_mb[WARM_UP_JOBS:], 1)[0]),
        rss_slope_mb=float(np.polyfit(late, rss_mb[WARM_UP_JOBS:], 1)[0]),
        shelf_gb=round(shelf.kept_bytes / GB, 2),
        allocated_mb=[round(mb, 2) for mb in after_mb],
        reserved_mb=[round(mb, 1) for mb in held_mb],
        rss_mb=[round(mb) for mb in rss_mb],
        took_s=took_s,
    )


def stage_clock() -> dict[str, float]:
    """Seconds in the parts of a job from now on, by name; parts of parts are counted in both."""
    import torch  # noqa: PLC0415 - heavy

    from engine.animators.sonic import denoise, models, pipeline  # noqa: PLC0415 - heavy

    seconds: dict[str, float] = {}

    def clock(owner: type, name: str) -> None:
        work = getattr(owner, name)

        def timed(*given: object, **named: object) -> object:
            started = time.monotonic()
            made = work(*given, **named)
            torch.cuda.synchronize()
            seconds[name] = seconds.get(name, 0.0) + time.monotonic() - started
            return made

        setattr(owner, name, timed)

    for name in ("unet", "autoencoder", "image_encoder", "ears", "token_head", "bucket_head"):
        clock(models.SonicModels, name)
    for name in ("flow_net", "_tensors"):
        clock(models.SonicModels, name)
    for name in ("see", "hear", "_look", "_release"):
        clock(pipeline.SonicPipeline, name)
    for name in ("run", "_velocity"):
        clock(denoise.Denoiser, name)
    return seconds


@contextmanager
def watched_card() -> Iterator[list[float]]:
    """The most memory used on the card beyond what was used before, in MB, as one number."""
    pynvml.nvmlInit()
    visible = os.environ.get("CUDA_VISIBLE_DEVICES", "0").split(",")[0]
    card = pynvml.nvmlDeviceGetHandleByIndex(int(visible))

    def used_mb() -> float:
        return float(pynvml.nvmlDeviceGetMemoryInfo(card).used) / 2**20

    before_mb, peak, done = used_mb(), [0.0], Event()

    def look() -> None:
        while not done.wait(0.02):
            peak[0] = max(peak[0], used_mb() - before_mb)

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield peak
    finally:
        done.set()
        thread.join()


def run_command(table: Table, tree: Path, given: argparse.Namespace) -> None:
    """One video by the command line."""
    size, seconds = given.sizes[0], given.seconds[0]
    with tempfile.TemporaryDirectory() as folder:
        speech = write_speech(Path(folder), seconds)
        target = given.video or Path(folder) / "out.mp4"
        limit = {"STUDIO_CARD_LIMIT_MB": str(given.limit_mb)} if given.limit_mb else {}
        environment = {
            **os.environ,
            "STUDIO_DATA_DIR": folder,
            "STUDIO_SONIC_WEIGHTS_DIR": str(tree.resolve()),
            **limit,
        }
        command = [
            *(sys.executable, "-m", "engine", "animate", str(PORTRAIT), str(speech)),
            *("-o", str(target), "--animator", "sonic", "--size", str(size)),
            *("--steps", str(given.steps), "--aspect", "1:1", "--seed", "1", "--json"),
            *("--dtype", given.dtype),
        ]
        started = time.monotonic()
        with watched_card() as peak_mb:
            done = subprocess.run(
                command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
            )
        took_s = time.monotonic() - started
        if done.returncode != 0:
            logs = sorted(Path(folder).glob("logs/render*"))
            print(done.stdout, done.stderr, *(log.read_text()[-3000:] for log in logs))
            raise SystemExit(1)
        report = json.loads(done.stdout)
        names = ("width_px", "height_px", "num_frames", "elapsed_s", "peak_vram_mb", "peak_rss_mb")
        table.add(
            stage="command",
            steps=given.steps,
            limit_mb=given.limit_mb,
            driver_peak_mb=round(peak_mb[0]),
            wall_s=round(took_s, 1),
            **{name: report.get(name) for name in names},
            stages=report["stages"],
            memory_steps=report["memory_steps"],
            notes=report["notes"],
        )


def main() -> None:
    """Read the command line and measure."""
    parser = argparse.ArgumentParser(description="Make whole videos with Sonic on a card.")
    parser.add_argument("stage", choices=("whole", "many", "command"))
    parser.add_argument("tree", type=Path)
    parser.add_argument("--sizes", type=int, nargs="+", default=[512, 768, 1024])
    parser.add_argument("--seconds", type=float, nargs="+", default=[4.0])
    parser.add_argument("--steps", type=int, default=25)
    parser.add_argument("--jobs", type=int, default=50)
    parser.add_argument("--dtype", default="auto")
    parser.add_argument("--limit-mb", type=float)
    parser.add_argument("--video", type=Path)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    table = Table(given.out)
    stages = {"whole": run_whole, "many": run_many, "command": run_command}
    stages[given.stage](table, given.tree, given)


if __name__ == "__main__":
    main()
