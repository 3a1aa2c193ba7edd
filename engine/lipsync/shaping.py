"""Shared motion of the mouth: smoothing, lip gestures, loudness, the finished curves.

`from_timings` and `from_audio` both end here, so that a voice we made and a voice we hear move the
mouth in the same way. Knows neither phonemes nor the net.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from engine.lipsync.curves import CURVE_RATE_HZ, VISEMES, MouthCurves

SAMPLE_RATE_HZ = 16_000

# A closure holds at least three samples of 20 ms, so no frame at 24 fps or more can step over it.
MIN_PLATEAU_S = 0.06
RAMP_S = 0.05

# How loudness scales the jaw: the softest syllable opens 70 % as far as the loudest. More takes the
# jaw away from the true one: loud sounds are not always open ones.
QUIET_JAW, LOUD_JAW = 0.75, 0.32

# Share of each viseme that shows the teeth and lifts the tongue.
_TEETH = {"SS": 0.9, "CH": 0.9, "DD": 0.45, "ih": 0.5, "TH": 0.4, "nn": 0.3, "E": 0.25, "FF": 0.2}
_TONGUE = {"TH": 1.0, "nn": 0.7, "DD": 0.6, "RR": 0.3, "SS": 0.2}


@dataclass(frozen=True)
class Gesture:
    """One visible lip movement: full height over `width_s` around `centre_s`."""

    centre_s: float
    width_s: float
    height: float = 1.0


def num_samples(duration_s: float) -> int:
    """Curve samples that cover a clip: one at 0 s and one each 20 ms up to its end."""
    return int(duration_s * CURVE_RATE_HZ + 1e-6) + 1


def jaw_by_loudness(jaw: NDArray[np.float32], loudness: NDArray[np.float32]) -> NDArray[np.float32]:
    """Open less where the voice is soft: `jaw` and `loudness` are T, 0..1."""
    return np.asarray(jaw * (QUIET_JAW + LOUD_JAW * loudness), np.float32)


def loudness_curve(samples_16k: NDArray[np.float32]) -> NDArray[np.float32]:
    """How loud the clip is, against its own loud parts.

    Args:
        samples_16k: mono, -1..1, 16 kHz.

    Returns:
        T at 50 Hz, 0 (20 dB under the 95th percentile and less) .. 1, smoothed over 80 ms.
    """
    level_db = level_curve_db(samples_16k)
    return loudness_of(level_db, float(np.percentile(level_db, 95)))


def loudness_of(level_db: NDArray[np.float32], loud_db: float) -> NDArray[np.float32]:
    """Scale a level curve in dB to 0..1 under `loud_db` and smooth it over 80 ms."""
    scaled = np.clip((level_db - loud_db) / 20.0 + 1.0, 0.0, 1.0)
    if loud_db < SILENT_DB:
        scaled = np.zeros_like(scaled)
    return smooth_gaussian(scaled, 0.08 / 2.0 * CURVE_RATE_HZ)


# Under this level nothing is speech, whatever its shape (16-bit dither lies near -98 dBFS).
SILENT_DB = -72.0


def level_curve_db(samples_16k: NDArray[np.float32]) -> NDArray[np.float32]:
    """RMS level in dBFS at each curve sample, over 40 ms around it, constant offset removed.

    Args:
        samples_16k: mono, 16 kHz.

    Returns:
        T at 50 Hz, float32, not under -120 dB.
    """
    hop = SAMPLE_RATE_HZ // CURVE_RATE_HZ
    count = len(samples_16k) // hop + 1
    padded = np.zeros((count + 1) * hop, np.float32)
    padded[hop : hop + len(samples_16k)] = samples_16k[: count * hop]
    blocks = padded.reshape(count + 1, hop)
    mean = blocks.mean(axis=1)
    power = np.maximum((blocks * blocks).mean(axis=1) - mean * mean, 0.0)
    around = 0.5 * (power[:-1] + power[1:])
    return np.asarray(10.0 * np.log10(around + 1e-12), np.float32)


def smooth_gaussian(values: NDArray[np.float32], sigma_samples: float) -> NDArray[np.float32]:
    """Smooth along the first axis; the ends are held. `sigma_samples` <= 0 returns a copy."""
    if sigma_samples <= 0 or len(values) == 0:
        return values.astype(np.float32, copy=True)
    radius = max(1, int(np.ceil(3.0 * sigma_samples)))
    offsets = np.arange(-radius, radius + 1)
    kernel = np.exp(-0.5 * (offsets / sigma_samples) ** 2)
    kernel /= kernel.sum()
    columns = values.reshape(len(values), -1)
    padded = np.pad(columns, ((radius, radius), (0, 0)), mode="edge")
    smoothed = np.stack(
        [np.convolve(padded[:, k], kernel, mode="valid") for k in range(columns.shape[1])], axis=1
    )
    return np.asarray(smoothed.reshape(values.shape), np.float32)


def gesture_curve(gestures: Sequence[Gesture], count: int) -> NDArray[np.float32]:
    """Draw gestures as plateaus with smooth 50 ms ramps; where they meet the higher one wins.

    Args:
        gestures: in any order.
        count: samples at 50 Hz.
    """
    curve = np.zeros(count, np.float32)
    for gesture in gestures:
        half_s = max(gesture.width_s, MIN_PLATEAU_S) / 2.0
        first = max(0, int((gesture.centre_s - half_s - RAMP_S) * CURVE_RATE_HZ))
        last = min(count, int((gesture.centre_s + half_s + RAMP_S) * CURVE_RATE_HZ) + 2)
        times = np.arange(first, last) / CURVE_RATE_HZ
        beyond = np.clip((np.abs(times - gesture.centre_s) - half_s) / RAMP_S, 0.0, 1.0)
        shape = gesture.height * (0.5 + 0.5 * np.cos(np.pi * beyond))
        curve[first:last] = np.maximum(curve[first:last], shape)
    return curve


def fit_length(values: NDArray[np.float32], count: int) -> NDArray[np.float32]:
    """Cut, or hold the last value, so that the result has `count` samples."""
    if len(values) >= count:
        return values[:count]
    last = values[-1:] if len(values) else np.zeros(1, np.float32)
    return np.concatenate([values, np.repeat(last, count - len(values))]).astype(np.float32)


def assemble(  # noqa: PLR0913 - one argument a curve, by name only
    *,
    posteriors: NDArray[np.float32],
    jaw: NDArray[np.float32],
    wide: NDArray[np.float32],
    pucker: NDArray[np.float32],
    close: NDArray[np.float32],
    fv: NDArray[np.float32],
    loudness: NDArray[np.float32],
    speaking: NDArray[np.float32],
) -> MouthCurves:
    """Clip every curve to its range and add what follows from the visemes: teeth and tongue."""
    pucker = np.clip(pucker, 0.0, 1.0)
    teeth = posteriors @ _weights(_TEETH) * (1.0 - 0.8 * pucker)
    tongue = posteriors @ _weights(_TONGUE)
    return MouthCurves(
        posteriors=posteriors.astype(np.float32),
        jaw=np.clip(jaw, 0.0, 1.0).astype(np.float32),
        wide=np.clip(wide, -1.0, 1.0).astype(np.float32),
        pucker=pucker.astype(np.float32),
        close=np.clip(close, 0.0, 1.0).astype(np.float32),
        fv=np.clip(fv, 0.0, 1.0).astype(np.float32),
        teeth=np.clip(teeth, 0.0, 1.0).astype(np.float32),
        tongue=np.clip(tongue, 0.0, 1.0).astype(np.float32),
        loudness=np.clip(loudness, 0.0, 1.0).astype(np.float32),
        speaking=np.clip(speaking, 0.0, 1.0).astype(np.float32),
    )


def smooth(curves: MouthCurves, strength: float) -> MouthCurves:
    """Calm the slow parts of the mouth (jaw, spread, rounding); closures keep their edges.

    Args:
        curves: at any rate.
        strength: 0 = unchanged, 1 = tuned default (a Gaussian of 20 ms on the jaw and 30 ms on the
            lips), 2 = twice as wide.
    """
    if strength <= 0:
        return curves
    jaw_sigma = 0.02 * strength * curves.rate_hz
    lips_sigma = 0.03 * strength * curves.rate_hz
    return replace(
        curves,
        jaw=smooth_gaussian(curves.jaw, jaw_sigma),
        wide=smooth_gaussian(curves.wide, lips_sigma),
        pucker=smooth_gaussian(curves.pucker, lips_sigma),
        teeth=smooth_gaussian(curves.teeth, jaw_sigma),
        tongue=smooth_gaussian(curves.tongue, jaw_sigma),
    )


def _weights(shares: dict[str, float]) -> NDArray[np.float32]:
    """Shares by viseme name as a vector over `VISEMES`."""
    return np.array([shares.get(name, 0.0) for name in VISEMES], np.float32)
