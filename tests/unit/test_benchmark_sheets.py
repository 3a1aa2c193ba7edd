"""The contact sheets show the moments they name, and shards make every video once."""

import argparse

import numpy as np
import pytest

from benchmarks.quality import shard_of
from benchmarks.quality_pages import as_table, in_order, turns
from benchmarks.telling_moments import MAX_LIDS, telling_moments
from engine.animators.lite.motion import MotionStyle, plan_motion
from engine.lipsync.curves import VISEMES, MouthCurves

FPS, FRAMES = 25.0, 250
SAID_S = {"jaw": 2.0, "close": 3.0, "fv": 4.0, "wide": 5.0, "pucker": 6.0, "teeth": 7.0}
NAMES = ("open", "shut lips", "lip at teeth", "wide", "round", "teeth")


def said_one_by_one(without: str = "") -> MouthCurves:
    """Each curve rises once, in the second `SAID_S`; silence around."""
    time_s = np.arange(501) / 50
    curves = {
        name: np.exp(-(((time_s - at_s) / 0.08) ** 2)).astype(np.float32) * (name != without)
        for name, at_s in SAID_S.items()
    }
    speaking = ((time_s > 1.5) & (time_s < 8)).astype(np.float32)
    posteriors = np.full((501, len(VISEMES)), 1 / len(VISEMES), np.float32)
    zero = np.zeros(501, np.float32)
    return MouthCurves(posteriors, tongue=zero, loudness=speaking, speaking=speaking, **curves)


def test_moments_are_those_that_were_asked_for():
    curves = said_one_by_one()
    moments = {moment.name: moment for moment in telling_moments(curves, FPS, FRAMES, seed=1)}

    for name, at_s in zip(NAMES, SAID_S.values(), strict=True):
        assert moments[name].frame / FPS == pytest.approx(at_s, abs=0.13)
    assert not 1.4 < moments["rest"].frame / FPS < 8.1
    plan = plan_motion(curves.at_frames(FPS, FRAMES), FPS, 1, MotionStyle(0.0, 1.0, 1.0, 1.0))
    shut = [name for name, one in moments.items() if plan.blink[one.frame] >= MAX_LIDS]
    assert shut == ["blink"]


def test_a_sound_that_does_not_occur_is_not_shown():
    names = [one.name for one in telling_moments(said_one_by_one("fv"), FPS, FRAMES, seed=1)]

    assert "lip at teeth" not in names
    assert "half open" in names


def test_a_shard_is_named_by_number_and_count():
    assert shard_of("2/4") == (1, 4)
    for wrong in ("0/4", "5/4", "2", "a/b"):
        with pytest.raises(argparse.ArgumentTypeError):
            shard_of(wrong)


def test_portraits_take_turns_and_every_video_counts_once():
    judged = {
        "by_flow": True, "open_range": 0.07, "corr_jaw": 0.9, "lag_ms": 0.0, "closure_hit": 1.0,
        "num_closures": 5, "sil_open": None, "jitter": 0.01, "blinks_per_min": 20.0,
    }  # fmt: skip
    rows = in_order(
        {"portrait": portrait, "kind": kind, "speech": speech, **judged, "failed_gates": failed}
        for portrait, kind in (("zoe", "drawing"), ("max", "drawing"), ("lowres_a", "photograph"))
        for speech, failed in (("en", []), ("fr", ["jitter"]), ("en", []))
    )

    assert [row["portrait"] for row in rows[::2]] == ["lowres_a", "max", "zoe"]
    assert turns(rows) == {
        "photographs": {},
        "directory": {"lowres_a": "en"},
        "paintings": {},
        "drawings": {"max": "fr", "zoe": "en"},
    }
    assert "3 of 6 videos pass every gate." in as_table(rows)
    assert "| lowres_a | photograph | fr | flow | 0.070 | 0.90 | 0 | 1.00 of 5 | - |" in as_table(
        rows
    )
