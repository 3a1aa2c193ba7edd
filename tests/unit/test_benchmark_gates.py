"""The benchmark of finished videos asks of each kind of picture what the design asks of it."""

import pytest

from benchmarks.quality import as_markdown, pairs_of
from benchmarks.sample_kinds import DRAWING, PAINTING, PHOTOGRAPH, failed_gates, kind_of
from engine.lipsync.score import SyncReport

GOOD = SyncReport(
    measured_s=11.0, face_found_share=1.0, open_range=0.1, by_flow=False, asks_for_motion=True,
    corr_jaw=0.95, lag_ms=0.0, peak_corr=0.95, closure_hit=1.0, num_closures=6, closure_f1=None,
    sil_open=0.02, jitter=0.006, blinks_per_min=15.0, is_sure=True,
).model_dump()  # fmt: skip


@pytest.mark.parametrize("kind", [PHOTOGRAPH, PAINTING, DRAWING])
def test_a_good_video_passes(kind):
    assert failed_gates(kind, GOOD, 0.2) == []


@pytest.mark.parametrize(
    ("change", "photograph", "painting"),
    [
        ({"blinks_per_min": 0.0}, ["blinks_per_min"], []),
        ({"sil_open": 0.3}, ["sil_open"], []),
        ({"blinks_per_min": 0.0, "is_sure": False}, ["blinks_per_min"], []),
        ({"corr_jaw": 0.87}, ["corr_intended"], []),
        ({"corr_jaw": 0.7}, ["corr_jaw", "corr_intended"], ["corr_jaw", "corr_intended"]),
        ({"open_range": 0.03}, ["open_range"], ["open_range"]),
        ({"closure_hit": 0.6}, ["closure_hit"], ["closure_hit"]),
        ({"lag_ms": 60.0}, ["lag_ms"], ["lag_ms"]),
        ({"jitter": 0.03}, ["jitter"], ["jitter"]),
        ({"jitter": 0.03, "is_sure": False}, ["jitter"], []),
        ({"jitter": 0.05, "is_sure": False}, ["jitter"], ["jitter"]),
    ],
)
def test_gates_by_kind(change, photograph, painting):
    sync = {**GOOD, **change}

    assert failed_gates(PHOTOGRAPH, sync, None) == photograph
    assert failed_gates(PAINTING, sync, None) == painting


def test_another_person_fails():
    assert failed_gates(DRAWING, GOOD, 0.6) == ["identity"]


def test_an_unknown_portrait_is_judged_as_a_photograph():
    assert kind_of("somebody_new") == PHOTOGRAPH


def test_the_table_counts_what_passed():
    passed = {**GOOD, "portrait": "b", "speech": "x", "kind": DRAWING, "failed_gates": []}
    refused = {"portrait": "a", "speech": "x", "kind": DRAWING, "refused": "face_not_found"}

    text = as_markdown([passed, refused])

    assert "1 of 2 videos pass every gate." in text
    assert text.index("| a |") < text.index("| b |")


def test_every_portrait_meets_every_recording_only_when_crossed():
    assert len(pairs_of(["a", "b"], ["x", "y"], cross=True)) == 4
    assert pairs_of(["a", "b", "c"], ["x", "y"], cross=False) == [
        ("a", "x"), ("b", "y"), ("c", "x"),
    ]  # fmt: skip
