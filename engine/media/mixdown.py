"""How many channels become one, and how loud it should be: pure rules over block statistics."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

STATISTICS_BLOCK_S = 0.1
"""Short enough to tell speech from pauses, long enough for a 20 Hz hum."""

TARGET_DBFS = -20.0
"""Where speech is put: the RMS of its louder parts. Leaves 20 dB for peaks."""

MAX_LIFT_DB = 45.0
"""Quiet recordings are lifted by at most this; beyond it only hiss is left."""

QUIET_DB = 12.0
"""A recording that needs this much more (four times the amplitude) was quiet."""

SILENCE_DBFS = -75.0
"""Nothing louder than this anywhere: nothing was recorded (16-bit dither lies at -96)."""

HISS_DBFS = -55.0
HISS_SPREAD_DB = 6.0
"""Quiet sound whose blocks hardly differ is the hiss of an open microphone, not speech."""

INAUDIBLE_CHANNEL_DB = 30.0
"""Channels this far below the loudest one carry nothing for the mix."""

CANCELLATION = 0.25
"""A mix with less than this share of its channels' power (-6 dB) has cancelled itself out."""

CLICK_BLOCKS = 2
MIN_BLOCKS_FOR_CLICKS = 20
"""A click falls into one block or two; in recordings of two seconds or more these do not count
for the loudness."""

_FLOOR = 1e-12


@dataclass(frozen=True)
class Survey:
    """What a whole sound track is like.

    Attributes:
        powers: blocks x channels x channels, covariance of each block, its own mean removed.
        num_samples: a channel.
        peak: highest absolute sample, full scale 1.
    """

    powers: NDArray[np.float64]
    num_samples: int
    peak: float


class Surveyor:
    """Builds a `Survey` from a stream; keeps a few numbers per 0.1 s."""

    def __init__(self, sample_rate_hz: int) -> None:
        self._block = max(round(STATISTICS_BLOCK_S * sample_rate_hz), 1)
        self._rest: NDArray[np.float32] | None = None
        self._powers: list[NDArray[np.float64]] = []
        self._num_samples = 0
        self._peak = 0.0

    @property
    def num_samples(self) -> int:
        """Samples a channel seen so far."""
        return self._num_samples

    def add(self, samples: NDArray[np.float32]) -> None:
        """Take channels x samples into account."""
        self._num_samples += samples.shape[1]
        self._peak = max(self._peak, float(np.abs(samples).max(initial=0.0)))
        if self._rest is not None:
            samples = np.concatenate([self._rest, samples], axis=1)
        whole = samples.shape[1] // self._block * self._block
        if whole:
            self._powers.append(_block_powers(samples[:, :whole], self._block))
        self._rest = samples[:, whole:]

    def finish(self) -> Survey:
        """The statistics of everything seen; at least one sample is needed."""
        rest = self._rest
        if rest is not None and rest.shape[1] and (not self._powers or rest.shape[1] > 1):
            self._powers.append(_block_powers(rest, rest.shape[1]))
        return Survey(
            powers=np.concatenate(self._powers),
            num_samples=self._num_samples,
            peak=self._peak,
        )


def _block_powers(samples: NDArray[np.float32], block: int) -> NDArray[np.float64]:
    parts = samples.reshape(samples.shape[0], -1, block).astype(np.float64)
    parts -= parts.mean(axis=2, keepdims=True)
    return np.asarray(np.einsum("ckm,dkm->kcd", parts, parts) / block)


@dataclass(frozen=True)
class MixPlan:
    """What to do with a track.

    Attributes:
        weights: one per channel; the mono signal is their sum.
        gain: to multiply that signal with.
        level_dbfs: RMS of the louder parts before the gain.
        is_silent: nothing can be heard.
        notes: `one_channel_used` when a plain mix would have cancelled itself out,
            `quiet_lifted` when it was raised by more than `QUIET_DB`.
    """

    weights: NDArray[np.float32]
    gain: float
    level_dbfs: float
    is_silent: bool
    notes: tuple[str, ...]


def plan_mix(survey: Survey, channel_names: tuple[str, ...] = ()) -> MixPlan:
    """Decide the mix of a surveyed track.

    Args:
        survey: of the whole track.
        channel_names: FFmpeg's short names; only `LFE` (rumble, no voice) matters.
    """
    weights, notes = _weights(survey.powers, channel_names)
    levels = np.einsum("c,kcd,d->k", weights, survey.powers, weights)
    level_dbfs = _gated_level_dbfs(levels)
    is_silent = _is_silent(levels, level_dbfs)
    gain_db = 0.0 if is_silent else min(TARGET_DBFS - level_dbfs, MAX_LIFT_DB)
    if gain_db > QUIET_DB:
        notes = (*notes, "quiet_lifted")
    return MixPlan(
        weights=weights.astype(np.float32),
        gain=float(10.0 ** (gain_db / 20.0)),
        level_dbfs=level_dbfs,
        is_silent=is_silent,
        notes=notes,
    )


def _weights(
    powers: NDArray[np.float64], channel_names: tuple[str, ...]
) -> tuple[NDArray[np.float64], tuple[str, ...]]:
    """Mean of the channels that carry sound; the loudest alone if they cancel each other."""
    covariance = powers.mean(axis=0)
    power = np.diag(covariance).copy()
    names = channel_names[: power.size] + ("",) * (power.size - len(channel_names))
    is_voice = np.array([name != "LFE" for name in names])
    if power[is_voice].sum() > 0:
        power[~is_voice] = 0.0
    loudest = int(power.argmax())
    audible = power >= power[loudest] * 10.0 ** (-INAUDIBLE_CHANNEL_DB / 10.0)
    weights = audible / audible.sum()
    mixed = weights @ covariance @ weights
    apart = (weights**2) @ power
    if audible.sum() > 1 and mixed < CANCELLATION * apart:
        return np.eye(power.size)[loudest], ("one_channel_used",)
    return weights, ()


def _gated_level_dbfs(levels: NDArray[np.float64]) -> float:
    """Loudness of the parts where something happens.

    As in ITU-R BS.1770: the mean of all blocks sets a gate 10 dB below it, the mean of the
    blocks over the gate is the result. Pauses, however long, do not count; neither does a
    click, however loud.
    """
    if levels.size >= MIN_BLOCKS_FOR_CLICKS:
        levels = np.sort(levels)[:-CLICK_BLOCKS]
    gate = levels.mean() * 0.1
    return _dbfs(float(levels[levels >= gate].mean()))


def _is_silent(levels: NDArray[np.float64], level_dbfs: float) -> bool:
    if _dbfs(float(levels.max())) < SILENCE_DBFS:
        return True
    low, high = np.percentile(levels, [10, 95])
    is_steady = _dbfs(float(high)) - _dbfs(float(low)) < HISS_SPREAD_DB
    return level_dbfs < HISS_DBFS and is_steady


def _dbfs(power: float) -> float:
    return float(10.0 * np.log10(max(power, _FLOOR)))
