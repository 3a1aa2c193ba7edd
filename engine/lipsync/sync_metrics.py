"""How well a measured mouth fits the sound: pure functions of `FaceMotion` and `MouthCurves`.

A positive lag means that the picture comes after the sound. Figures that cannot be told, such as
the mouth in silence where there is none, are None.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from engine.lipsync.curves import MouthCurves
from engine.lipsync.face_motion import FaceMotion
from engine.lipsync.jaw_flow import opening_of

MAX_LAG_S = 0.5
LAG_STEP_FRAMES = 0.25
# Below this range nothing moves (landmark noise is about .01), above it the sound asks for motion.
MIN_MOTION = 0.01
MIN_ASKED_MOTION = 0.2
# Lips count as shut below this share of the clip's own range, and below this gap (shut lips of
# photographs measure .004 to .016); a mouth that never shuts has no closures by its own range.
SHUT_SHARE = 0.3
MAX_SHUT_GAP = 0.035
MAX_CLOSED_GAP = 0.015
# The sound asks for shut lips where `close` peaks above this.
MIN_CLOSE = 0.5
# A closure shown within this many frames counts; so does a known one within this time.
CLOSURE_FRAMES = 1.0
# Silence starts and ends this far from speech, because lips open before and close after it.
SILENCE_MARGIN_S = 0.12
MAX_SPEAKING_IN_SILENCE = 0.1
# Shut lids of photographs measure .05 to .13. A blink takes the lids below this share of their
# usual height above that, and below the second share of all of it, for no longer than this.
SHUT_LIDS = 0.1
BLINK_SHARE, BLINK_SHARE_OF_ALL = 0.6, 0.85
MAX_BLINK_S = 0.6
# So many frames beside a blink are not used where a blink misleads.
NEAR_BLINK_FRAMES = 2
# Landmarks that show less than this share of a jaw that drops smoothly do not follow the lips.
# The flow of good clips trembles by .2 to .33, noise by .74.
MIN_RANGE_OF_DROP, MAX_TREMBLE = 0.5, 0.5


def asked_opening(curves: MouthCurves) -> NDArray[np.float32]:
    """How far the sound asks the mouth to open: T, 0..1."""
    opening = curves.jaw * (1.0 - curves.close) * (1.0 - 0.8 * curves.fv)
    return np.asarray(opening, dtype=np.float32)


def trusted_opening(motion: FaceMotion) -> tuple[FaceMotion, bool]:
    """The motion with the opening to judge by, and whether it comes from the flow of the pixels.

    Where landmarks and flow agree, landmarks are taken, which read the lips themselves. Where
    they do not, it is the one that trembles less, because mouths move smoothly, unless landmarks
    hardly move at all. Sound plays no part in that. The flow is not asked in blinks: large drawn
    eyes that shut take the pixels it holds the head by away.
    """
    if motion.lips_follow:
        return motion, False
    clear = motion.found & ~near_blinks(motion)
    seen = np.where(clear, motion.opening, np.float32(np.nan))
    drop = np.where(clear, motion.drop, np.float32(np.nan))
    seen_span, drop_span = (range_of(one[np.isfinite(one)])[1] for one in (seen, drop))
    hardly_move = seen_span < MIN_RANGE_OF_DROP * drop_span and _tremble(drop) < MAX_TREMBLE
    if _tremble(drop) >= _tremble(seen) and not hardly_move:
        return motion, False
    return replace(motion, opening=opening_of(drop.astype(np.float32))), True


def _tremble(values: NDArray[np.float32]) -> float:
    """RMS second difference as a share of the range."""
    bends = np.diff(values, 2)
    bends = bends[np.isfinite(bends)]
    span = range_of(values[np.isfinite(values)])[1]
    return float(np.sqrt((bends**2).mean())) / span if bends.size and span > 0 else np.inf


def is_shut(motion: FaceMotion) -> NDArray[np.bool_]:
    """T: whether the lips touch, as far as can be told."""
    low, span = range_of(motion.opening[motion.found])
    limit = min(low + SHUT_SHARE * span, MAX_SHUT_GAP)
    opening = np.nan_to_num(motion.opening, nan=np.inf)
    return np.asarray((opening < limit) & (span >= MIN_MOTION))


def range_of(values: NDArray[np.floating]) -> tuple[float, float]:
    """5th percentile and distance to the 95th; (0, 0) for nothing."""
    if values.size == 0:
        return 0.0, 0.0
    low, high = np.percentile(values, (5, 95))
    return float(low), float(high - low)


def correlation(motion: FaceMotion, curves: MouthCurves, lag_s: float = 0.0) -> float | None:
    """Pearson correlation of measured and asked opening.

    Args:
        motion: the measured face.
        curves: what the sound asks for.
        lag_s: by how much the picture is taken to be late.

    Returns:
        -1..1; 0 for a mouth that does not move; None when the sound asks for no motion.
    """
    asked_at = motion.times_s - lag_s
    last_s = (len(curves) - 1) / curves.rate_hz
    used = motion.found & (asked_at >= 0) & (asked_at <= last_s)
    if used.sum() < 3:
        return None
    asked = _sample(asked_opening(curves), curves.rate_hz, asked_at[used])
    if range_of(asked)[1] < MIN_ASKED_MOTION:
        return None
    measured = motion.opening[used]
    if range_of(measured)[1] < MIN_MOTION:
        return 0.0
    return float(np.corrcoef(measured, asked)[0, 1])


def best_lag(motion: FaceMotion, curves: MouthCurves) -> tuple[float, float] | None:
    """The lag at which mouth and sound fit best, in seconds, and the correlation there.

    Searched within half a second in steps of a quarter of a frame; None for a mouth that does
    not move or a sound that does not ask for it.
    """
    if range_of(motion.opening[motion.found])[1] < MIN_MOTION:
        return None
    step = LAG_STEP_FRAMES * motion.interval_s
    reach = int(MAX_LAG_S / step)
    lags = np.arange(-reach, reach + 1) * step
    scores = [correlation(motion, curves, float(lag)) for lag in lags]
    known = [(score, float(lag)) for score, lag in zip(scores, lags, strict=True) if score]
    if not known:
        return None
    score, lag = max(known, key=lambda pair: (pair[0], -abs(pair[1])))
    return lag, score


def asked_closures_s(curves: MouthCurves) -> NDArray[np.float64]:
    """Times in the middle of each stretch in which the sound asks for shut lips (m, b, p)."""
    return np.array(
        [(start + end - 1) / 2 / curves.rate_hz for start, end in _runs(curves.close >= MIN_CLOSE)]
    )


def closure_hits(motion: FaceMotion, closures_s: Sequence[float]) -> tuple[int, int]:
    """How many closures were shown, and how many lay within what was measured."""
    shut = is_shut(motion)
    nears = [near for near in (_near(motion, time_s) for time_s in closures_s) if near.any()]
    return sum(bool(shut[near].any()) for near in nears), len(nears)


def closure_f1(
    motion: FaceMotion, curves: MouthCurves, bilabials_s: Sequence[float]
) -> float | None:
    """F1 of shut lips against the known times of m, b and p.

    A known time is found when the lips are shut within one frame of it. Shut lips are wrong where
    no known time is near and the sound asks for an open mouth all along.
    """
    hits, seen = closure_hits(motion, bilabials_s)
    if seen == 0:
        return None
    right, wrong = _shut_runs(motion, curves, bilabials_s)
    if hits == 0 or right == 0:
        return 0.0
    recall, precision = hits / seen, right / (right + wrong)
    return 2 * precision * recall / (precision + recall)


def _shut_runs(
    motion: FaceMotion, curves: MouthCurves, bilabials_s: Sequence[float]
) -> tuple[int, int]:
    """How often the lips shut at a known time, and how often where they should be open."""
    asked = asked_opening(curves)
    asked_low, asked_span = range_of(asked)
    reach_s = CLOSURE_FRAMES * motion.interval_s
    right = wrong = 0
    for start, end in _runs(is_shut(motion)):
        times_s = motion.times_s[start:end]
        around_s = np.concatenate([times_s - reach_s, times_s, times_s + reach_s])
        least = float(_sample(asked, curves.rate_hz, around_s).min())
        if any(times_s[0] - reach_s <= known <= times_s[-1] + reach_s for known in bilabials_s):
            right += 1
        elif least > asked_low + SHUT_SHARE * asked_span:
            wrong += 1
    return right, wrong


def opening_in_silence(motion: FaceMotion, curves: MouthCurves) -> float | None:
    """Mean opening where nobody speaks, as a share of the clip's range."""
    low, span = range_of(motion.opening[motion.found])
    margin = round(SILENCE_MARGIN_S * curves.rate_hz)
    speaking = np.convolve(
        curves.speaking > MAX_SPEAKING_IN_SILENCE, np.ones(2 * margin + 1), mode="same"
    )
    silent = motion.found & (_sample(speaking, curves.rate_hz, motion.times_s) <= 0)
    if not silent.any():
        return None
    above = np.maximum(motion.opening[silent] - min(low, MAX_CLOSED_GAP), 0)
    return float(above.mean() / max(span, MIN_MOTION))


def jitter(motion: FaceMotion) -> float | None:
    """RMS second difference of the head's rigid points, in outer-eye distances.

    Not while the lids are low: some landmarks of the head lie on the eyes, and large drawn eyes
    that shut move all of them.
    """
    middle, before, after = motion.head[1:-1], motion.head[:-2], motion.head[2:]
    together = (motion.stretch[:-2] == motion.stretch[2:]) & ~near_blinks(motion)[1:-1]
    bends = np.sqrt(((after - 2 * middle + before) ** 2).sum(axis=2)).mean(axis=1)[together]
    bends = bends[~np.isnan(bends)]
    return float(np.sqrt((bends**2).mean())) if bends.size else None


def blinks_per_min(motion: FaceMotion) -> float | None:
    """How often the lids close shortly; None for clips without a face."""
    if not motion.found.any():
        return None
    longest = MAX_BLINK_S / motion.interval_s
    blinks = sum(end - start <= longest for start, end in _runs(_lids_are_low(motion)))
    return 60.0 * blinks / (len(motion.times_s) * motion.interval_s)


def near_blinks(motion: FaceMotion) -> NDArray[np.bool_]:
    """T: whether the lids are low in this frame or within `NEAR_BLINK_FRAMES`."""
    low = _lids_are_low(motion)
    near = low.copy()
    for shift in range(1, NEAR_BLINK_FRAMES + 1):
        near[shift:] |= low[:-shift]
        near[:-shift] |= low[shift:]
    return near


def _lids_are_low(motion: FaceMotion) -> NDArray[np.bool_]:
    """T: whether the lids are nearer to shut than to their usual height."""
    lids = motion.lids[motion.found]
    usual = float(np.median(lids)) if lids.size else 0.0
    limit = SHUT_LIDS + BLINK_SHARE * (usual - SHUT_LIDS)
    limit = min(limit, BLINK_SHARE_OF_ALL * usual)
    is_low = motion.found & (np.nan_to_num(motion.lids, nan=usual) < limit)
    return np.asarray(is_low, np.bool_)


def _sample(
    values: NDArray[np.floating], rate_hz: int, times_s: NDArray[np.float64]
) -> NDArray[np.float32]:
    sampled = np.interp(times_s * rate_hz, np.arange(len(values)), values)
    return np.asarray(sampled, dtype=np.float32)


def _near(motion: FaceMotion, time_s: float) -> NDArray[np.bool_]:
    reach = (CLOSURE_FRAMES + 0.01) * motion.interval_s
    return np.asarray(motion.found & (np.abs(motion.times_s - time_s) <= reach))


def _runs(mask: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Start and end (exclusive) of every stretch of True."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]]).astype(np.int8)))
    return [(int(start), int(end)) for start, end in edges.reshape(-1, 2)]
