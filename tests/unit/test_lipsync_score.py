"""The lip-sync check notices what people notice: late, still, careless and trembling pictures."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import cv2
import numpy as np
import pytest
import soundfile as sf
from numpy.typing import NDArray

from engine.face.detector import FaceFinder
from engine.face.geometry import Face
from engine.face.topology import INNER_LIPS, LEFT_MOUTH_CORNER, RIGHT_MOUTH_CORNER
from engine.lipsync.curves import VISEMES, MouthCurves
from engine.lipsync.face_motion import FaceMotion, Sampling, measure_motion
from engine.lipsync.jaw_flow import opening_of
from engine.lipsync.score import SyncReport, gates, report_on, score_video
from engine.lipsync.sync_metrics import asked_closures_s, asked_opening, range_of
from engine.media.video import VideoWriter
from engine.media.video_stretches import Stretch

PORTRAIT = Path(__file__).parents[1] / "data" / "portraits" / "astronaut_collins.jpg"
FPS = Fraction(25)
CLIP_S = 12.0
SILENCE_S = (5.0, 6.2)


def speech_like(duration_s: float = CLIP_S, seed: int = 1) -> MouthCurves:
    """Syllables four times a second, every third one starting with shut lips, one pause."""
    rng = np.random.default_rng(seed)
    count = int(duration_s * 50) + 1
    time_s = np.arange(count) / 50
    jaw, close, speaking = np.zeros((3, count))
    for number, beat_s in enumerate(np.arange(0.4, duration_s - 0.5, 0.25)):
        if SILENCE_S[0] - 0.3 < beat_s < SILENCE_S[1]:
            continue
        start_s = beat_s + rng.uniform(-0.04, 0.04)
        jaw += rng.uniform(0.35, 1.0) * np.exp(-(((time_s - start_s - 0.12) / 0.06) ** 2))
        speaking[(time_s > start_s - 0.02) & (time_s < start_s + 0.24)] = 1.0
        if number % 3 == 0:
            close = np.maximum(close, np.exp(-(((time_s - start_s) / 0.045) ** 4)))
    return curves_of(np.clip(jaw, 0, 1), close, speaking)


def curves_of(
    jaw: NDArray[np.float64], close: NDArray[np.float64], speaking: NDArray[np.float64]
) -> MouthCurves:
    zero = np.zeros(len(jaw), np.float32)
    posteriors = np.zeros((len(jaw), len(VISEMES)), np.float32)
    posteriors[:, 0] = 1.0
    return MouthCurves(
        posteriors=posteriors, jaw=jaw.astype(np.float32), wide=zero, pucker=zero,
        close=close.astype(np.float32), fv=zero, teeth=zero, tongue=zero,
        loudness=speaking.astype(np.float32), speaking=speaking.astype(np.float32),
    )  # fmt: skip


def motion_showing(
    opening: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    *,
    noise: float = 0.003,
    shake: float = 0.0,
    blinks_at_s: tuple[float, ...] = (1.5, 4.0, 8.0),
) -> FaceMotion:
    """What would be measured on a clip whose lip gap is `opening(time)`, 0..1."""
    rng = np.random.default_rng(2)
    times_s = np.arange(int(CLIP_S * FPS)) / float(FPS)
    lids = np.full(len(times_s), 0.3, np.float32)
    for blink_s in blinks_at_s:
        lids[(times_s >= blink_s) & (times_s < blink_s + 0.12)] = 0.05
    head = rng.random((1, 17, 2)) + rng.normal(0, 0.001 + shake, (len(times_s), 1, 2))
    gap = 0.1 * opening(times_s) + rng.normal(0, noise, len(times_s))
    return FaceMotion(
        times_s=times_s,
        opening=np.abs(gap).astype(np.float32),
        lids=lids,
        head=head.astype(np.float32),
        drop=(0.1 * opening(times_s)).astype(np.float32),
        stretch=np.ones(len(times_s), np.int64),
        interval_s=0.04,
        presence=1.0,
        grain=1.5,
    )


def at(curves: MouthCurves, delay_s: float = 0.0) -> Callable[..., NDArray[np.float64]]:
    """What the curves ask for, shown `delay_s` late."""
    asked = asked_opening(curves)
    return lambda times_s: np.interp((times_s - delay_s) * 50, np.arange(len(asked)), asked)


@pytest.fixture(scope="module")
def curves() -> MouthCurves:
    return speech_like()


def test_faithful_mouth_passes_every_gate(curves: MouthCurves):
    report = report_on(motion_showing(at(curves)), curves, list(asked_closures_s(curves)))

    assert gates(report) == []
    assert report.corr_jaw > 0.95
    assert report.offset_ms == pytest.approx(0, abs=10)
    assert report.closure_hit == 1.0
    assert report.closure_f1 == 1.0
    assert report.mouth_audio_correlation == report.corr_jaw


@pytest.mark.parametrize("delay_s", [0.2, -0.12, 0.07])
def test_shifted_picture_is_noticed_and_measured(curves: MouthCurves, delay_s: float):
    report = report_on(motion_showing(at(curves, delay_s)), curves)

    assert report.lag_ms == pytest.approx(1000 * delay_s, abs=15)
    assert "lag_ms" in gates(report)


@pytest.mark.parametrize("delay_s", [0.02, -0.03])
def test_unnoticeable_shift_passes(curves: MouthCurves, delay_s: float):
    assert "lag_ms" not in gates(report_on(motion_showing(at(curves, delay_s)), curves))


def test_still_mouth_is_noticed(curves: MouthCurves):
    report = report_on(motion_showing(np.zeros_like), curves)

    assert {"open_range", "corr_jaw", "closure_hit"} <= set(gates(report))
    assert report.lag_ms is None


def test_random_flapping_is_noticed(curves: MouthCurves):
    rng = np.random.default_rng(9)
    knots = rng.random(200)

    report = report_on(
        motion_showing(lambda times_s: np.interp(times_s / 0.13, np.arange(200), knots)), curves
    )

    assert "corr_jaw" in gates(report)
    assert report.offset_ms is None  # no shift makes it fit


def test_mouth_that_never_shuts_is_noticed(curves: MouthCurves):
    lazy = replace(curves, close=np.zeros_like(curves.close))
    syllables = at(lazy)

    report = report_on(
        motion_showing(lambda times_s: 0.4 + 0.6 * syllables(times_s)), curves,
        list(asked_closures_s(curves)),
    )  # fmt: skip

    assert report.closure_hit < 0.8
    assert "closure_hit" in gates(report)


def test_lips_shut_where_they_should_be_open_lower_the_f1(curves: MouthCurves):
    asked = at(curves)
    known = list(asked_closures_s(curves))

    def hasty(times_s: NDArray[np.float64]) -> NDArray[np.float64]:
        return asked(times_s) * (np.sin(2 * np.pi * times_s * 5) < 0.6)

    careful = report_on(motion_showing(asked), curves, known)
    careless = report_on(motion_showing(hasty), curves, known)

    assert careful.closure_f1 == 1.0
    assert careless.closure_f1 < 0.9


def test_open_mouth_in_silence_is_noticed(curves: MouthCurves):
    asked = at(curves)

    def gaping(times_s: NDArray[np.float64]) -> NDArray[np.float64]:
        is_pause = (times_s > SILENCE_S[0]) & (times_s < SILENCE_S[1])
        return np.where(is_pause, 0.5, asked(times_s))

    assert report_on(motion_showing(asked), curves).sil_open < 0.1
    assert "sil_open" in gates(report_on(motion_showing(gaping), curves))


def test_trembling_head_is_noticed(curves: MouthCurves):
    steady = report_on(motion_showing(at(curves)), curves)
    shaken = report_on(motion_showing(at(curves), shake=0.01), curves)

    assert "jitter" not in gates(steady)
    assert "jitter" in gates(shaken)


def test_landmarks_that_jump_with_the_lids_are_no_trembling_head(curves: MouthCurves):
    steady = motion_showing(at(curves))
    jumping = np.where((steady.lids < 0.1)[:, None, None], steady.head + 0.1, steady.head)

    assert report_on(replace(steady, head=jumping), curves).jitter < 0.01
    assert (
        report_on(replace(steady, head=jumping, lids=0 * steady.lids + 0.3), curves).jitter > 0.02
    )


def test_staring_and_fluttering_eyes_are_noticed(curves: MouthCurves):
    staring = report_on(motion_showing(at(curves), blinks_at_s=()), curves)
    fluttering = report_on(
        motion_showing(at(curves), blinks_at_s=tuple(np.arange(0.5, 11, 0.5))), curves
    )

    assert gates(staring) == gates(fluttering) == ["blinks_per_min"]
    assert report_on(motion_showing(at(curves)), curves).blinks_per_min == 15.0


def test_lost_face_is_noticed(curves: MouthCurves):
    motion = motion_showing(at(curves))
    opening = motion.opening.copy()
    opening[100:110] = np.nan

    report = report_on(replace(motion, opening=opening), curves)

    assert report.face_found_share == pytest.approx(290 / 300, abs=1e-4)
    assert gates(report) == ["face_found_share"]


def test_silent_sound_is_not_judged_by_the_mouth():
    count = int(CLIP_S * 50) + 1
    silence = curves_of(*np.zeros((3, count)))

    report = report_on(motion_showing(np.zeros_like), silence)

    assert report.corr_jaw is None
    assert report.lag_ms is None
    assert gates(report) == []


def test_landmarks_that_do_not_follow_give_way_to_the_flow(curves: MouthCurves):
    asked = at(curves)
    rng = np.random.default_rng(4)
    good = motion_showing(asked)
    count = len(good.times_s)
    narrow = replace(good, opening=rng.normal(0.02, 0.006, count).astype(np.float32))
    trembling = replace(good, opening=good.opening + rng.normal(0, 0.05, count).astype(np.float32))
    drifting = replace(good, opening=np.linspace(0.01, 0.03, count, dtype=np.float32))

    assert not report_on(good, curves).by_flow
    for misread in (narrow, trembling, drifting):
        report = report_on(misread, curves)
        assert report.by_flow
        assert gates(report) == []
        assert report.open_range == pytest.approx(range_of(good.opening)[1], rel=0.1)


def test_the_flow_is_not_asked_while_lids_are_low(curves: MouthCurves):
    """Large drawn eyes that shut make it see a jaw that drops."""
    good = motion_showing(at(curves), blinks_at_s=(1.5, 4.0, 5.4, 8.0))
    drop = np.where(good.lids < 0.1, np.float32(0.15), good.drop)
    misread = replace(good, opening=np.full_like(good.opening, 0.02), drop=drop)

    report = report_on(misread, curves)

    assert report.by_flow
    assert report.face_found_share == 1.0
    assert report.corr_jaw > 0.99
    assert gates(report) == []


def test_a_trembling_flow_does_not_overrule_landmarks(curves: MouthCurves):
    rng = np.random.default_rng(4)
    good = motion_showing(at(curves))
    noise = rng.normal(0, 0.1, len(good.times_s)).astype(np.float32)

    report = report_on(replace(good, drop=good.drop + noise), curves)

    assert not report.by_flow
    assert gates(report) == []


def test_a_mouth_that_is_merely_loud_fails_by_flow_too(curves: MouthCurves):
    """What follows the sound by .78 passes for real lips, not for a picture without noise."""
    report = report_on(motion_showing(at(curves)), curves)
    close = report.model_copy(update={"corr_jaw": 0.78})

    assert gates(close) == []
    assert gates(close.model_copy(update={"by_flow": True})) == ["corr_jaw"]


def test_a_first_frame_with_an_open_mouth_is_not_taken_for_shut():
    drop = np.array([0.0, -0.06, -0.06, -0.05, 0.01, -0.02, -0.06, -0.061], np.float32)

    opening = opening_of(drop)

    assert opening.min() == 0
    assert opening[0] == pytest.approx(0.06, abs=0.002)
    assert opening_of(np.maximum(drop, 0)) == pytest.approx(np.maximum(drop, 0))


# One real clip: the photograph with a mouth that is bent open and shut.

REAL_S = 4.0
SMILE_GAP = 0.05


def bent_open(photo: NDArray[np.uint8], face: Face, amount: float) -> NDArray[np.uint8]:
    """Push everything below the upper lip down and fill the gap with darkness."""
    left, right = face.landmarks[[LEFT_MOUTH_CORNER, RIGHT_MOUTH_CORNER], :2]
    lips = face.landmarks[list(INNER_LIPS), :2]
    x, y = (left + right) / 2
    width = float(np.linalg.norm(right - left))
    drop = amount * 0.45 * width
    rows, columns = np.mgrid[: photo.shape[0], : photo.shape[1]].astype(np.float32)
    across = np.exp(-(((columns - x) / (0.75 * width)) ** 4))
    below = np.clip((rows - y) / (0.05 * width), 0, 1) * np.exp(
        -((np.maximum(rows - y, 0) / (2.2 * width)) ** 4)
    )
    shifted = cv2.remap(
        photo, columns, (rows - drop * across * below).astype(np.float32), cv2.INTER_LINEAR
    )
    gap = lips + np.where(lips[:, 1:] > y, [[0, drop]], [[0, 0]]) * 0.85
    cv2.fillPoly(shifted, [np.round(gap * 16).astype(np.int32)], (45, 20, 22), cv2.LINE_AA, 4)
    return shifted


@pytest.fixture(scope="module")
def finder() -> FaceFinder:
    return FaceFinder()


@pytest.fixture(scope="module")
def real_curves() -> MouthCurves:
    return speech_like(REAL_S)


@pytest.fixture(scope="module")
def real_clip(
    finder: FaceFinder, real_curves: MouthCurves, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    photo = cv2.cvtColor(cv2.imread(str(PORTRAIT)), cv2.COLOR_BGR2RGB)[20:276, 98:354]
    photo = cv2.resize(photo, (320, 320), interpolation=cv2.INTER_CUBIC)
    (face,) = finder.find(photo)
    folder = tmp_path_factory.mktemp("clip")
    sf.write(folder / "speech.wav", np.zeros(int(REAL_S * 16000)), 16000, subtype="PCM_16")
    target = folder / "clip.mp4"
    times_s = np.arange(int(REAL_S * FPS)) / float(FPS)
    with VideoWriter(target, 320, 320, FPS, folder / "speech.wav") as writer:
        for amount in at(real_curves)(times_s):
            writer.write(bent_open(photo, face, float(amount)))
    return target


@pytest.fixture(scope="module")
def real_report(real_clip: Path, finder: FaceFinder, real_curves: MouthCurves) -> SyncReport:
    return score_video(real_clip, finder, curves=real_curves)


def test_real_clip_is_measured(real_report: SyncReport):
    assert real_report.measured_s == REAL_S
    assert real_report.face_found_share == 1.0
    assert real_report.corr_jaw > 0.85
    assert abs(real_report.offset_ms) <= 20
    assert real_report.jitter < 0.018
    assert real_report.is_sure


def test_real_clip_against_late_sound_shows_the_shift(
    real_clip: Path, finder: FaceFinder, real_curves: MouthCurves
):
    late = replace(
        real_curves,
        jaw=np.roll(real_curves.jaw, 10),
        close=np.roll(real_curves.close, 10),
    )

    report = score_video(real_clip, finder, curves=late)

    assert report.offset_ms == pytest.approx(-200, abs=20)
    assert {"corr_jaw", "lag_ms"} <= set(gates(report))


def test_face_is_followed_only_where_asked(real_clip: Path, finder: FaceFinder):
    sampling = Sampling(FPS, (Stretch(10, 8), Stretch(60, 8)), every=2)

    motion = measure_motion(real_clip, finder, sampling)

    assert motion.times_s.tolist() == pytest.approx([0.4, 0.48, 0.56, 0.64, 2.4, 2.48, 2.56, 2.64])
    assert motion.stretch.tolist() == [1, 1, 1, 1, 2, 2, 2, 2]
    assert motion.found.all()


def test_lids_that_landmarks_only_guess_are_not_judged(curves: MouthCurves):
    guessed = replace(motion_showing(at(curves), blinks_at_s=()), wander=0.06)

    report = report_on(guessed, curves)

    assert not report.is_sure
    assert "blinks_per_min" not in gates(report)


@pytest.mark.parametrize(("open_lids", "shut_lids", "seen"), [(0.17, 0.12, 15.0), (0.17, 0.15, 0)])
def test_narrow_eyes_blink_too(
    curves: MouthCurves, open_lids: float, shut_lids: float, seen: float
):
    """Shut lids never measure 0, so narrow eyes cannot lose two fifths of their height."""
    motion = motion_showing(at(curves))
    lids = np.where(motion.lids < 0.1, shut_lids, open_lids).astype(np.float32)

    assert report_on(replace(motion, lids=lids), curves).blinks_per_min == seen


def test_flow_follows_the_jaw_of_a_real_clip(
    real_clip: Path, finder: FaceFinder, real_curves: MouthCurves
):
    motion = measure_motion(real_clip, finder, Sampling(FPS, (Stretch(0, 50),)))

    asked = at(real_curves)(motion.times_s)
    assert np.isfinite(motion.drop).all()
    assert np.corrcoef(motion.drop, asked)[0, 1] > 0.9
    assert motion.lips_follow
