"""Small videos of two studios made by one, two and three workers; in the last run one is killed.

Starts a Redis or RabbitMQ of its own on loopback, two hosts (engines on folders of their own, as
two web servers have) and the workers, and prints one JSON object with the seconds of each run and
the ratios. Every video is counted: all there, each once.

    python -m benchmarks.scaleout --broker redis --videos 60 --out FOLDER
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import time
import wave
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psutil

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests" / "contract"), str(ROOT / "tests" / "process")]

from brokers import rabbitmq_server, redis_server  # noqa: E402 - the path is set above

from engine.api import StudioEngine  # noqa: E402
from engine.contracts import AnimateRequest, JobStatus, RenderOptions  # noqa: E402
from engine.machine import usable_cores  # noqa: E402
from engine.settings import EngineSettings  # noqa: E402

PORTRAIT = ROOT / "tests" / "data" / "portraits" / "astronaut_collins.jpg"
SPEECH = ROOT / "tests" / "data" / "speech" / "en_librivox_austen_0870.wav"
SECONDS = 1.0
SIZE_PX = 256


def cut_speech(target: Path) -> Path:
    """One second of a recording."""
    with wave.open(str(SPEECH), "rb") as source, wave.open(str(target), "wb") as short:
        short.setparams(source.getparams())
        source.setpos(source.getframerate() // 2)
        short.writeframes(source.readframes(round(SECONDS * source.getframerate())))
    return target


def start_worker(name: str, variables: dict[str, str], folder: Path) -> "subprocess.Popen[bytes]":
    """A worker with one drawing thread, so that workers are what is compared."""
    command = [sys.executable, "-m", "engine", "serve-worker", "--name", name]
    environment = {**os.environ, **variables, "STUDIO_DATA_DIR": str(folder / "workers")}
    with (folder / f"{name}.log").open("wb") as log:
        return subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log)


def is_connected(name: str, folder: Path) -> bool:
    return "Connected to" in (folder / f"{name}.log").read_text("utf-8")


def run(
    num_workers: int, num_videos: int, kill_one: bool, broker: str, folder: Path
) -> dict[str, Any]:
    """Make the videos once.

    Args:
        num_workers: that work.
        num_videos: of both hosts together.
        kill_one: kill a worker in the middle of its job after a third of the videos.
        broker: address.
        folder: for everything; new.
    """
    folder.mkdir(parents=True)
    shared = {
        "backend": "celery",
        "broker_url": broker,
        "broker_prefix": folder.name,
        "broker_silence_s": 15.0,
        "storage_url": str(folder / "shared"),
        "render_threads": 1,
    }
    variables = {f"STUDIO_{name.upper()}": str(value) for name, value in shared.items()}
    names = [f"w{number}" for number in range(num_workers)]
    speech = cut_speech(folder / "speech.wav")
    with ExitStack() as stack:
        hosts = [
            stack.enter_context(
                StudioEngine(EngineSettings(data_dir=folder / host, **shared), exclusive=True)
            )
            for host in ("host-a", "host-b")
        ]
        jobs = [submit(hosts[number % 2], speech, number) for number in range(num_videos)]
        workers = {name: start_worker(name, variables, folder) for name in names}
        stack.callback(end, list(workers.values()))
        while not all(is_connected(name, folder) for name in names):
            time.sleep(0.2)
        began_at = time.monotonic()
        killed = watch(hosts, jobs, workers if kill_one else {}, num_videos // 3)
        took_s = time.monotonic() - began_at
        cpu_s = sum(cpu_of(process.pid) for process in workers.values())
        records = [host.get(job_id) for host, job_id in jobs]
        missing = [
            record.job_id
            for (host, _), record in zip(jobs, records, strict=True)
            if record.status is not JobStatus.SUCCEEDED
            or host.artifact_path(record.job_id, "video").stat().st_size < 1000
        ]
    delivered = sum(
        (folder / f"{name}.log").read_text("utf-8").count(" succeeded, attempt") for name in names
    )
    left = [path for path in (folder / "shared").rglob("*") if path.is_file()]
    return {
        "workers": num_workers,
        "videos": num_videos,
        "missing": missing,
        "results_of_workers": delivered,
        "attempts": sum(record.attempt for record in records),
        "killed": killed,
        "files_left": len(left),
        "seconds": round(took_s, 1),
        "videos_per_minute": round(60 * num_videos / took_s, 2),
        "cpu_s_of_workers": round(cpu_s, 1),
        "load": os.getloadavg()[0],
    }


def submit(host: StudioEngine, speech: Path, number: int) -> tuple[StudioEngine, str]:
    request = AnimateRequest(
        portrait=str(PORTRAIT),
        audio=str(speech),
        options=RenderOptions(animator="lite", size_px=SIZE_PX, seed=number),
        consent=True,
        title=str(number),
    )
    return host, host.submit(request).job_id


def watch(
    hosts: Sequence[StudioEngine],
    jobs: Sequence[tuple[StudioEngine, str]],
    victims: dict[str, "subprocess.Popen[bytes]"],
    kill_after: int,
) -> str | None:
    """Wait for all jobs; kill one worker that is at work once `kill_after` videos are there."""
    killed: str | None = None
    while True:
        statuses = [host.get(job_id).status for host, job_id in jobs]
        if all(status.is_final for status in statuses):
            return killed
        if victims and killed is None and statuses.count(JobStatus.SUCCEEDED) >= kill_after:
            name, process = next(iter(victims.items()))
            if any(host.health().job_ids for host in hosts):
                process.send_signal(signal.SIGKILL)
                killed = name
        time.sleep(0.3)


def cpu_of(pid: int) -> float:
    """Processor seconds of a process and its children so far, those that ended among them."""
    try:
        family = [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
        times = [process.cpu_times() for process in family]
    except psutil.NoSuchProcess:
        return 0.0
    ended = times[0].children_user + times[0].children_system
    return ended + sum(found.user + found.system for found in times)


def end(workers: Sequence["subprocess.Popen[bytes]"]) -> None:
    for process in workers:
        process.terminate()
    for process in workers:
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()


def main() -> None:
    """Run one, two and three workers, then three of which one is killed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--broker", choices=("redis", "rabbitmq"), default="redis")
    parser.add_argument("--videos", type=int, default=60)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--workers", default="1,2,3,3k", help="k: kill one on the way")
    given = parser.parse_args()
    server = {"redis": redis_server, "rabbitmq": rabbitmq_server}[given.broker]
    runs = []
    with server() as broker:
        for plan in given.workers.split(","):
            count, kill_one = int(plan.rstrip("k")), plan.endswith("k")
            folder = given.out.absolute() / f"run-{plan}-{int(time.time())}"
            runs.append(run(count, given.videos, kill_one, broker, folder))
            print(json.dumps(runs[-1]), file=sys.stderr, flush=True)
    first = next((found for found in runs if found["workers"] == 1), runs[0])
    for found in runs:
        found["ratio"] = round(found["videos_per_minute"] / first["videos_per_minute"], 2)
    print(json.dumps({"broker": given.broker, "cores": usable_cores(), "runs": runs}, indent=1))


if __name__ == "__main__":
    main()
