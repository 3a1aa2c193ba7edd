"""Broker addresses, priorities, and what is said where a package or a server is missing."""

import subprocess
import sys
from pathlib import Path

import pytest
from installation import Installation
from polling import wait_until

from engine.contracts import JobStatus
from engine.errors import ErrorCode, InputError
from engine.settings import EngineSettings
from engine.worker.environment import PROJECT_ROOT
from tests.patience import PATIENCE

WITHOUT_CELERY = (
    "import sys; sys.modules['celery'] = None; sys.modules['kombu'] = None; "
    "from engine.cli import main; sys.exit(main(sys.argv[1:]))"
)


@pytest.mark.parametrize(
    ("arguments", "variables"),
    [
        (["serve-worker"], {}),
        (["voices"], {"STUDIO_BACKEND": "celery", "STUDIO_BROKER_URL": "redis://127.0.0.1:9/0"}),
        (["voices"], {"STUDIO_BROKER_WINDOW": "many"}),
        (["serve-worker", "--gpus", "0,0"], {}),
    ],
)
def test_what_is_missing_or_wrong_is_one_sentence(
    arguments: list[str], variables: dict[str, str], tmp_path: Path
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_CELERY, *arguments],
        cwd=PROJECT_ROOT,
        env={"PATH": "/usr/bin", "STUDIO_DATA_DIR": str(tmp_path), **variables},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert done.stderr.count("\n") == 1
    assert any(word in done.stderr for word in ("requirements-scale.txt", "broker-window", "twice"))


@pytest.mark.broker
@pytest.mark.parametrize("url", [None, "sqla+sqlite:///jobs.db", "filesystem://", "memory://", ""])
def test_a_broker_that_loses_jobs_is_refused(url: str | None, tmp_path: Path) -> None:
    from engine.jobs.celery_app import create_app  # noqa: PLC0415 - optional packages

    with pytest.raises(InputError) as caught:
        create_app(EngineSettings(data_dir=tmp_path, broker_url=url))

    assert caught.value.values["option"] == "broker_url"


@pytest.mark.broker
def test_an_owner_s_later_jobs_have_a_lower_priority_on_both_brokers() -> None:
    from engine.jobs.celery_app import priority_at_broker  # noqa: PLC0415 - optional packages

    rabbitmq = [priority_at_broker(count, redis=False) for count in (0, 1, 9, 50)]
    redis = [priority_at_broker(count, redis=True) for count in (0, 1, 9, 50)]

    assert rabbitmq == [9, 8, 0, 0]
    assert redis == [0, 1, 9, 9]


@pytest.mark.broker
def test_the_host_serves_on_without_its_broker_and_goes_on_when_it_comes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from brokers import free_port, redis_server  # noqa: PLC0415

    port = free_port()
    monkeypatch.setattr("brokers.free_port", lambda: port)
    site = Installation(
        "redis",
        tmp_path,
        {
            "backend": "celery",
            "broker_url": f"redis://127.0.0.1:{port}/0",
            "storage_url": str(tmp_path / "shared"),
        },
    )
    folders = f"{Path(__file__).parent}:{Path(__file__).parents[1] / 'process'}"
    monkeypatch.setenv("PYTHONPATH", folders)
    try:
        engine = site.open_engine()
        job = engine.submit(site.request())
        wait_until(lambda: engine.health().pause is not None, 20)
        pause = engine.health().pause
        waiting = engine.get(job.job_id)
        with redis_server():
            site.add_workers(1)
            done = engine.wait(job.job_id, 60 * PATIENCE)
            assert engine.health().pause is None
            site.close()
    finally:
        site.close()

    assert pause is ErrorCode.BROKER_UNREACHABLE
    assert (waiting.status, waiting.queue_position) == (JobStatus.QUEUED, 1)
    assert done.status is JobStatus.SUCCEEDED
