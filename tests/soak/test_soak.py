"""The soak: nothing lost, nothing mixed up, nothing left, memory flat."""

from pathlib import Path

import pytest

from tests.soak.figures import Figures
from tests.soak.soak import kind_of, soak

MAX_SLOPE_KB = 20.0
MAX_SHORT_GROWTH_MB = 15.0
"""Thirty jobs are too few for a slope: what Python loads late and one arena more count as much."""

MAX_MORE_FILES = 5


def assert_nothing_went_wrong(figures: Figures) -> None:
    assert (figures.lost, figures.doubled, figures.wrong_owner) == (0, 0, 0), figures
    assert figures.looked_at > 0
    assert figures.unlabeled == 0
    assert (figures.zombies, figures.left_temp, figures.left_processes) == (0, 0, 0), figures
    assert figures.more_files <= MAX_MORE_FILES
    expected = figures.jobs // 10
    assert figures.restarts >= expected, "children are replaced after ten jobs"


def test_the_plan_has_every_kind_in_the_right_share() -> None:
    kinds = [kind_of(number) for number in range(1400)]

    assert kinds.count("canceled") in range(60, 71)
    assert kinds.count("killed") in range(24, 29)
    assert kinds.count("bad") in range(44, 48)
    assert {kind_of(number) for number in range(30)} == {"plain", "canceled", "killed", "bad"}


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_thirty_jobs_leave_everything_as_it_was(tmp_path: Path) -> None:
    figures = soak(30, 10, tmp_path)

    assert_nothing_went_wrong(figures)
    assert figures.growth_mb < MAX_SHORT_GROWTH_MB
    assert (tmp_path / "soak.png").stat().st_size > 1000
    assert len((tmp_path / "jobs.csv").read_text("utf-8").splitlines()) == 31


@pytest.mark.soak
@pytest.mark.timeout(6 * 3600)
def test_fourteen_hundred_jobs_leave_everything_as_it_was(tmp_path: Path) -> None:
    figures = soak(1400, 50, tmp_path)

    assert_nothing_went_wrong(figures)
    assert figures.slope_kb < MAX_SLOPE_KB
