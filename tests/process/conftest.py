"""Engines on a folder of the test's own, with tasks that can be told how to fail."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psutil
import pytest
from polling import HERE, TASKS, python_path, wait_until

from engine.api import StudioEngine
from engine.contracts import AnimateRequest
from engine.settings import EngineSettings
from engine.worker.ending import is_alive
from engine.worker.plan import LanePlan
from engine.worker.supervisor import Supervisor


@pytest.fixture
def no_child_left() -> Iterator[None]:
    """Fail when a process that the test started outlives it."""
    before = {child.pid for child in psutil.Process().children(recursive=True)}
    yield
    after = [c for c in psutil.Process().children(recursive=True) if c.pid not in before]
    assert [child for child in after if is_alive(child)] == []


@pytest.fixture
def settings_for(tmp_path: Path) -> Callable[..., EngineSettings]:
    """Make settings on the test's folder; grace periods are short, all else is the default."""

    def make(**changes: Any) -> EngineSettings:
        return EngineSettings(**{"data_dir": tmp_path / "data", "cancel_grace_s": 1.0, **changes})

    return make


@pytest.fixture
def make_engine(
    settings_for: Callable[..., EngineSettings],
    monkeypatch: pytest.MonkeyPatch,
    no_child_left: None,
) -> Iterator[Callable[..., StudioEngine]]:
    """Open engines that run the sample tasks; all are closed at the end."""
    monkeypatch.setenv("PYTHONPATH", python_path(HERE))
    with ExitStack() as stack:

        def make(*, exclusive: bool = False, **changes: Any) -> StudioEngine:
            settings = settings_for(**changes)
            engine = StudioEngine(settings, exclusive=exclusive, tasks=TASKS, decode_tasks=TASKS)
            return stack.enter_context(engine)

        yield make


@pytest.fixture
def engine(make_engine: Callable[..., StudioEngine]) -> StudioEngine:
    return make_engine()


@pytest.fixture
def make_supervisor(
    settings_for: Callable[..., EngineSettings],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    no_child_left: None,
) -> Iterator[Callable[..., Supervisor]]:
    """Open supervisors of the render lane; all are closed at the end."""
    monkeypatch.setenv("PYTHONPATH", python_path(HERE))
    opened: list[Supervisor] = []

    def make(
        tasks: str = TASKS,
        tasks_per_child: int = 10,
        patience: int = 1,
        ends_aside: bool = False,
        **changes: Any,
    ) -> Supervisor:
        settings = settings_for(**changes)
        settings.data_dir.mkdir(exist_ok=True)
        plan = LanePlan(
            lane="render",
            tasks=tasks,
            temp_dir=tmp_path / "tmp",
            tasks_per_child=tasks_per_child,
            patience=patience,
            ends_aside=ends_aside,
        )
        opened.append(Supervisor(plan, settings))
        return opened[-1]

    yield make
    for supervisor in opened:
        supervisor.close()


@pytest.fixture
def request_for(tmp_path: Path) -> Callable[..., AnimateRequest]:
    """Make a request whose render does one step per attempt; the last step repeats."""

    def make(*steps: dict[str, Any], **fields: Any) -> AnimateRequest:
        portrait = tmp_path / "me.png"
        portrait.write_bytes(b"picture")
        audio = tmp_path / f"speech-{len(list(tmp_path.glob('speech-*')))}.wav"
        audio.write_text(json.dumps(steps or [{"kind": "sleep", "seconds": 0}]), "utf-8")
        given = {"portrait": str(portrait), "audio": str(audio), "consent": True, **fields}
        return AnimateRequest(**given)

    return make


@pytest.fixture
def wait_for_progress() -> Callable[[StudioEngine, str], None]:
    """Wait until a job has reported its animate stage."""

    def wait(engine: StudioEngine, job_id: str) -> None:
        def is_animating() -> bool:
            progress = engine.get(job_id).progress
            return progress is not None and progress.stage == "animate"

        wait_until(is_animating)

    return wait
