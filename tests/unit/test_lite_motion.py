"""The plan of a clip: what curves and loudness become."""

import time

import numpy as np
import pytest
from lite_scenes import curves_of, speech_like

from engine.animators.lite.head import HEAD_MOVES
from engine.animators.lite.motion import MotionStyle, at_rest, plan_motion
from engine.animators.lite.shapes import AT
from tests.patience import PATIENCE

CALM = MotionStyle(photo_smile=0.0, brow_share=1.0, dynamic_scale=1.0, motion_scale=1.0)


def shape_of(plan, name):
    return plan.shapes[:, AT[name]]


def test_closing_shuts_an_open_jaw():
    plan = plan_motion(curves_of(jaw=[1.0, 1.0, 1.0], close=[0.0, 0.0, 1.0]), 25, 1, CALM)

    assert shape_of(plan, "jaw")[0] > 1.0
    assert shape_of(plan, "jaw")[2] == 0.0
    assert shape_of(plan, "press")[2] > 0.5


def test_a_smiling_photo_smiles_less_while_it_rounds_its_lips():
    smiling = MotionStyle(photo_smile=1.0, brow_share=1.0, dynamic_scale=1.0, motion_scale=1.0)
    plan = plan_motion(curves_of(pucker=[0.0, 1.0]), 25, 1, smiling)

    smile = shape_of(plan, "smile")

    assert smile[1] < smile[0] < 0


@pytest.mark.parametrize("scale", [0.3, 1.0, 2.0])
def test_the_jaw_stays_within_what_a_jaw_can_do(scale):
    style = MotionStyle(photo_smile=0.0, brow_share=1.0, dynamic_scale=scale, motion_scale=1.0)

    plan = plan_motion(curves_of(jaw=np.linspace(0, 1, 50)), 25, 1, style)

    assert np.all(np.diff(plan.jaw_drop) >= -1e-6)
    assert plan.jaw_drop.max() <= 1.95


def test_small_openings_come_out_smaller_than_large_ones():
    drop = plan_motion(curves_of(jaw=[0.25] * 9 + [1.0] * 9), 25, 1, CALM).jaw_drop

    assert 0.15 * drop[-1] < drop[4] < 0.24 * drop[-1]


def test_a_hiss_parts_the_lips_over_a_jaw_that_shuts():
    hiss, smile, vowel = (
        plan_motion(curves_of(jaw=[jaw] * 9, teeth=[teeth] * 9), 25, 1, CALM)
        for jaw, teeth in ((0.25, 0.9), (0.25, 0.4), (0.7, 0.0))
    )

    def lifted(plan) -> float:
        return shape_of(plan, "upper_up")[4] + shape_of(plan, "lower_down")[4]

    assert 0.45 < lifted(hiss) < 0.65
    assert lifted(smile) < 0.15, "vowels show teeth through the jaw's opening alone"
    assert hiss.teeth[4] > 0.8
    assert hiss.jaw_drop[4] < 0.5 * smile.jaw_drop[4]
    assert hiss.jaw_drop[4] < 0.2 * vowel.jaw_drop[4]


def test_no_motion_scale_holds_head_and_brows_still():
    still = MotionStyle(photo_smile=0.0, brow_share=1.0, dynamic_scale=1.0, motion_scale=0.0)

    plan = plan_motion(speech_like(200), 25, 1, still)

    assert not plan.head.any()
    assert not shape_of(plan, "brow").any()
    assert plan.blink.max() > 0.9


def test_head_motion_is_small_and_grows_with_its_scale():
    strong = MotionStyle(photo_smile=0.0, brow_share=1.0, dynamic_scale=1.0, motion_scale=2.0)
    usual = plan_motion(speech_like(2000), 25, 4, CALM).head
    doubled = plan_motion(speech_like(2000), 25, 4, strong).head

    assert np.abs(usual[:, HEAD_MOVES.index("yaw")]).max() < 4.5
    assert np.allclose(doubled, 2 * usual, atol=1e-5)


def test_the_head_moves_less_in_silence():
    talking = speech_like(1500)
    silent = curves_of(jaw=np.zeros(1500), speaking=np.zeros(1500))

    loud, quiet = (plan_motion(curves, 25, 4, CALM).head for curves in (talking, silent))

    assert quiet[:, :3].std() < 0.7 * loud[:, :3].std()


@pytest.mark.parametrize("fps", [24, 25, 50, 60])
def test_blinks_come_at_a_human_rate_and_last_a_sixth_of_a_second(fps):
    plan = plan_motion(speech_like(60 * fps), fps, 2, CALM)

    starts = np.flatnonzero((plan.blink[1:] > 0.5) & (plan.blink[:-1] <= 0.5))
    share_shut = (plan.blink > 0.5).mean()

    assert 8 <= len(starts) <= 30
    assert share_shut / (len(starts) / 60) == pytest.approx(0.1, abs=0.03)


@pytest.mark.parametrize("fps", [24, 25, 30, 60])
def test_lids_take_two_frames_to_shut(fps):
    blink = plan_motion(speech_like(60 * fps), fps, 2, CALM).blink

    shut = np.flatnonzero((blink[2:] > 0.95) & (blink[1:-1] <= 0.95)) + 2

    assert len(shut) >= 8, "every blink shuts the eyes"
    assert (blink[shut - 2] < 0.95).all()
    assert (np.diff(blink) < 0.8).all(), "nor do they jump"


def test_blinks_are_drawn_to_pauses():
    speaking = np.ones(5000, np.float32)
    speaking[::50] = speaking[1::50] = 0
    plan = plan_motion(curves_of(jaw=np.zeros(5000), speaking=speaking), 25, 2, CALM)

    starts = np.flatnonzero((plan.blink[1:] > 0) & (plan.blink[:-1] == 0)) + 1
    since_pause = (starts - 1) % 50

    assert np.median(np.minimum(since_pause, 50 - since_pause)) <= 3


def test_a_seed_repeats_the_plan():
    first, again, other = (plan_motion(speech_like(100), 25, seed, CALM) for seed in (7, 7, 8))

    assert np.array_equal(first.head, again.head)
    assert np.array_equal(first.blink, again.blink)
    assert not np.array_equal(first.head, other.head)


def test_two_hours_are_planned_in_seconds():
    started = time.monotonic()

    plan = plan_motion(speech_like(2 * 3600 * 25), 25, 1, CALM)

    assert len(plan.blink) == 180_000
    assert time.monotonic() - started < 10 * PATIENCE


def test_the_mouth_opens_no_faster_than_lips_move():
    pop = np.zeros(20)
    pop[8:14] = 1.0

    slow, fast = (
        plan_motion(curves_of(jaw=np.repeat(pop, repeat)), 25 * repeat, 1, CALM).jaw_drop
        for repeat in (1, 4)
    )

    assert np.diff(slow).max() == pytest.approx(1.33 * 13.2 / 25, abs=1e-3)
    assert np.diff(fast).max() == pytest.approx(1.33 * 13.2 / 100, abs=1e-3)
    assert not slow[:8].any()
    assert slow[10:12].min() == pytest.approx(1.33)


def test_at_rest_the_head_leaves_its_pose_and_comes_back_to_it():
    moving = plan_motion(speech_like(100), 25, 1, CALM)

    plan = at_rest(moving, 15)

    assert np.abs(plan.head[[0, -1]]).max() == 0
    assert np.array_equal(plan.head[15:85], moving.head[15:85])
    steps = np.abs(np.diff(plan.head, axis=0)).max()
    assert steps < np.abs(moving.head).max() / 5, "it glides"
    assert shape_of(plan, "brow")[0] == 0
    assert np.array_equal(plan.jaw_drop, moving.jaw_drop)
