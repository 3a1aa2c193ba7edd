"""The pure rules around a job: limits, time left, replacing a child, patience."""

import itertools
from pathlib import Path

import pytest

from engine.contracts import JobSpec, Progress, RenderOptions, SpeechOptions, Stage
from engine.jobs.eta import TimeLeft
from engine.jobs.limits import MeasuredRate, expected_s, job_limits, measure_rate, rate_for
from engine.jobs.recovery import may_retry
from engine.settings import EngineSettings
from engine.worker.attend import Patience, TaskLimits, Verdict
from engine.worker.environment import child_environment, native_threads
from engine.worker.recycle import (
    ChildHistory,
    RecycleLimits,
    RecycleReason,
    back_off_s,
    recycle_reason,
)

LIMITS = RecycleLimits(jobs=10, host_mb=16000, card_mb=24000)


def spec_with(**fields: object) -> JobSpec:
    return JobSpec(**{"job_id": "0" * 32, "portrait_name": "p.png", **fields})


def progress_at(percent: float) -> Progress:
    return Progress(stage=Stage.ANIMATE, percent=percent)


@pytest.mark.parametrize(
    ("history", "reason"),
    [
        (ChildHistory(jobs_done=9, age_s=60), None),
        (ChildHistory(jobs_done=10, age_s=60), RecycleReason.JOBS),
        (ChildHistory(jobs_done=1, age_s=6 * 3600 + 1), RecycleReason.AGE),
        (ChildHistory(jobs_done=1, age_s=60, is_broken=True), RecycleReason.BROKEN),
        (ChildHistory(jobs_done=1, age_s=60, rss_mb=12801), RecycleReason.MEMORY),
        (ChildHistory(jobs_done=1, age_s=60, residues_mb=(719,)), None),
        (ChildHistory(jobs_done=1, age_s=60, residues_mb=(721,)), RecycleReason.RESIDUE),
        (ChildHistory(jobs_done=4, age_s=60, residues_mb=(0, 70, 140, 210)), RecycleReason.GROWTH),
        (ChildHistory(jobs_done=4, age_s=60, residues_mb=(0, 70, 60, 130)), None),
        (ChildHistory(jobs_done=3, age_s=60, residues_mb=(0, 70, 140)), None),
    ],
)
def test_when_a_child_is_replaced(history: ChildHistory, reason: RecycleReason | None) -> None:
    assert recycle_reason(history, LIMITS) is reason


def test_small_cards_may_keep_a_context() -> None:
    history = ChildHistory(jobs_done=1, age_s=60, residues_mb=(511,))

    assert recycle_reason(history, RecycleLimits(jobs=10, host_mb=16000, card_mb=6000)) is None


def test_back_off_grows_and_is_capped() -> None:
    assert [back_off_s(deaths) for deaths in range(9)] == [0, 0, 1, 2, 5, 15, 60, 60, 60]


def test_a_lost_job_is_tried_twice() -> None:
    assert [may_retry(attempt) for attempt in (1, 2, 3)] == [True, False, False]


def test_patience_ends_by_the_limit_that_is_reached_first() -> None:
    limits = TaskLimits(total_s=9.5, stall_s=5.5, silence_s=3.5, cancel_s=1.5)

    silent = Patience(limits)
    stalled = Patience(limits)
    late = Patience(limits)
    deaf = Patience(limits, canceling_s=0.0)

    assert [silent.pass_time(1) for _ in range(4)] == [*[Verdict.GO_ON] * 3, Verdict.SILENT]
    for second in range(5):
        stalled.silent_s = late.silent_s = late.stalled_s = 0.0
        assert stalled.pass_time(1) is late.pass_time(1) is Verdict.GO_ON, second
    stalled.silent_s = 0.0
    assert stalled.pass_time(1) is Verdict.TOO_LONG
    for _ in range(4):
        late.silent_s = late.stalled_s = 0.0
        late.pass_time(1)
    late.silent_s = late.stalled_s = 0.0
    assert late.pass_time(1) is Verdict.TOO_LONG
    assert [deaf.pass_time(1) for _ in range(2)] == [Verdict.GO_ON, Verdict.DEAF]


def test_a_night_of_sleep_is_not_silence() -> None:
    patience = Patience(TaskLimits(total_s=60, stall_s=60, silence_s=5))

    assert patience.pass_time(8 * 3600) is Verdict.GO_ON


def test_a_rate_is_scaled_by_pixels_from_the_nearest_size() -> None:
    rates = {("lite", 512): 1.0, ("lite", 1024): 5.0, ("sonic", 512): 20.0}

    assert rate_for(rates, "lite", 512) == 1.0
    assert rate_for(rates, "lite", 720) == pytest.approx((720 / 512) ** 2)
    assert rate_for(rates, "lite", 1000) == pytest.approx(5.0 * (1000 / 1024) ** 2)
    assert rate_for({}, "lite", 512) is None


def test_what_a_job_is_expected_to_take() -> None:
    rates = {("lite", 512): 0.5, ("sonic", 512): 20.0}
    lite, auto = (spec_with(options=RenderOptions(animator=name)) for name in ("lite", "auto"))
    fast = spec_with(options=RenderOptions(animator="lite", fps=50))
    text = spec_with(speech=SpeechOptions(text="x" * 160), options=RenderOptions(animator="lite"))

    assert expected_s(lite, 10.0, rates) == pytest.approx(7.0)
    assert expected_s(auto, 10.0, rates) == pytest.approx(202.0)
    assert expected_s(fast, 10.0, rates) == pytest.approx(12.0)
    assert expected_s(text, None, rates) == pytest.approx(7.0)
    assert expected_s(lite, 10.0, {}) is None
    assert expected_s(spec_with(), None, rates) is None


def test_long_videos_teach_more_about_the_rate_and_short_ones_nothing() -> None:
    assert measure_rate(elapsed_s=11.4, duration_s=2.2, fps=25) is None
    assert measure_rate(32.0, 30.0, 25) == MeasuredRate(rate=1.0, weight=0.5)
    assert measure_rate(32.0, 30.0, 50) == MeasuredRate(rate=0.5, weight=0.5)
    assert measure_rate(1.0, 10.0, 25) == MeasuredRate(rate=0.0, weight=0.25)


def test_limits_are_far_above_the_estimate_and_never_below_the_floor() -> None:
    settings = EngineSettings(job_timeout_min_s=600, stall_timeout_s=300)
    spec = spec_with(options=RenderOptions(animator="lite"))

    short = job_limits(spec, 5.0, {}, settings)
    long = job_limits(spec, 7200.0, {("lite", 512): 1.0}, settings)
    unmeasured = job_limits(spec, 7200.0, {}, settings)

    assert (short.total_s, short.stall_s) == (600, 300)
    assert (long.total_s, long.stall_s) == (72020, 14404)
    assert unmeasured.total_s == 144000


def test_time_left_is_unknown_until_something_was_measured() -> None:
    time_left = TimeLeft(None)

    assert time_left.update(progress_at(1), 0.5).seconds_left is None
    assert time_left.update(progress_at(50), 10.0).seconds_left == pytest.approx(10.0)


def test_time_left_starts_from_earlier_jobs_and_follows_the_pace() -> None:
    time_left = TimeLeft(20.0)

    shown = [time_left.update(progress_at(p), p * 0.4).seconds_left for p in range(0, 101, 2)]

    assert shown[0] == 20.0
    told = [left for left in shown if left is not None]
    assert len(told) == len(shown)
    assert told[-1] < 1.0
    assert max(b - a for a, b in itertools.pairwise(told)) < 1.5


def test_percent_never_goes_back() -> None:
    time_left = TimeLeft(None)

    shown = [time_left.update(progress_at(p), 5.0).percent for p in (10, 40, 30, 50)]

    assert shown == [10, 40, 40, 50]


def test_the_quick_lane_leaves_cores_for_the_render() -> None:
    settings = EngineSettings()

    assert [native_threads("quick", settings, cores) for cores in (1, 2, 8, 32)] == [1, 1, 4, 4]
    assert [native_threads("render", settings, cores) for cores in (1, 2, 8)] == [1, 2, 4]
    assert native_threads("render", EngineSettings(render_threads=6), 8) == 6


def test_a_childs_environment_keeps_what_a_person_set(tmp_path) -> None:
    base = {"OMP_NUM_THREADS": "1", "PYTHONPATH": "/theirs", "HOME": "/home/ann", "TMPDIR": "/x"}

    seen = child_environment("render", EngineSettings(), tmp_path, base)

    assert seen["OMP_NUM_THREADS"] == "1"
    assert seen["HOME"] == "/home/ann"
    assert seen["PYTHONPATH"].endswith("/theirs")
    assert seen["TMPDIR"] == str(tmp_path)
    assert seen["PYTHONSAFEPATH"] == "1"


def test_no_child_tells_anybody_what_it_does(tmp_path: Path) -> None:
    seen = child_environment("quick", EngineSettings(), tmp_path, {"ORT_DISABLE_TELEMETRY": "0"})

    assert seen["ORT_DISABLE_TELEMETRY"] == "1"
    assert seen["HF_HUB_DISABLE_TELEMETRY"] == "1"
