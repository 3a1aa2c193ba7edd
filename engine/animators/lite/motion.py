"""The plan of a clip: mouth curves and loudness become shape weights, head, brows and blinks.

Made once for all frames from one seed; afterwards every frame reads only its own row.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter1d

from engine.animators.lite.head import HEAD_MOVES
from engine.animators.lite.shapes import AT, NUM_SHAPES
from engine.lipsync.curves import MouthCurves

BLINK_CLOSE_S, BLINK_HOLD_S, BLINK_OPEN_S = 0.045, 0.04, 0.085
CLOSING_FRAMES = 2
"""Lids shut in so many frames at least: in one, the eye would jump from open to shut."""
BLINK_SHAPE, BLINK_SCALE_S = 4.0, 0.95
BLINK_MIN_S, BLINK_MAX_S = 1.3, 7.0
PAUSE_PULL_S = 0.7
OPENING_PER_S, CLOSING_PER_S = 13.2, 15.0
"""Fastest change of the opening; 1 is about 12.8 mm, and lower lips reach about 0.2 m/s."""
WIDEST, JAW_POWER = 1.33, 1.1
"""Weight of the widest opening, and by how much small ones come out smaller: landmarks read drawn
mouths too wide at small openings against large ones; on some faces not, so that 1.2 fits fewer of
them (docs/quality)."""
HISS_FROM, HISS_AT = 0.45, 0.85
"""From that much of teeth on a sound is a hiss (s, z, sh), and a clear one: vowels as that of "see"
show teeth too, but through the jaw's opening."""
UPPER_LIFT, LOWER_LIFT = 0.24, 0.27
"""How far the lips part for a clear hiss beyond the jaw's opening: 1.5 mm. Twice as much was read
as the opening of a vowel."""
HISS_SHUTS = 0.6
"""Teeth come together for a hiss: it takes this share of the jaw's opening away, much of which is
that of the vowels around it."""
SILENT_BELOW = 0.4
REST_SHAPE, REST_SCALE_S, REST_MIN_S, REST_MAX_S = 2.5, 0.6, 0.35, 4.0
"""How long the eyes rest between two small jumps."""
GLANCE_MM = np.array([0.26, 0.13])
MM_PER_DEGREE = np.array([0.2, 0.14])
"""An eyeball of 12 mm radius moves its iris .21 mm a degree; lids hide part of up and down."""
MAX_GAZE_MM = np.array([1.3, 0.8])
BREATH_S, BREATH_MM = 4.1, 0.6
SILENT_SHARE = 0.45
"""Head motion while silent, against 1 while speaking."""


@dataclass(frozen=True)
class MotionPlan:
    """Everything that moves, per frame.

    Attributes:
        shapes: T x S, float32: weights in the order of `SHAPES`.
        head: T x 6, float32, in the order of `HEAD_MOVES`.
        gaze: T x 2, float32, mm: how far the irises moved to the right and down.
        blink: T, float32: 0 open .. 1 shut.
        jaw_drop: T, float32: opening of the jaw, 0 .. about 1.3.
        teeth: T, float32: teeth together and shown, 0 .. 1.
        tongue: T, float32: tip of the tongue raised, 0 .. 1.
    """

    shapes: NDArray[np.float32]
    head: NDArray[np.float32]
    gaze: NDArray[np.float32]
    blink: NDArray[np.float32]
    jaw_drop: NDArray[np.float32]
    teeth: NDArray[np.float32]
    tongue: NDArray[np.float32]


@dataclass(frozen=True)
class MotionStyle:
    """What the portrait and the caller ask of the plan.

    Attributes:
        photo_smile: how much the photographed mouth smiles, 0 .. 1.
        brow_share: how much the brows may move, 0 .. 1.
        dynamic_scale: strength of the mouth, 1 = natural.
        motion_scale: strength of head and brows, 1 = natural.
    """

    photo_smile: float
    brow_share: float
    dynamic_scale: float
    motion_scale: float


def plan_motion(curves: MouthCurves, fps: float, seed: int, style: MotionStyle) -> MotionPlan:
    """Plan a clip.

    Args:
        curves: sampled at the frames.
        fps: frames a second.
        seed: repeats idle motion and blinks exactly.
        style: of the portrait and the caller.
    """
    rng = np.random.default_rng(seed)
    emphasis = _emphasis(curves.loudness, fps)
    activity = gaussian_filter1d(curves.speaking.astype(np.float64), 0.4 * fps, mode="nearest")
    head = _head(rng, activity, emphasis, fps) * style.motion_scale
    shapes, jaw_drop, teeth = _mouth(curves, rng, fps, style)
    brow = np.clip((emphasis - 0.25) * 1.1, 0, 1) + 0.06 * _noise(rng, len(emphasis), 0.3, fps)
    shapes[:, AT["brow"]] = brow * style.brow_share * style.motion_scale
    return MotionPlan(
        shapes=shapes.astype(np.float32),
        head=head.astype(np.float32),
        gaze=_gaze(np.random.default_rng([seed, 1]), head, fps).astype(np.float32),
        blink=_blinks(rng, curves.speaking, fps).astype(np.float32),
        jaw_drop=jaw_drop.astype(np.float32),
        teeth=teeth.astype(np.float32),
        tongue=np.clip(curves.tongue, 0, 1).astype(np.float32),
    )


def at_rest(plan: MotionPlan, num_frames: int) -> MotionPlan:
    """The same plan, but the head and brows are as in the photo at the first and last frame.

    Args:
        plan: of a whole clip.
        num_frames: how many frames they take to get away from there, and back.
    """
    away = np.arange(len(plan.head)) / max(num_frames, 1)
    share = _ease(np.clip(np.minimum(away, away[::-1]), 0, 1)).astype(np.float32)
    shapes = plan.shapes.copy()
    shapes[:, AT["brow"]] *= share
    return replace(plan, shapes=shapes, head=plan.head * share[:, None])


def _mouth(
    curves: MouthCurves, rng: np.random.Generator, fps: float, style: MotionStyle
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Shape weights (T x S), jaw drop (T) and shown teeth (T)."""
    strength = style.dynamic_scale
    close = np.clip(curves.close, 0, 1).astype(np.float64)
    fv = np.clip(curves.fv, 0, 1).astype(np.float64)
    teeth = np.clip(curves.teeth, 0, 1).astype(np.float64)
    sideways = strength if strength < 1 else strength**0.4  # lips narrow less than jaws drop
    pucker = _soft_limit(np.maximum(curves.pucker, 0) * sideways)
    wide = np.sign(curves.wide) * _soft_limit(np.abs(curves.wide) * sideways)
    wide = np.where(wide < 0, wide * (1 - 0.4 * np.minimum(pucker, 1)), wide)
    shown = teeth * (1 - close)
    hiss = np.clip((shown - HISS_FROM) / (HISS_AT - HISS_FROM), 0, 1)
    opened = _soft_limit(np.maximum(curves.jaw, 0) ** JAW_POWER * strength)
    opened *= (1 - close) * (1 - 0.8 * fv) * (1 - HISS_SHUTS * hiss)
    opened = _no_faster_than_lips(opened, fps)
    speaking = np.clip(curves.speaking, 0, 1)

    idle_smile = 0.10 + 0.08 * _noise(rng, len(opened), 0.12, fps)
    unsmile = 0.8 * style.photo_smile * (0.25 * speaking + 0.7 * pucker)
    # A smile keeps the upper lip off the teeth whenever the mouth is open at all.
    smiling_lip = 0.4 * style.photo_smile * np.clip(2.2 * opened, 0, 1) * (1 - 0.8 * pucker)
    lift = hiss * min(strength, 1.3)
    weights = {
        "closed": np.ones_like(opened),
        "jaw": WIDEST * opened,
        "pucker": 0.85 * pucker,
        "wide": 0.75 * wide,
        "press": 0.9 * close,
        "ff": 0.9 * fv,
        "upper_up": 0.25 * opened + UPPER_LIFT * lift + smiling_lip,
        "lower_down": 0.15 * opened + LOWER_LIFT * lift,
        "smile": idle_smile * (1 - style.photo_smile) - unsmile,
    }
    shapes = np.zeros((len(opened), NUM_SHAPES))
    for name, values in weights.items():
        shapes[:, AT[name]] = values
    return shapes, WIDEST * opened, shown


def _soft_limit(values: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    """Leaves 0..1 alone and lets more than 1 grow ever slower, to 1.45 at most."""
    over = np.maximum(values.astype(np.float64) - 1, 0)
    return np.asarray(np.minimum(values, 1) + 0.45 * (1 - np.exp(-over / 0.45)), np.float64)


def _no_faster_than_lips(opened: NDArray[np.float64], fps: float) -> NDArray[np.float64]:
    """Lowers openings (T) that would be reached or left faster than flesh moves.

    Nothing is ever raised, so closures stay exact.
    """
    rising, falling = OPENING_PER_S / fps, CLOSING_PER_S / fps
    values = opened.tolist()
    for index in range(1, len(values)):
        values[index] = min(values[index], values[index - 1] + rising)
    for index in range(len(values) - 2, -1, -1):
        values[index] = min(values[index], values[index + 1] + falling)
    return np.array(values)


def _emphasis(loudness: NDArray[np.float32], fps: float) -> NDArray[np.float64]:
    """Where the voice stands out against its last second: 0 .. 1."""
    values = loudness.astype(np.float64)
    quick = gaussian_filter1d(values, 0.09 * fps, mode="nearest")
    slow = gaussian_filter1d(values, 0.6 * fps, mode="nearest")
    return np.asarray(np.clip((quick - slow) * 3, 0, 1))


def _head(
    rng: np.random.Generator,
    activity: NDArray[np.float64],
    emphasis: NDArray[np.float64],
    fps: float,
) -> NDArray[np.float64]:
    """Head parameters (T x 6) in the order of `HEAD_MOVES`."""
    count = len(activity)
    lively = SILENT_SHARE + (1 - SILENT_SHARE) * np.clip(activity, 0, 1)
    nod = gaussian_filter1d(emphasis, 0.06 * fps, mode="nearest")
    moves = {
        "yaw": 2.4 * _noise(rng, count, 0.22, fps) + 0.7 * _noise(rng, count, 0.6, fps),
        "pitch": 1.2 * _noise(rng, count, 0.25, fps) + 1.7 * nod,
        "roll": 1.2 * _noise(rng, count, 0.2, fps) + 0.35 * _noise(rng, count, 0.6, fps),
        "shift_x": 1.0 * _noise(rng, count, 0.2, fps),
        "shift_y": 0.5 * _noise(rng, count, 0.3, fps),
    }
    head = np.zeros((count, len(HEAD_MOVES)))
    for name, values in moves.items():
        head[:, HEAD_MOVES.index(name)] = values * lively
    phase = rng.uniform(0, 2 * np.pi)
    breath = np.sin(2 * np.pi * np.arange(count) / fps / BREATH_S + phase)
    head[:, HEAD_MOVES.index("breath")] = BREATH_MM * breath
    return head


def _gaze(rng: np.random.Generator, head: NDArray[np.float64], fps: float) -> NDArray[np.float64]:
    """Where the eyes look (T x 2, mm of the iris): at the viewer, with the small jumps of life.

    The eyes stay on the viewer while the head turns, as the vestibular reflex keeps them; between
    jumps (one or two frames long) they rest.
    """
    count = len(head)
    gaze = np.zeros((count, 2))
    index = 0
    while index < count:
        rest_s = float(np.clip(rng.gamma(REST_SHAPE, REST_SCALE_S), REST_MIN_S, REST_MAX_S))
        until = min(count, index + max(1, round(rest_s * fps)))
        gaze[index:until] = rng.normal(0.0, GLANCE_MM)
        index = until
    turned = np.stack(
        [head[:, HEAD_MOVES.index("yaw")], head[:, HEAD_MOVES.index("pitch")]], axis=1
    )
    return np.clip(gaze - MM_PER_DEGREE * turned, -MAX_GAZE_MM, MAX_GAZE_MM)


def _noise(
    rng: np.random.Generator, count: int, frequency_hz: float, fps: float
) -> NDArray[np.float64]:
    """Smooth noise of about unit amplitude that wanders at `frequency_hz`: T.

    A sum of three sines with random phases and near frequencies: it looks irregular, has no
    start-up and does not depend on the length of the clip.
    """
    seconds = np.arange(count) / fps
    frequencies = frequency_hz * np.array([0.63, 1.0, 1.41]) * rng.uniform(0.9, 1.1, 3)
    phases = rng.uniform(0, 2 * np.pi, 3)
    amplitudes = np.array([0.45, 0.45, 0.3])
    waves = np.sin(2 * np.pi * seconds[:, None] * frequencies + phases)
    return np.asarray(waves @ amplitudes)


def _blinks(
    rng: np.random.Generator, speaking: NDArray[np.float32], fps: float
) -> NDArray[np.float64]:
    """Lid closure (T): irregular blinks, drawn to pauses of the speech."""
    count = len(speaking)
    blink = np.zeros(count)
    close_s = max(BLINK_CLOSE_S, CLOSING_FRAMES / fps)
    blink_s = close_s + BLINK_HOLD_S + BLINK_OPEN_S
    silent_s = np.flatnonzero(speaking < SILENT_BELOW) / fps
    at_s = float(rng.uniform(0.6, 2.5))
    while at_s * fps < count:
        start_s = _drawn_to_pause(at_s, silent_s)
        first = int(start_s * fps)
        last = min(count, int((start_s + blink_s) * fps) + 2)
        since_s = np.arange(first, last) / fps - start_s
        closing = np.clip(since_s / close_s, 0, 1)
        opening = np.clip((since_s - close_s - BLINK_HOLD_S) / BLINK_OPEN_S, 0, 1)
        lids = _ease(closing) * (1 - _ease(opening))
        blink[first:last] = np.maximum(blink[first:last], lids)
        gap_s = np.clip(rng.gamma(BLINK_SHAPE, BLINK_SCALE_S), BLINK_MIN_S, BLINK_MAX_S)
        at_s = start_s + float(gap_s)
    return blink


def _drawn_to_pause(at_s: float, silent_s: NDArray[np.float64]) -> float:
    """The silent moment nearest to `at_s`, if there is one close enough."""
    index = int(np.searchsorted(silent_s, at_s))
    near = silent_s[max(0, index - 1) : index + 1]
    if len(near) == 0:
        return at_s
    nearest = float(near[np.abs(near - at_s).argmin()])
    return nearest if abs(nearest - at_s) < PAUSE_PULL_S else at_s


def _ease(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Smooth step of values 0..1."""
    return values * values * (3 - 2 * values)
