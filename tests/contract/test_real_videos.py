"""Real videos made by real workers: the commands of the product, a bucket, a quorum queue."""

import json
import os
import subprocess
import sys
import urllib.error
import urllib.request
import wave
from pathlib import Path

import pytest
from brokers import BUCKET
from installation import BROKERS, Installation

from engine.contracts import AnimateRequest, JobStatus, RenderOptions
from engine.worker.environment import PROJECT_ROOT
from engine.worker.lanes import PRODUCT_DECODE_TASKS, PRODUCT_TASKS
from tests.patience import PATIENCE

DATA = PROJECT_ROOT / "tests" / "data"
PORTRAIT = DATA / "portraits" / "astronaut_collins.jpg"
SPEECH = DATA / "speech" / "en_librivox_austen_0870.wav"
SECONDS = 1.2

pytestmark = [pytest.mark.broker, pytest.mark.timeout(240)]


@pytest.fixture
def speech(tmp_path: Path) -> Path:
    """A little of a recording."""
    target = tmp_path / "short.wav"
    with wave.open(str(SPEECH), "rb") as source, wave.open(str(target), "wb") as short:
        short.setparams(source.getparams())
        short.writeframes(source.readframes(round(SECONDS * source.getframerate())))
    return target


def commands(site: Installation, *arguments: str) -> "subprocess.CompletedProcess[str]":
    variables = {f"STUDIO_{name.upper()}": str(value) for name, value in site.settings.items()}
    return subprocess.run(
        [sys.executable, "-m", "engine", *arguments],
        cwd=PROJECT_ROOT,
        env={**os.environ, **variables, "STUDIO_DATA_DIR": str(site.folder / "host")},
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )


@pytest.mark.parametrize("kind", BROKERS[1:], indirect=True)
def test_the_command_line_s_video_is_made_by_a_worker_over_a_quorum_queue(
    site: Installation, speech: Path, tmp_path: Path
) -> None:
    site.settings["broker_queue"] = "quorum"
    site.add_workers(1, tasks=None)
    target = tmp_path / "video.mp4"

    done = commands(
        site, "animate", str(PORTRAIT), str(speech), "--size", "256", "-o", str(target), "--json"
    )

    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    labels = commands(site, "verify", str(target))
    assert labels.returncode == 0, labels.stdout
    assert report["animator"] == "lite"
    assert abs(report["duration_s"] - SECONDS) < 0.05
    assert target.stat().st_size > 5000
    assert "succeeded, attempt 1" in site.workers[0].log.read_text()
    assert site.left_in_storage() == []


@pytest.mark.parametrize("kind", BROKERS[:1], indirect=True)
def test_a_video_through_a_bucket_can_be_fetched_by_a_signed_link_until_it_is_deleted(
    site: Installation, s3: dict[str, str], speech: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in s3.items():
        monkeypatch.setenv(name, value)
    site.settings |= {"storage_url": f"s3://{BUCKET}/{site.folder.name}", "storage_links": True}
    site.add_workers(1, tasks=None)
    engine = site.open_engine(tasks=PRODUCT_TASKS, decode_tasks=PRODUCT_DECODE_TASKS)
    options = RenderOptions(size_px=256, seed=1)
    request = AnimateRequest(
        portrait=str(PORTRAIT), audio=str(speech), options=options, consent=True
    )

    job = engine.submit(request)
    done = engine.wait(job.job_id, 120 * PATIENCE)
    link = engine.artifact_link(job.job_id, "video")

    assert done.status is JobStatus.SUCCEEDED
    assert link is not None
    with urllib.request.urlopen(link, timeout=10) as answer:
        assert answer.read() == engine.artifact_path(job.job_id, "video").read_bytes()
    engine.delete(job.job_id)
    with pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(link, timeout=10)
    assert caught.value.code in (403, 404)
