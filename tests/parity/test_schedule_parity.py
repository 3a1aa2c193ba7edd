"""Noise levels against the published scheduler's tables."""

import json

import pytest

from engine.animators.sonic.schedule import karras_schedule

ONE_FLOAT32_STEP = 2e-7


def test_noise_levels_are_the_published_ones(fixture_dir):
    tables = json.loads((fixture_dir / "scheduler.json").read_text("utf-8"))
    for num_steps, table in tables.items():
        schedule = karras_schedule(int(num_steps))

        assert schedule.sigmas == pytest.approx(table["sigmas"], rel=ONE_FLOAT32_STEP)
        assert schedule.timesteps == pytest.approx(table["timesteps"], rel=ONE_FLOAT32_STEP)
