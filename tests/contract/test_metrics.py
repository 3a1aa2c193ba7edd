"""The Prometheus endpoint of a host and of a worker."""

import urllib.request

import pytest
from brokers import free_port
from installation import BROKERS, LONG, Installation

from engine.contracts import JobStatus
from engine.errors import ErrorCode, InputError
from tests.patience import PATIENCE

SECRET = "somebody@example.org"


def scrape(port: int) -> dict[str, float]:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
        text = answer.read().decode()
    assert SECRET not in text
    rows = (line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    return {name: float(value) for name, value in rows}


@pytest.mark.broker
@pytest.mark.parametrize("kind", ["local", *BROKERS[:1]], indirect=True)
def test_figures_follow_the_jobs_and_name_nobody(site: Installation) -> None:
    port = free_port()
    engine = site.open_engine(metrics_port=port)
    site.add_workers(1)
    refused = site.request({"kind": "refuse", "code": "gpu_memory"})
    done = engine.wait(engine.submit(site.request(), SECRET).job_id, 40)
    engine.wait(engine.submit(refused, SECRET).job_id, 40 * PATIENCE)
    running = engine.submit(site.request(LONG), SECRET)
    site.wait_for_attempt(running)
    engine.submit(site.request(), SECRET)

    figures = scrape(port)

    assert done.status is JobStatus.SUCCEEDED
    assert figures["sonic_studio_queue_length"] == 1
    assert figures['sonic_studio_jobs{status="running"}'] == 1
    assert figures['sonic_studio_jobs_ended_total{status="succeeded"}'] == 1
    assert figures['sonic_studio_jobs_ended_total{status="failed"}'] == 1
    assert figures["sonic_studio_job_seconds_total"] > 0
    assert figures["sonic_studio_workers"] == figures["sonic_studio_workers_busy"] == 1
    assert figures['sonic_studio_ram_megabytes{what="total"}'] > 500
    with pytest.raises(InputError) as caught:
        site.open_engine("other", metrics_port=port)
    assert caught.value.code is ErrorCode.BAD_OPTION


@pytest.mark.parametrize("kind", BROKERS[:1], indirect=True)
def test_a_worker_tells_its_own_figures(site: Installation) -> None:
    engine = site.open_engine()
    port = free_port()
    site.environment["STUDIO_METRICS_PORT"] = str(port)
    site.add_workers(1)
    engine.wait(
        engine.submit(site.request({"kind": "crash"}, {"kind": "sleep", "seconds": 0})).job_id, 40
    )

    figures = scrape(port)

    assert figures['sonic_studio_jobs_ended_total{status="succeeded"}'] == 1
    assert figures["sonic_studio_workers_lost_total"] == 1
    assert "sonic_studio_queue_length" not in figures
