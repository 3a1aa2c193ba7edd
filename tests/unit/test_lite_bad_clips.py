"""A clip whose mouth is late, still, random or merely loud fails a gate; a faithful one passes.

What a mouth looks like at every opening is read from drawn frames: of a photograph, by landmarks;
of a painting, on which landmarks do not follow the lips, by the flow of the pixels too. The clips
are made of these readings, because drawing and watching ten whole videos takes two minutes.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest
from lite_scenes import curves_of, opening_of, scene_of
from numpy.typing import NDArray

from engine.animators.lite.animator import prepare
from engine.face.regions import cut_out
from engine.lipsync.curves import MouthCurves
from engine.lipsync.face_motion import FaceMotion
from engine.lipsync.from_audio import Listener
from engine.lipsync.jaw_flow import SIDE_PX, LowerFace
from engine.lipsync.score import gates, report_on
from engine.lipsync.sync_metrics import asked_opening

SPEECH = Path(__file__).parents[1] / "data" / "speech" / "en_librivox_austen_0870.wav"
FPS = 25
LEVELS = np.linspace(0, 1, 9)
LANDMARK_NOISE = {"astronaut": 0.003, "painter": 0.02}
"""On brush strokes landmarks tremble."""

Asked = NDArray[np.floating]


@pytest.fixture(scope="module")
def curves() -> MouthCurves:
    return Listener().listen_wav(SPEECH)


@pytest.fixture(scope="module", params=["astronaut", "painter"])
def shown(request, finder) -> Callable[[Asked], FaceMotion]:
    """The clip of a mouth that opens as asked, as landmarks and flow see it on drawn frames."""
    portrait = request.getfixturevalue(request.param)
    held = curves_of(jaw=np.repeat(LEVELS, 3))
    frames = prepare(scene_of(portrait, held, motion_scale=0.0))
    drawn = [frames.paint(3 * index + 1) for index in range(len(LEVELS))]
    gaps = [opening_of(finder, frame, portrait[1]) for frame in drawn]
    lower = LowerFace.of(portrait[1])
    cuts = [cv2.cvtColor(cut_out(frame, lower.square, SIDE_PX, repeat_border=True),
                         cv2.COLOR_RGB2GRAY) for frame in drawn]  # fmt: skip
    drops = [lower.drop(cuts[0], cut) for cut in cuts]
    return lambda asked: clip(
        np.interp(asked, LEVELS, gaps),
        np.interp(asked, LEVELS, drops),
        LANDMARK_NOISE[request.param],
    )


def clip(gap: Asked, drop: Asked, noise: float) -> FaceMotion:
    """A steady, blinking head whose lips are seen `gap` apart, frame by frame."""
    rng = np.random.default_rng(2)
    count = len(gap)
    lids = np.full(count, 0.3, np.float32)
    lids[20:23] = lids[100:103] = 0.05
    head = rng.random((1, 17, 2)) + rng.normal(0, 0.001, (count, 1, 2))
    return FaceMotion(
        times_s=np.arange(count) / FPS,
        opening=np.abs(gap + rng.normal(0, noise, count)).astype(np.float32),
        lids=lids,
        head=head.astype(np.float32),
        drop=drop.astype(np.float32),
        stretch=np.ones(count, np.int64),
        interval_s=1 / FPS,
        presence=1.0,
        grain=1.5,
    )


def at_frames(curves: MouthCurves, values: Asked, delay_s: float = 0.0) -> Asked:
    last_s = (len(curves) - 1) / curves.rate_hz
    times_s = np.arange(0, last_s, 1 / FPS) - delay_s
    return np.interp(times_s * curves.rate_hz, np.arange(len(values)), values)


def test_a_faithful_clip_passes(request, curves: MouthCurves, shown: Callable[[Asked], FaceMotion]):
    report = report_on(shown(at_frames(curves, asked_opening(curves))), curves)

    assert gates(report) == []
    assert report.corr_jaw > 0.9
    assert report.by_flow == ("painter" in request.node.name)


def late(curves: MouthCurves) -> Asked:
    return at_frames(curves, asked_opening(curves), delay_s=0.2)


def still(curves: MouthCurves) -> Asked:
    return np.zeros_like(late(curves))


def flapping(curves: MouthCurves) -> Asked:
    knots = np.random.default_rng(5).random(200)
    count = len(late(curves))
    return np.interp(np.arange(count) / FPS / 0.13, np.arange(200), knots)


def loud(curves: MouthCurves) -> Asked:
    return at_frames(curves, asked_opening(replace(
        curves, jaw=curves.loudness, close=0 * curves.close, fv=0 * curves.fv,
    )))  # fmt: skip


@pytest.mark.parametrize(
    ("bad", "caught_by"),
    [
        (late, {"lag_ms"}),
        (still, {"open_range"}),
        (flapping, {"corr_jaw"}),
        (loud, {"corr_jaw", "closure_hit"}),
    ],
)
def test_a_bad_clip_fails(
    curves: MouthCurves,
    shown: Callable[[Asked], FaceMotion],
    bad: Callable[[MouthCurves], Asked],
    caught_by: set[str],
):
    assert caught_by & set(gates(report_on(shown(bad(curves)), curves)))
