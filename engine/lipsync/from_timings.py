"""Mouth curves from known phoneme times: what the built-in voices give.

Owns the way from phonemes to steps and from steps to motion; never listens for phonemes itself.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from engine.lipsync.curves import CURVE_RATE_HZ, VISEMES, MouthCurves
from engine.lipsync.shaping import (
    Gesture,
    assemble,
    fit_length,
    gesture_curve,
    jaw_by_loudness,
    loudness_curve,
    num_samples,
    smooth_gaussian,
)
from engine.lipsync.visemes import SILENCE, MouthTarget, targets_of

if TYPE_CHECKING:  # the training machine has no pydantic, which the contracts need
    from engine.speech.voice import TimedPhoneme

__all__ = ["Targets", "curves_from_timings", "loudness_curve", "targets_from_timings"]

# Steps are laid out at twice the curve rate and smoothed there, so that a 10 ms edge survives.
FINE_RATE_HZ = 2 * CURVE_RATE_HZ

# A mouth reaches a neighbour's lip shape only in part while another sound is spoken.
NEIGHBOUR_SHARE = 0.8

# Standard deviations in seconds: heavy parts (jaw, rounding) move slower than the lips' edge.
JAW_SIGMA_S, LIPS_SIGMA_S, CLOSE_SIGMA_S, FV_SIGMA_S, POSTERIOR_SIGMA_S = (
    0.03,
    0.05,
    0.016,
    0.02,
    0.016,
)

# Gaps shorter than this between phonemes are joints, not pauses.
JOINT_S = 0.06


@dataclass(frozen=True)
class Targets:
    """Smoothed mouth parameters before closures become gestures; also what the net is taught.

    Attributes:
        viseme: T, int, column in `VISEMES`.
        jaw, wide, pucker, close, fv: T, float32, ranges of `MouthCurves`.
    """

    viseme: NDArray[np.int64]
    jaw: NDArray[np.float32]
    wide: NDArray[np.float32]
    pucker: NDArray[np.float32]
    close: NDArray[np.float32]
    fv: NDArray[np.float32]


@dataclass(frozen=True)
class _Part:
    """One mouth target on the clip's clock."""

    target: MouthTarget
    start_s: float
    end_s: float


def curves_from_timings(
    phonemes: "Sequence[TimedPhoneme]",
    duration_s: float,
    loudness: NDArray[np.float32] | None = None,
) -> MouthCurves:
    """Turn phoneme times into the common control signal.

    Args:
        phonemes: in order, times against the sound; silences may be left out or marked by a
            phoneme without any letter.
        duration_s: length of the clip in seconds.
        loudness: T, 0..1, as `loudness_curve` gives it; None = as if evenly loud.

    Returns:
        Curves at 50 Hz; shut and silent where no phoneme is.
    """
    parts = _parts_of(phonemes)
    count = num_samples(duration_s)
    fine = _targets(parts, count, FINE_RATE_HZ)
    posteriors = _posteriors(fine.viseme)[::2][:count]
    speaking = (1.0 - posteriors[:, 0]).astype(np.float32)
    heard = speaking if loudness is None else fit_length(loudness, count) * (speaking > 0.05)
    jaw = fine.jaw[::2][:count]
    if loudness is not None:
        jaw = jaw_by_loudness(jaw, heard)
    lips = [_gesture_of(part) for part in parts if part.target.close > 0]
    teeth_on_lip = [_gesture_of(part) for part in parts if part.target.fv > 0]
    return assemble(
        posteriors=posteriors,
        jaw=jaw,
        wide=fine.wide[::2][:count],
        pucker=fine.pucker[::2][:count],
        close=gesture_curve(lips, count),
        fv=gesture_curve(teeth_on_lip, count),
        loudness=heard,
        speaking=speaking,
    )


def targets_from_timings(
    phonemes: "Sequence[TimedPhoneme]", duration_s: float, rate_hz: int = CURVE_RATE_HZ
) -> Targets:
    """Smoothed targets of the table, the net's training truth.

    Args:
        phonemes: in order, times against the sound.
        duration_s: length of the clip in seconds.
        rate_hz: samples a second of the result, 50 or 100.
    """
    count = num_samples(duration_s)
    fine = _targets(_parts_of(phonemes), count, FINE_RATE_HZ)
    step = FINE_RATE_HZ // rate_hz
    return Targets(
        viseme=fine.viseme[::step],
        jaw=fine.jaw[::step],
        wide=fine.wide[::step],
        pucker=fine.pucker[::step],
        close=fine.close[::step],
        fv=fine.fv[::step],
    )


def _parts_of(phonemes: "Sequence[TimedPhoneme]") -> list[_Part]:
    """Split diphthongs, close joints between sounds, leave pauses out."""
    parts: list[_Part] = []
    for phoneme in phonemes:
        targets = targets_of(phoneme.ipa)
        if not targets or phoneme.end_s <= phoneme.start_s:
            continue
        edges = np.linspace(phoneme.start_s, phoneme.end_s, len(targets) + 1)
        if parts and 0 < phoneme.start_s - parts[-1].end_s < JOINT_S:
            parts[-1] = replace(parts[-1], end_s=phoneme.start_s)
        parts.extend(
            _Part(target, float(edges[k]), float(edges[k + 1])) for k, target in enumerate(targets)
        )
    return parts


def _gesture_of(part: _Part) -> Gesture:
    """The lip gesture of a sound: its middle two thirds are held."""
    height = max(part.target.close, part.target.fv)
    middle = 0.5 * (part.start_s + part.end_s)
    return Gesture(middle, (part.end_s - part.start_s) * 2.0 / 3.0, height)


def _targets(parts: Sequence[_Part], count: int, rate_hz: int) -> Targets:
    """Step functions at `rate_hz`, lips filled in from the neighbours, all smoothed."""
    length = count * rate_hz // CURVE_RATE_HZ
    owner = np.full(length, -1, np.int64)
    for k, part in enumerate(parts):
        first, last = round(part.start_s * rate_hz), round(part.end_s * rate_hz)
        owner[max(first, 0) : max(last, first + 1)] = k
    targets = [part.target for part in parts]
    wide = _filled([target.wide for target in targets], parts)
    pucker = _filled([target.pucker for target in targets], parts)

    def steps(values: Sequence[float]) -> NDArray[np.float32]:
        return np.asarray([*values, 0.0], np.float32)[owner]

    def moved(values: Sequence[float], sigma_s: float, gain: float = 1.0) -> NDArray[np.float32]:
        shape = smooth_gaussian(steps(values), sigma_s * rate_hz)
        return np.asarray(np.clip(gain * shape, -1.0, 1.0), np.float32)

    return Targets(
        viseme=np.append(np.array([t.index for t in targets], np.int64), SILENCE.index)[owner],
        jaw=moved([t.jaw for t in targets], JAW_SIGMA_S),
        wide=moved(wide, LIPS_SIGMA_S),
        pucker=moved(pucker, LIPS_SIGMA_S),
        close=moved([t.close for t in targets], CLOSE_SIGMA_S, gain=1.15),
        fv=moved([t.fv for t in targets], FV_SIGMA_S, gain=1.1),
    )


def _filled(values: Sequence[float | None], parts: Sequence[_Part]) -> list[float]:
    """Give sounds without a lip shape of their own the mean of their neighbours' in part."""
    filled: list[float] = []
    for k, value in enumerate(values):
        if value is not None:
            filled.append(value)
            continue
        before = _nearest(values, parts, range(k - 1, -1, -1), k)
        after = _nearest(values, parts, range(k + 1, len(values)), k)
        known = [v for v in (before, after) if v is not None]
        filled.append(NEIGHBOUR_SHARE * sum(known) / len(known) if known else 0.0)
    return filled


def _nearest(
    values: Sequence[float | None], parts: Sequence[_Part], order: range, origin: int
) -> float | None:
    """First known value in `order` that no pause separates from `origin`."""
    previous = origin
    for k in order:
        left, right = min(k, previous), max(k, previous)
        if parts[right].start_s - parts[left].end_s >= JOINT_S:
            return None
        if (value := values[k]) is not None:
            return value
        previous = k
    return None


def _posteriors(viseme: NDArray[np.int64]) -> NDArray[np.float32]:
    """One-hot rows at the fine rate, softened at the joints; rows sum to 1."""
    one_hot = np.eye(len(VISEMES), dtype=np.float32)[viseme]
    soft = smooth_gaussian(one_hot, POSTERIOR_SIGMA_S * FINE_RATE_HZ)
    return np.asarray(soft / soft.sum(axis=1, keepdims=True), np.float32)
