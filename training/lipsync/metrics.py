"""How good a mouth is: the figures of the model card, from posteriors and curves against truth."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.lipsync.curves import CURVE_RATE_HZ, VISEMES
from engine.lipsync.from_timings import Targets, targets_from_timings
from engine.lipsync.shaping import smooth_gaussian
from training.lipsync.corpus import Timed

PP = VISEMES.index("PP")
# Visemes that look alike.
COARSE = np.array([0, 1, 2, 3, 4, 4, 5, 6, 4, 4, 7, 7, 7, 8, 8])
# Centres further apart than this do not match.
TOLERANCE_S = 0.04


@dataclass(frozen=True)
class Heard:
    """What a method says about one clip, and the truth, at 50 Hz.

    Attributes:
        posteriors: T x 15.
        jaw: T.
        closure: T, any scale, higher where lips are shut.
        truth: smoothed targets of the table.
        lips_s: true centres of p, b and m in seconds.
    """

    posteriors: NDArray[np.float32]
    jaw: NDArray[np.float32]
    closure: NDArray[np.float32]
    truth: Targets
    lips_s: tuple[float, ...]


def truth_of(
    phonemes: Sequence[tuple[str, float, float]], duration_s: float
) -> tuple[Targets, tuple[float, ...]]:
    """Targets of a clip and the centres of its closed-lip sounds."""
    timed = [Timed(*phoneme) for phoneme in phonemes]
    lips = tuple(0.5 * (p.start_s + p.end_s) for p in timed if p.ipa and p.ipa[0] in "pbm")
    return targets_from_timings(timed, duration_s), lips  # type: ignore[arg-type]


def scores(clips: Sequence[Heard]) -> dict[str, float]:
    """All figures over a set of clips; `f1` at the best threshold of this set."""
    said = np.concatenate([c.posteriors.argmax(1) for c in clips])
    meant = np.concatenate([c.truth.viseme[: len(c.posteriors)] for c in clips])
    spoken = meant > 0
    jaw = np.concatenate([c.jaw for c in clips])
    true_jaw = np.concatenate([c.truth.jaw[: len(c.jaw)] for c in clips])
    best = max((closure_f1(clips, t), t) for t in np.linspace(0.04, 0.8, 39))
    return {
        "vis15": float((said == meant)[spoken].mean()),
        "coarse9": float((COARSE[said] == COARSE[meant])[spoken].mean()),
        "overall15": float((said == meant).mean()),
        "silence": float(((said == 0) == (meant == 0)).mean()),
        "jaw_r": float(np.corrcoef(jaw, true_jaw)[0, 1]) if jaw.std() > 0 else 0.0,
        "f1": best[0],
        "threshold": float(best[1]),
    }


def closure_f1(clips: Sequence[Heard], threshold: float) -> float:
    """F1 of closure peaks over `threshold` against true centres, matched within 40 ms."""
    hits = found = wanted = 0
    for clip in clips:
        peaks = peak_times(clip.closure, threshold)
        hits += matches(peaks, clip.lips_s)
        found += len(peaks)
        wanted += len(clip.lips_s)
    return 2.0 * hits / max(found + wanted, 1)


def peak_times(curve: NDArray[np.float32], threshold: float) -> list[float]:
    """Local maxima over a threshold, in seconds; of a plateau its middle."""
    times = []
    k = 0
    while k < len(curve):
        last = k
        while last + 1 < len(curve) and curve[last + 1] == curve[k]:
            last += 1
        before = curve[k - 1] if k > 0 else -np.inf
        after = curve[last + 1] if last + 1 < len(curve) else -np.inf
        if curve[k] > threshold and before < curve[k] > after:
            times.append(0.5 * (k + last) / CURVE_RATE_HZ)
        k = last + 1
    return times


def matches(peaks: Sequence[float], truth: Sequence[float]) -> int:
    """Greedy one-to-one matches within the tolerance."""
    free = list(truth)
    hits = 0
    for peak in peaks:
        near = min(free, key=lambda t: abs(t - peak), default=None)
        if near is not None and abs(near - peak) <= TOLERANCE_S + 1e-9:
            free.remove(near)
            hits += 1
    return hits


def closure_of(posteriors: NDArray[np.float32]) -> NDArray[np.float32]:
    """The closure curve of a net: its PP posterior, lightly smoothed."""
    return smooth_gaussian(posteriors[:, PP], 0.016 * CURVE_RATE_HZ)
