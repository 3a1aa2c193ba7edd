"""Measures how a face moves in a finished video: mouth, lids, head. Knows nothing of sound."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.face.detector import FaceFinder
from engine.face.geometry import Face
from engine.face.topology import (
    LEFT_EYE_INNER,
    LEFT_EYE_OUTER,
    LEFT_LOWER_LID,
    LEFT_UPPER_LID,
    LOWER_LIP_INNER_MIDDLE,
    RIGHT_EYE_INNER,
    RIGHT_EYE_OUTER,
    RIGHT_LOWER_LID,
    RIGHT_UPPER_LID,
    RIGID_POINTS,
    UPPER_LIP_INNER_MIDDLE,
)
from engine.lipsync.face_follower import FaceFollower, SeenFace
from engine.lipsync.jaw_flow import LowerFace
from engine.media.video_stretches import Stretch, read_planes

# The flow is asked about every so many frames of a video with at least so many of them.
SAMPLED_EVERY, MIN_SAMPLES = 4, 60
# Landmarks that read the lips right correlate with the flow by .95 and more; those that read
# thin, bearded or painted lips too narrow, or tremble, by .8 and less.
MIN_AGREEMENT = 0.9


@dataclass(frozen=True)
class FaceMotion:
    """What was measured on T frames, in order; NaN where no face was seen.

    Attributes:
        times_s: T, float64: when the frame appears.
        opening: T, float32: gap between the inner lips over the usual distance of the outer eye
            corners.
        lids: T, float32: height over width of the open eyes, mean of both.
        head: T x 17 x 2, float32: points speech does not move, over the same distance.
        drop: T, float32: drop of the jaw since the first frame seen, by the flow of the pixels
            (`jaw_flow`), over the same distance; also NaN where it was not looked for, because
            landmarks and flow agree.
        stretch: T, int64: frames with the same number follow each other without a gap.
        interval_s: time between two neighbouring frames.
        presence: how sure the network is of the face, median, 0..1.
        grain: as in `PhotoQuality`, of the first face seen; 0 for drawings.
        wander: as in `lips_wander`, of the first face seen.
    """

    times_s: NDArray[np.float64]
    opening: NDArray[np.float32]
    lids: NDArray[np.float32]
    head: NDArray[np.float32]
    drop: NDArray[np.float32]
    stretch: NDArray[np.int64]
    interval_s: float
    presence: float
    grain: float
    wander: float = 0.0

    @property
    def found(self) -> NDArray[np.bool_]:
        """T: whether a face was seen."""
        return ~np.isnan(self.opening)

    @property
    def lips_follow(self) -> bool:
        """Whether landmarks of the lips move with the jaw, as the pixels show it."""
        return _agree(self.opening, self.drop)


@dataclass(frozen=True)
class Sampling:
    """Which frames of a video are looked at.

    Attributes:
        fps: frame rate of the video.
        stretches: in order, not overlapping.
        every: 2 = each second frame of a stretch.
    """

    fps: Fraction
    stretches: tuple[Stretch, ...]
    every: int = 1


def measure_motion(
    video: Path,
    finder: FaceFinder,
    sampling: Sampling,
    *,
    face: Face | None = None,
    threads: int = 2,
    on_share: Callable[[float], None] = lambda _share: None,
) -> FaceMotion:
    """Follow one face through a video.

    Args:
        video: an MP4 of ours.
        finder: its networks are called from `threads` threads at once.
        sampling: which frames to look at.
        face: the face to follow, as it was in the photo; None = the largest.
        threads: how many frames are looked at at once.
        on_share: told now and then which share of the work is done, 0..1; may raise `Canceled`.
    """
    total = sum(stretch.count for stretch in sampling.stretches) / sampling.every
    follower = FaceFollower(finder, face)
    indices: list[int] = []
    drop = np.zeros(0, np.float32)
    seen: list[SeenFace | None] = []
    frames = read_planes(video, sampling.stretches, sampling.fps, sampling.every)
    with ThreadPoolExecutor(max_workers=threads) as pool:
        for block_indices, block_seen in follower.run(frames, pool):
            indices += block_indices
            seen += block_seen
            on_share(min(len(indices) / max(total, 1.0), 1.0))
        measured = _measured(seen)
        if follower.lower is not None:
            drop = _drops(seen, measured["opening"], follower.lower[1], pool)
    starts = [stretch.first for stretch in sampling.stretches]
    return FaceMotion(
        times_s=np.array([float(index / sampling.fps) for index in indices]),
        **measured,
        drop=drop if drop.size else np.full(len(seen), np.nan, np.float32),
        stretch=np.searchsorted(starts, indices, side="right"),
        interval_s=float(sampling.every / sampling.fps),
        presence=float(np.median([one.face.score for one in seen if one] or [0.0])),
        grain=follower.grain,
        wander=follower.wander or 0.0,
    )


def _measured(seen: Sequence[SeenFace | None]) -> dict[str, NDArray[np.float32]]:
    """The measured fields of `FaceMotion`."""
    opening = np.full(len(seen), np.nan, np.float32)
    lids = np.full(len(seen), np.nan, np.float32)
    head = np.full((len(seen), len(RIGID_POINTS), 2), np.nan, np.float32)
    widths: list[float] = []
    for i, one in enumerate(seen):
        if one is not None:
            points = one.face.landmarks[:, :2]
            opening[i] = _distance(points, UPPER_LIP_INNER_MIDDLE, LOWER_LIP_INNER_MIDDLE)
            lids[i] = _lids_open(points)
            head[i] = points[list(RIGID_POINTS)]
            widths.append(_distance(points, LEFT_EYE_OUTER, RIGHT_EYE_OUTER))
    # The usual width, because a blink moves the corners of the eyes.
    width = np.float32(np.median(widths)) if widths else np.float32(1.0)
    return {"opening": opening / width, "lids": lids, "head": head / width}


def _drops(
    seen: Sequence[SeenFace | None],
    opening: NDArray[np.float32],
    face: LowerFace,
    pool: ThreadPoolExecutor,
) -> NDArray[np.float32]:
    """`FaceMotion.drop`: of some frames, and of all where those do not agree with `opening`."""
    drop = np.full(len(seen), np.nan, np.float32)
    cuts = {i: one.lower for i, one in enumerate(seen) if one is not None}
    if not cuts:
        return drop
    shut = cuts[min(cuts)]

    def look(every: int) -> None:
        due = [i for i in cuts if i % every == 0 and np.isnan(drop[i])]
        drop[due] = list(pool.map(lambda i: face.drop(shut, cuts[i]), due))

    look(SAMPLED_EVERY if len(seen) >= SAMPLED_EVERY * MIN_SAMPLES else 1)
    if not _agree(opening, drop):
        look(1)
    return drop


def _agree(opening: NDArray[np.float32], drop: NDArray[np.float32]) -> bool:
    known = np.isfinite(opening) & np.isfinite(drop)
    if known.sum() < 3 or min(np.ptp(opening[known]), np.ptp(drop[known])) <= 0:
        return False
    return float(np.corrcoef(opening[known], drop[known])[0, 1]) >= MIN_AGREEMENT


def _lids_open(points: NDArray[np.float32]) -> float:
    """Mean height of both eyes over their width."""
    eyes = (
        (LEFT_UPPER_LID, LEFT_LOWER_LID, LEFT_EYE_OUTER, LEFT_EYE_INNER),
        (RIGHT_UPPER_LID, RIGHT_LOWER_LID, RIGHT_EYE_OUTER, RIGHT_EYE_INNER),
    )
    shares = []
    for upper, lower, outer, inner in eyes:
        gaps = points[list(upper[3:6])] - points[list(lower[3:6])]
        height = float(np.linalg.norm(gaps, axis=1).mean())
        shares.append(height / max(_distance(points, outer, inner), 1e-6))
    return float(np.mean(shares))


def _distance(points: NDArray[np.float32], first: int, second: int) -> float:
    return max(float(np.linalg.norm(points[first] - points[second])), 1e-6)
