"""Mouth curves from sound alone: the listening net and what makes its answer calm and exact.

Owns the net, the reading of long recordings in pieces and the way from posteriors to motion
(closed lips as gestures, a shut mouth in pauses). How the net was trained: training/lipsync.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnxruntime
import soundfile
import soxr
from numpy.typing import NDArray
from scipy.ndimage import maximum_filter1d, minimum_filter1d

from engine.lipsync.curves import CURVE_RATE_HZ, VISEMES, MouthCurves
from engine.lipsync.features import CONTEXT_S, FRAME_RATE_HZ, log_mel_features
from engine.lipsync.shaping import (
    SAMPLE_RATE_HZ,
    SILENT_DB,
    Gesture,
    assemble,
    gesture_curve,
    jaw_by_loudness,
    level_curve_db,
    loudness_of,
    smooth,
    smooth_gaussian,
)

__all__ = ["LIPSYNC_MODEL", "Listener", "curves_from_net", "loudness_of_wav", "smooth"]

LIPSYNC_MODEL = Path(__file__).resolve().parents[2] / "assets" / "lipsync" / "lipsync.onnx"

# A piece's edges are heard with enough before and after that the pieces join exactly: features
# look back twice `CONTEXT_S` (loudest frame, then mean), the net another second.
PIECE_S = 120
MARGIN_S = int(2 * CONTEXT_S) + 2

# Peaks of a posterior over the threshold become gestures; they reach full height `_RISE` above the
# foot, so that the lips only draw near where the net is in doubt. (On real English
# 84 % of the true closures are drawn 70 % shut or more; at a rise of .28 it is 77 %.)
_LIPS_THRESHOLD, _LIPS_FOOT = 0.22, 0.12
_TEETH_THRESHOLD, _TEETH_FOOT = 0.25, 0.15
_RISE = 0.20

# Training softens the classes: in plain silence the net is about 95 % sure of it, never more.
_DOUBT = 0.08
_SIL, _PP, _FF = VISEMES.index("sil"), VISEMES.index("PP"), VISEMES.index("FF")

# Where the net is in doubt it answers with the mean, so that small openings come out too wide.
_JAW_POWER = 1.1

# The net closes the jaw at the edges of speech by itself: to scale it down there once more would
# open too late and close too early, so that the gate of the jaw is held this much around speech.
_JAW_HOLD_S = 0.06

# The gate opens between these levels under the loud speech around; a speaker far from the
# microphone may be 15 dB softer than the loudest one.
_GATE_DB = (-38.0, -24.0)
_NEAR_S, _SOFT_SPEAKER_DB = 8.0, 15.0

ReadPiece = Callable[[int, int], NDArray[np.float32]]


class Listener:
    """Hears speech and says what the mouth does; any language, any length.

    Attributes:
        model: the net's file.
    """

    def __init__(self, model: Path | None = None) -> None:
        """Load a net.

        Args:
            model: ONNX file with input `features` and outputs `posteriors` and `values`; None =
                the one shipped with the product.
        """
        self.model = model or LIPSYNC_MODEL
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.log_severity_level = 3
        self._session = onnxruntime.InferenceSession(
            str(self.model), options, providers=["CPUExecutionProvider"]
        )

    def get_ready(self) -> None:
        """Hear a second of silence: what the first recording would have to load is there then."""
        self.listen(np.zeros(SAMPLE_RATE_HZ, np.float32))

    def listen(self, samples_16k: NDArray[np.float32]) -> MouthCurves:
        """Turn sound into mouth curves.

        Args:
            samples_16k: mono, -1..1, 16 kHz.

        Returns:
            Curves at 50 Hz, sample i at i / 50 s, from 0 to the end of the sound.
        """
        clean = np.nan_to_num(np.asarray(samples_16k, np.float32), posinf=1.0, neginf=-1.0)
        return self._listen(lambda first, last: clean[first:last], len(clean))

    def listen_wav(self, path: Path) -> MouthCurves:
        """Turn a sound file into mouth curves without holding all of it as floats.

        Args:
            path: anything libsndfile reads; channels are averaged.
        """
        with soundfile.SoundFile(path) as sound:
            if sound.samplerate != SAMPLE_RATE_HZ:
                samples = _resampled(sound)
                return self._listen(lambda first, last: _floats(samples[first:last]), len(samples))

            def read(first: int, last: int) -> NDArray[np.float32]:
                sound.seek(first)
                block = sound.read(last - first, dtype="float32", always_2d=True)
                return np.asarray(np.nan_to_num(block.mean(axis=1)), np.float32)

            return self._listen(read, sound.frames)

    def _listen(self, read: ReadPiece, num_samples: int) -> MouthCurves:
        posteriors, values, levels = [], [], []
        hop = SAMPLE_RATE_HZ // CURVE_RATE_HZ
        total = num_samples // hop + 1
        step, margin = PIECE_S * CURVE_RATE_HZ, MARGIN_S * CURVE_RATE_HZ
        for first in range(0, total, step):
            begin, last = max(0, first - margin), min(first + step, total)
            end = min(last + margin, total)
            piece = read(begin * hop, min(end * hop, num_samples))
            heard, moved = self._run(piece, end - begin)
            wanted = slice(first - begin, last - begin)
            posteriors.append(heard[wanted])
            values.append(moved[wanted])
            levels.append(level_curve_db(piece)[wanted])
        return curves_from_net(
            np.concatenate(posteriors), np.concatenate(values), np.concatenate(levels)
        )

    def _run(
        self, samples: NDArray[np.float32], count: int
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Posteriors count x 15 and values count x 5 (jaw, wide, pucker, close, fv)."""
        frames = count * FRAME_RATE_HZ // CURVE_RATE_HZ
        features = log_mel_features(samples, frames)[None]
        posteriors, values = self._session.run(["posteriors", "values"], {"features": features})
        return posteriors[0], values[0]


def curves_from_net(
    posteriors: NDArray[np.float32],
    values: NDArray[np.float32],
    level_db: NDArray[np.float32],
) -> MouthCurves:
    """Make motion of what the net heard.

    Args:
        posteriors: T x 15, rows sum to 1.
        values: T x 5: jaw, wide, pucker, close, fv.
        level_db: T, RMS in dBFS.
    """
    voiced = np.clip((1.0 - posteriors[:, _SIL] - _DOUBT) / (1.0 - 2.0 * _DOUBT), 0.0, 1.0)
    loud_db = _loud_speech_db(level_db, voiced)
    loudness = loudness_of(level_db, loud_db)
    gate = _energy_gate(level_db, loud_db)
    on = smooth_gaussian(np.asarray(voiced * gate, np.float32), 0.02 * CURVE_RATE_HZ)
    speaking = _speaking(on)
    held = maximum_filter1d(on, 2 * round(_JAW_HOLD_S * CURVE_RATE_HZ) + 1, mode="nearest")
    opening = np.clip(values[:, 0], 0.0, 1.0) ** _JAW_POWER * held
    jaw = jaw_by_loudness(np.asarray(opening, np.float32), loudness)
    return assemble(
        posteriors=posteriors,
        jaw=jaw,
        wide=values[:, 1] * speaking,
        pucker=values[:, 2] * speaking,
        close=_gestures(posteriors[:, _PP], speaking, _LIPS_THRESHOLD, _LIPS_FOOT),
        fv=_gestures(posteriors[:, _FF], speaking, _TEETH_THRESHOLD, _TEETH_FOOT),
        loudness=loudness,
        speaking=speaking,
    )


def loudness_of_wav(path: Path) -> NDArray[np.float32]:
    """`loudness_curve` of a sound file: T at 50 Hz, 0..1."""
    with soundfile.SoundFile(path) as sound:
        if sound.samplerate == SAMPLE_RATE_HZ:
            samples = np.asarray(sound.read(dtype="float32", always_2d=True).mean(axis=1))
        else:
            samples = _floats(_resampled(sound))
    level_db = level_curve_db(samples)
    return loudness_of(level_db, float(np.percentile(level_db, 95)))


def _resampled(sound: soundfile.SoundFile) -> NDArray[np.int16]:
    """The whole file as 16 kHz mono 16-bit numbers (two hours are 230 MB), read in blocks."""
    stream = soxr.ResampleStream(sound.samplerate, SAMPLE_RATE_HZ, 1, dtype="float32")
    parts = []
    for block in sound.blocks(1 << 20, dtype="float32", always_2d=True):
        mono = np.nan_to_num(block.mean(axis=1))
        parts.append(_to_int16(stream.resample_chunk(np.ascontiguousarray(mono))))
    parts.append(_to_int16(stream.resample_chunk(np.zeros(0, np.float32), last=True)))
    return np.concatenate(parts)


def _to_int16(samples: NDArray[np.float32]) -> NDArray[np.int16]:
    return np.round(np.clip(samples, -1.0, 1.0) * 32767.0).astype(np.int16)


def _floats(samples: NDArray[np.int16]) -> NDArray[np.float32]:
    return np.asarray(samples / np.float32(32767.0), np.float32)


def _loud_speech_db(level_db: NDArray[np.float32], voiced: NDArray[np.float32]) -> float:
    """Level of loud speech: 95th percentile where somebody speaks, else of everything."""
    speech = level_db[voiced > 0.5]
    if len(speech) < 0.3 * CURVE_RATE_HZ:
        speech = level_db
    return float(np.percentile(speech, 95))


def _energy_gate(level_db: NDArray[np.float32], loud_db: float) -> NDArray[np.float32]:
    """0 where it is far softer than the speech around, 1 where it is not, smooth between."""
    calm = smooth_gaussian(level_db, 0.05 * CURVE_RATE_HZ)
    nearby = maximum_filter1d(calm, int(2 * _NEAR_S * CURVE_RATE_HZ) + 1, mode="nearest")
    reference = np.maximum(np.minimum(nearby, loud_db), loud_db - _SOFT_SPEAKER_DB)
    low, high = _GATE_DB
    share = np.clip((calm - reference - low) / (high - low), 0.0, 1.0)
    share[level_db < SILENT_DB] = 0.0
    return np.asarray(share * share * (3.0 - 2.0 * share), np.float32)


def _speaking(on: NDArray[np.float32]) -> NDArray[np.float32]:
    """`on` with the holes of plosives (up to 160 ms) filled and blips under 80 ms taken out."""
    filled = minimum_filter1d(maximum_filter1d(on, 9, mode="nearest"), 9, mode="nearest")
    opened = maximum_filter1d(minimum_filter1d(filled, 5, mode="nearest"), 5, mode="nearest")
    return smooth_gaussian(np.asarray(opened, np.float32), 0.03 * CURVE_RATE_HZ)


def _gestures(
    posterior: NDArray[np.float32],
    speaking: NDArray[np.float32],
    threshold: float,
    foot: float,
) -> NDArray[np.float32]:
    """Turn the peaks of a posterior into lip gestures as wide as the peak at half its height.

    The net is sure of the moment and timid about the amount; lips that nearly meet look wrong.
    """
    calm = smooth_gaussian(posterior, 0.016 * CURVE_RATE_HZ)
    near = maximum_filter1d(speaking, 15, mode="nearest")
    gestures = []
    for peak in _peaks(calm):
        height = float(calm[peak])
        if height < threshold or near[peak] < 0.3:
            continue
        first = last = peak
        while first > 0 and calm[first - 1] >= height / 2:
            first -= 1
        while last + 1 < len(calm) and calm[last + 1] >= height / 2:
            last += 1
        middle_s = 0.5 * (first + last) / CURVE_RATE_HZ
        width_s = (last - first) / CURVE_RATE_HZ
        gestures.append(Gesture(middle_s, width_s, min((height - foot) / _RISE, 1.0)))
    return gesture_curve(gestures, len(posterior))


def _peaks(values: NDArray[np.float32]) -> NDArray[np.int64]:
    """Indices of local maxima; of a plateau the last."""
    padded = np.concatenate([[-np.inf], values, [-np.inf]])
    top = (padded[1:-1] >= padded[:-2]) & (padded[1:-1] > padded[2:])
    return np.flatnonzero(top)
