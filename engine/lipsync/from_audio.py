"""Mouth curves from sound alone: the listening net and what makes its answer calm and exact.

Owns the net, the reading of long recordings in pieces and the way from posteriors to motion
(closed lips as gestures, a shut mouth in pauses). How the net was trained: training/lipsync.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
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
# look back twice `CONTEXT_S` (loudest frame, then mean), the net another second. Pieces of half a
# minute take 25 MB more than eleven seconds do, those of two minutes took 120 MB more.
PIECE_S = 30
NET_MARGIN_S = 2
MARGIN_S = int(2 * CONTEXT_S) + NET_MARGIN_S

# Samples read from a file at once.
_BLOCK_SAMPLES = 1 << 16

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


@dataclass(frozen=True)
class _Piece:
    """A part of a sound with what lies around it.

    Attributes:
        samples: at 16 kHz.
        count: curve samples that they cover.
        wanted: which of these the part is itself.
    """

    samples: NDArray[np.float32]
    count: int
    wanted: slice


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
        options.enable_cpu_mem_arena = False  # half a minute's layers would be kept for the next
        options.enable_mem_pattern = False
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
        return self._listen([_finite(np.asarray(samples_16k, np.float32))])

    def listen_wav(self, path: Path) -> MouthCurves:
        """Turn a sound file into mouth curves; less than a minute of it is held at a time.

        Args:
            path: anything libsndfile reads; channels are averaged.
        """
        return self._listen(_blocks_of(path))

    def _listen(self, blocks: Iterable[NDArray[np.float32]]) -> MouthCurves:
        posteriors, values, levels = [], [], []
        for piece in _pieces(blocks, MARGIN_S * CURVE_RATE_HZ):
            heard, moved = self._run(piece)
            posteriors.append(heard)
            values.append(moved)
            levels.append(level_curve_db(piece.samples)[piece.wanted])
        return curves_from_net(
            np.concatenate(posteriors), np.concatenate(values), np.concatenate(levels)
        )

    def _run(self, piece: _Piece) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Posteriors T x 15 and values T x 5 (jaw, wide, pucker, close, fv) of what is wanted."""
        frames = FRAME_RATE_HZ // CURVE_RATE_HZ
        features = log_mel_features(piece.samples, piece.count * frames)
        first, last = piece.wanted.start, piece.wanted.stop
        begin = max(0, first - NET_MARGIN_S * CURVE_RATE_HZ)
        near = features[begin * frames : (last + NET_MARGIN_S * CURVE_RATE_HZ) * frames]
        posteriors, values = self._session.run(["posteriors", "values"], {"features": near[None]})
        return posteriors[0, first - begin : last - begin], values[0, first - begin : last - begin]


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
    levels = [
        level_curve_db(piece.samples)[piece.wanted] for piece in _pieces(_blocks_of(path), margin=1)
    ]
    level_db = np.concatenate(levels)
    return loudness_of(level_db, float(np.percentile(level_db, 95)))


def _pieces(blocks: Iterable[NDArray[np.float32]], margin: int) -> Iterator[_Piece]:
    """Cut a sound that comes block by block into pieces of `PIECE_S`.

    Args:
        blocks: mono, 16 kHz.
        margin: curve samples heard before and after each piece.
    """
    hop, step = SAMPLE_RATE_HZ // CURVE_RATE_HZ, PIECE_S * CURVE_RATE_HZ
    coming = iter(blocks)
    held, begin, first, end = np.zeros(0, np.float32), 0, 0, 1
    while first < end:
        held, begin = held[(max(0, first - margin) - begin) * hop :], max(0, first - margin)
        whole = first + step + margin - begin
        held = _filled(held, coming, whole * hop)
        count = min(len(held) // hop + 1, whole)
        end = begin + count
        yield _Piece(
            held[: count * hop], count, slice(first - begin, min(first + step, end) - begin)
        )
        first += step


def _filled(
    held: NDArray[np.float32], coming: Iterator[NDArray[np.float32]], count: int
) -> NDArray[np.float32]:
    """What is held with as many blocks more as it takes to have `count` samples, if they come."""
    parts, have = [held], len(held)
    while have < count and (block := next(coming, None)) is not None:
        parts.append(block)
        have += len(block)
    return np.concatenate(parts) if len(parts) > 1 else held


def _blocks_of(path: Path) -> Iterator[NDArray[np.float32]]:
    """A sound file as 16 kHz mono, block by block.

    At another rate it is rounded to 16 bits, so that silence stays silent beside speech.
    """
    with soundfile.SoundFile(path) as sound:
        blocks = (
            _finite(np.ascontiguousarray(block.mean(axis=1)))
            for block in sound.blocks(_BLOCK_SAMPLES, dtype="float32", always_2d=True)
        )
        if sound.samplerate == SAMPLE_RATE_HZ:
            yield from blocks
            return
        stream = soxr.ResampleStream(sound.samplerate, SAMPLE_RATE_HZ, 1, dtype="float32")
        for block in blocks:
            yield _rounded(stream.resample_chunk(block))
        yield _rounded(stream.resample_chunk(np.zeros(0, np.float32), last=True))


def _finite(samples: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.nan_to_num(samples, posinf=1.0, neginf=-1.0)


def _rounded(samples: NDArray[np.float32]) -> NDArray[np.float32]:
    steps = np.round(np.clip(samples, -1.0, 1.0) * 32767.0)
    return np.asarray(steps / np.float32(32767.0), np.float32)


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
