"""The executor of ZeroGPU Spaces, with a stand-in for their package: see stand_in/spaces.py."""

import json
import os
import sys
import wave
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from installation import LONG, WORK, Installation
from polling import wait_until

from engine.contracts import AnimateRequest, JobSpec, JobStatus, RenderOptions, SpeechOptions
from engine.errors import ErrorCode, InputError
from engine.jobs.in_process import needs_card, seconds_needed
from engine.settings import EngineSettings
from tests.patience import PATIENCE

STAND_IN = Path(__file__).resolve().parent / "stand_in"
SONIC = RenderOptions(animator="sonic")


@pytest.fixture
def facts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], list[Any]]]:
    """What the stand-in was asked for."""
    log = tmp_path / "spaces.jsonl"
    monkeypatch.setenv("SPACES_STAND_IN_LOG", str(log))
    monkeypatch.syspath_prepend(str(STAND_IN))
    yield lambda: [json.loads(line) for line in log.read_text("utf-8").splitlines()]
    sys.modules.pop("spaces", None)


@pytest.fixture
def space(
    facts: Callable[[], list[Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Installation]:
    for folder in (Path(__file__).parent, Path(__file__).parents[1] / "process"):
        monkeypatch.syspath_prepend(str(folder))
        path = os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")]))
        monkeypatch.setenv("PYTHONPATH", path)
    made = Installation("local", tmp_path, {"executor": "zerogpu"})
    yield made
    made.close()


def sonic(request: AnimateRequest) -> AnimateRequest:
    return request.model_copy(update={"options": SONIC})


def test_only_videos_that_need_the_card_are_made_on_it(
    space: Installation, facts: Callable[[], list[Any]]
) -> None:
    engine = space.open_engine()
    assert facts() == [{"marked": "steps_of"}]  # before the page starts, as a Space demands

    lite = engine.submit(space.request())
    drawn = engine.wait(lite.job_id, 30 * PATIENCE)
    heard = []
    job = engine.submit(sonic(space.request({"kind": "sleep", "seconds": 1.2 * PATIENCE})))
    done = engine.wait(job.job_id, 30 * PATIENCE, on_progress=heard.append)

    assert drawn.status is done.status is JobStatus.SUCCEEDED
    assert [fact for fact in facts() if "lent" in fact] == [{"lent": 148, "in": os.getpid()}]
    assert space.attempts(job)[0][1] == os.getpid()  # the lent process is one of this process
    assert len({record.progress.percent for record in heard if record.progress}) > 3
    assert done.report["peak_rss_mb"] > 0


def test_a_video_on_the_lent_card_is_canceled_by_its_owner(space: Installation) -> None:
    engine = space.open_engine()
    job = engine.submit(sonic(space.request(LONG)))
    space.wait_for_attempt(job)

    engine.cancel(job.job_id)
    ended = engine.wait(job.job_id, 10 * PATIENCE)

    assert ended.status is JobStatus.CANCELED
    after = engine.submit(sonic(space.request(WORK)))
    assert engine.wait(after.job_id, 30 * PATIENCE).status is JobStatus.SUCCEEDED


def test_a_used_up_quota_is_a_sentence_and_the_next_video_runs(
    space: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = space.open_engine()
    monkeypatch.setenv("SPACES_STAND_IN_QUOTA_S", "100")
    job = engine.submit(sonic(space.request(WORK)))
    refused = engine.wait(job.job_id, 30 * PATIENCE)
    monkeypatch.setenv("SPACES_STAND_IN_QUOTA_S", "200")
    done = engine.wait(engine.submit(sonic(space.request(WORK))).job_id, 30)

    assert refused.error is not None
    assert refused.error.code is ErrorCode.CARD_NOT_LENT
    assert refused.error.values == {"seconds": 148}
    assert done.status is JobStatus.SUCCEEDED


def test_a_process_lost_on_the_lent_card_costs_one_attempt(space: Installation) -> None:
    engine = space.open_engine()
    job = engine.submit(sonic(space.request({"kind": "crash"}, WORK)))

    done = engine.wait(job.job_id, 30 * PATIENCE)

    assert (done.status, done.attempt) == (JobStatus.SUCCEEDED, 2)
    wait_until(lambda: engine.health().job_id is None, 5)


def test_the_quota_of_whoever_asked_counts(space: Installation) -> None:
    import contextvars  # noqa: PLC0415

    import spaces  # noqa: PLC0415 - the stand-in

    asker: contextvars.ContextVar[str] = contextvars.ContextVar("asker", default="nobody")
    seen = []
    note = spaces._note
    spaces._note = lambda facts: (seen.append(asker.get()), note(facts))
    engine = space.open_engine()
    seen.clear()

    token = asker.set("ann")
    job = engine.submit(sonic(space.request(WORK)))
    asker.reset(token)
    engine.wait(job.job_id, 30 * PATIENCE)

    assert seen == ["ann"]


@pytest.mark.parametrize(
    ("seconds", "size_px", "steps", "expected"),
    [(1.0, 512, 20, 60), (5.0, 512, 20, 89), (10.0, 512, 20, 148), (10.0, 768, 25, 360)],
)
def test_the_card_is_asked_for_as_long_as_the_video_needs(
    tmp_path: Path, seconds: float, size_px: int, steps: int, expected: int
) -> None:
    with wave.open(str(tmp_path / "speech.wav"), "wb") as sound:
        sound.setparams((1, 2, 16000, 0, "NONE", ""))
        sound.writeframes(bytes(2 * round(16000 * seconds)))
    options = RenderOptions(animator="sonic", size_px=size_px, num_inference_steps=steps)
    spec = JobSpec(job_id="a" * 32, portrait_name="p.png", audio_name="speech.wav", options=options)
    payload = {"spec": spec.model_dump(mode="json"), "job_dir": str(tmp_path)}

    assert abs(seconds_needed("render", payload, {}, "") - expected) <= 1


def test_a_text_is_counted_by_its_letters(tmp_path: Path) -> None:
    def needed(text: str) -> int:
        spec = JobSpec(
            job_id="a" * 32,
            portrait_name="p.png",
            speech=SpeechOptions(text=text),
            options=SONIC,
        )
        payload = {"spec": spec.model_dump(mode="json"), "job_dir": str(tmp_path)}
        return seconds_needed("render", payload, {}, "")

    assert needed("word " * 16) < needed("word " * 32) < needed("word " * 1000) == 600


def test_auto_asks_for_the_card_only_where_the_weights_are(tmp_path: Path) -> None:
    spec = JobSpec(job_id="a" * 32, portrait_name="p.png")
    settings = EngineSettings(data_dir=tmp_path)
    assert not needs_card(spec, settings)
    settings.sonic_dir.mkdir(parents=True)
    assert needs_card(spec, settings)


def test_without_the_package_the_start_is_refused_in_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        Installation("local", tmp_path, {"executor": "zerogpu"}).open_engine()

    assert caught.value.values["reason"] == "zerogpu needs the package spaces"
