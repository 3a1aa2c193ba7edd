"""What a video should cost by stage, and how much is told to be left of it on the way."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import soundfile as sf

from engine.contracts import JobSpec, Progress, Stage
from engine.jobs.limits import measure_paces
from engine.pipeline.forecast import AFTER_S, Forecast
from engine.pipeline.foresight import Foresight, known_paces
from engine.pipeline.stage import StageClock
from engine.pipeline.stage_costs import MACHINE, Work, moving_megapixels, stage_costs

WORK = Work(speech_s=20.0, fps=25, picture_mp=0.26, moving_mp=0.1, photo_mp=1.0)
ORDER = (Stage.PREPARE, Stage.SPEAK, Stage.LISTEN, Stage.ANIMATE, Stage.FINISH, Stage.ASSEMBLE)
COSTS = dict(zip(ORDER, (1.0, 0.0, 1.0, 10.0, 8.0, 0.2), strict=True))


def test_more_frames_pixels_and_face_cost_more() -> None:
    usual = stage_costs(WORK, {})

    assert stage_costs(replace(WORK, fps=50), {})[Stage.ANIMATE] > 1.8 * usual[Stage.ANIMATE]
    assert stage_costs(replace(WORK, picture_mp=1.0), {})[Stage.FINISH] > usual[Stage.FINISH]
    assert stage_costs(replace(WORK, moving_mp=0.26), {})[Stage.ANIMATE] > usual[Stage.ANIMATE]
    assert stage_costs(replace(WORK, speaking_s=9.0), {})[Stage.SPEAK] > usual[Stage.SPEAK] + 8.9


def test_a_long_video_is_scored_no_longer_than_a_minute() -> None:
    minute, hour = (
        stage_costs(replace(WORK, speech_s=s), {})[Stage.FINISH] for s in (60.0, 3600.0)
    )

    assert hour == minute


def test_a_large_face_moves_the_whole_picture_and_no_more() -> None:
    assert moving_megapixels(10_000.0, 0.26) == pytest.approx(0.038)
    assert moving_megapixels(200_000.0, 0.26) == 0.26


def test_paces_stretch_their_stage_and_the_machines_all_others() -> None:
    table = stage_costs(WORK, {})

    here = stage_costs(WORK, {"animate": 2.0, MACHINE: 3.0})

    assert here[Stage.ANIMATE] == pytest.approx(2.0 * table[Stage.ANIMATE])
    assert here[Stage.FINISH] == pytest.approx(3.0 * table[Stage.FINISH])


def test_a_finished_video_teaches_the_pace_of_its_stages() -> None:
    report = {"stages": {"animate": 6.0, "finish": 1.0}, "stage_costs": {"animate": 3.0}}

    paces = measure_paces(report)

    assert {stage: pace.rate for stage, pace in paces.items()} == {"animate": 2.0}
    assert 0 < paces["animate"].weight < 1
    assert measure_paces({"stages": {"animate": 6.0}}) == {}


def test_a_stage_never_measured_is_as_slow_as_drawing() -> None:
    paces = known_paces({"animate": 4.0, "finish": 2.0}, finder=None)

    assert (paces[MACHINE], paces["finish"]) == (4.0, 2.0)


def test_a_recording_teaches_nothing_of_voices(tmp_path: Path) -> None:
    """Opening it takes a second where the table has a tenth: no voice is ten times as slow."""
    sf.write(tmp_path / "audio.wav", np.zeros(16_000), 16_000)
    spec = JobSpec(job_id="a" * 32, portrait_name="portrait.png", audio_name="audio.wav")

    foresight = Foresight(
        spec, tmp_path, SimpleNamespace(finder=None), {"animate": 1.0}, (512, 512)
    )

    assert "speak" not in foresight.table_costs
    assert Stage.SPEAK in foresight.costs


def followed(slower: float) -> list[tuple[float, float]]:
    """What is told to be left, and the truth, through a job so much slower than expected."""
    forecast, now, whole = Forecast(COSTS), 0.0, slower * sum(COSTS.values()) + AFTER_S
    told = []
    for stage in ORDER:
        took = slower * COSTS[stage]
        forecast.begin(stage, now)
        for done in range(101):
            at = now + took * done / 100
            told.append((forecast.left_s(done, 100, at), whole - at))
        now += took
        forecast.end(now)
    return told


def test_what_was_expected_is_told_from_the_start() -> None:
    assert all(told == pytest.approx(true) for told, true in followed(1.0))


@pytest.mark.parametrize("slower", [0.5, 2.0])
def test_a_wrong_expectation_is_mended_by_the_jobs_own_pace(slower: float) -> None:
    told = followed(slower)
    whole = told[0][1]

    later = [(left, true) for left, true in told if 0.35 * whole < whole - true < 0.9 * whole]

    assert max(abs(left - true) / true for left, true in later) < 0.3
    assert told[-1][0] == pytest.approx(AFTER_S)


def test_frames_the_encoder_holds_back_are_not_taken_for_its_pace() -> None:
    forecast = Forecast(COSTS)
    forecast.begin(Stage.ANIMATE, 0.0)

    assert forecast.left_s(12, 100, 0.001) == pytest.approx(8.8 + 8.0 + 0.2 + AFTER_S, rel=0.4)


def test_the_clock_tells_percent_and_time_by_what_is_expected() -> None:
    reported: list[Progress] = []
    clock = StageClock(reported.append)

    with clock.running(Stage.PREPARE):
        clock.expect(COSTS)
    with clock.running(Stage.ANIMATE, 100):
        pass

    assert reported[0].seconds_left is None
    assert reported[1].percent == pytest.approx(100 * 2 / 20.2)
    assert reported[1].seconds_left == pytest.approx(18.2, abs=1.0)
