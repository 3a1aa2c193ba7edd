"""One installation under test: an engine, and the workers where jobs are carried elsewhere."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import pytest
from polling import python_path, wait_until

from engine.api import StudioEngine
from engine.contracts import AnimateRequest, JobRecord
from engine.settings import EngineSettings

KINDS = [
    "local",
    # With `--dist loadgroup` each broker has a process of its own, which waits on its own.
    pytest.param("redis", marks=[pytest.mark.broker, pytest.mark.xdist_group("redis")]),
    pytest.param("rabbitmq", marks=[pytest.mark.broker, pytest.mark.xdist_group("rabbitmq")]),
]
BROKERS = KINDS[1:]

HERE = Path(__file__).resolve().parent
TASKS = "contract_tasks:TASKS"
WORK = {"kind": "sleep", "seconds": 0.05}
LONG = {"kind": "sleep", "seconds": 60}

SILENCE_S = 6.0
"""Short, because Redis itself gives a lost job to nobody for hours: the host does."""


@dataclass
class Worker:
    """A `serve-worker` in a process of its own."""

    name: str
    process: "subprocess.Popen[bytes]"
    log: Path

    def is_ready(self) -> bool:
        assert self.process.poll() is None, self.log.read_text()
        return "Connected to" in self.log.read_text()

    def kill(self) -> None:
        """As a power cut would; its child ends by itself."""
        self.process.kill()
        self.process.wait(10)

    def end(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.kill()


@dataclass
class Installation:
    """An installation of one kind.

    Attributes:
        kind: `local`, `redis`, `rabbitmq`.
        folder: of this test.
        settings: beyond the data folder.
    """

    kind: str
    folder: Path
    settings: dict[str, Any] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)
    workers: list[Worker] = field(default_factory=list)
    engines: list[StudioEngine] = field(default_factory=list)

    @property
    def has_broker(self) -> bool:
        return self.kind != "local"

    @property
    def engine(self) -> StudioEngine:
        """The first host."""
        return self.engines[0]

    def open_engine(
        self,
        name: str = "host",
        tasks: str = TASKS,
        decode_tasks: str = TASKS,
        **changes: Any,
    ) -> StudioEngine:
        """A host on a folder of its own, beginning at once with what waits there."""
        given = {"data_dir": self.folder / name, "cancel_grace_s": 1.0, **self.settings, **changes}
        settings = EngineSettings(**given)
        engine = StudioEngine(settings, exclusive=True, tasks=tasks, decode_tasks=decode_tasks)
        self.engines.append(engine)
        return engine

    def add_workers(self, count: int, *options: str, tasks: str | None = TASKS) -> list[Worker]:
        """Start workers and wait until they are connected; nothing on a single machine."""
        if not self.has_broker:
            return []
        started = []
        for _ in range(count):
            name = f"w{len(self.workers)}"
            log = self.folder / f"{name}.log"
            variables = {
                f"STUDIO_{key.upper()}": str(value) for key, value in self.settings.items()
            }
            given = {"STUDIO_DATA_DIR": str(self.folder / "workers"), "STUDIO_CANCEL_GRACE_S": "1"}
            command = [sys.executable, "-m", "engine", "serve-worker", "--name", name, *options]
            with log.open("wb") as file:
                process = subprocess.Popen(
                    [*command, *([] if tasks is None else ["--tasks", tasks])],
                    env={
                        **os.environ,
                        **self.environment,
                        **variables,
                        **given,
                        "PYTHONPATH": python_path(HERE, HERE.parent / "process"),
                    },
                    stdout=file,
                    stderr=file,
                    stdin=subprocess.DEVNULL,
                    start_new_session=True,
                )
            self.workers.append(Worker(name, process, log))
            started.append(self.workers[-1])
        for worker in started:
            wait_until(worker.is_ready, 40)
        return started

    def close(self) -> None:
        for engine in self.engines:
            engine.close()
        families = [child for worker in self.workers for child in _children(worker.process.pid)]
        for worker in self.workers:
            if worker.process.poll() is None:
                worker.end()
        _gone, alive = psutil.wait_procs(families, 5)
        assert alive == []

    # -- what a test asks for ----------------------------------------------------------------

    def request(self, *steps: dict[str, Any]) -> AnimateRequest:
        """A video whose attempts do one step each; the last one repeats."""
        number = len(list(self.folder.glob("speech-*")))
        portrait = self.folder / "me.png"
        portrait.write_bytes(b"picture")
        log = self.folder / f"attempts-{number}.txt"
        audio = self.folder / f"speech-{number}.wav"
        audio.write_text(json.dumps([{"log": str(log)}, *(steps or [WORK])]), "utf-8")
        return AnimateRequest(
            portrait=str(portrait), audio=str(audio), consent=True, title=str(number)
        )

    def attempts(self, job: JobRecord) -> list[tuple[int, int]]:
        """Process ids of every attempt of a job, and of those that carried it."""
        log = self.folder / f"attempts-{job.title}.txt"
        if not log.exists():
            return []
        rows = [line.split() for line in log.read_text("utf-8").splitlines()]
        return [(int(pid), int(parent)) for pid, parent in rows]

    def wait_for_attempt(self, job: JobRecord, number: int = 1, timeout_s: float = 30.0) -> None:
        wait_until(lambda: len(self.attempts(job)) >= number, timeout_s)

    def left_in_storage(self) -> list[str]:
        """Files of jobs that are still in the storage."""
        root = Path(str(self.settings.get("storage_url", self.folder / "none")))
        # Folders may vanish while they are looked through, which `rglob` does not bear.
        found = [Path(place, name) for place, _, names in os.walk(root) for name in names]
        return [str(path.relative_to(root)) for path in found]


def _children(pid: int) -> list[psutil.Process]:
    with contextlib.suppress(psutil.NoSuchProcess):
        return psutil.Process(pid).children(recursive=True)
    return []
