"""The objective lip-sync check: watches a finished video and compares it with its sound.

It reads the MP4 and the mouth curves of the sound alone, so it judges every animator alike. The
curves must not be the animator's own, later ones: they are what the sound asks for.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

from pydantic import computed_field

from engine.contracts import Frozen
from engine.face.detector import FaceFinder
from engine.face.geometry import Face
from engine.lipsync.curves import MouthCurves
from engine.lipsync.face_motion import FaceMotion, Sampling, measure_motion
from engine.lipsync.sync_metrics import (
    asked_closures_s,
    best_lag,
    blinks_per_min,
    closure_f1,
    closure_hits,
    correlation,
    jitter,
    opening_in_silence,
    range_of,
    trusted_opening,
)
from engine.media.video_probe import probe_video
from engine.media.video_stretches import spread_stretches

# Long videos are looked at in this many equal parts.
PIECES = 6
# At 50 and 60 frames a second every second one is looked at; no mouth shape is missed by that.
MEASURED_FPS = 25

# Gates; each lies between good clips and one kind of bad clip (tests show them).
MIN_OPEN_RANGE = 0.05
MIN_CORRELATION = 0.75
# The flow has no noise: good clips have .94 and more, a mouth that is merely loud .71 to .75.
MIN_CORRELATION_BY_FLOW = 0.8
MIN_PEAK_FOR_LAG = 0.5
MAX_LAG_MS = 45.0
MIN_CLOSURE_HIT = 0.8
MIN_CLOSURES = 5
MAX_OPEN_IN_SILENCE = 0.1
# Followed in a resting square, good clips have .004 to .006, a shake of 1 degree a frame .025.
MAX_JITTER = 0.018
BLINKS_PER_MIN = (6.0, 30.0)
MIN_BLINK_CLIP_S = 10.0
# Drawings in flat colours, dark glasses and burnt out faces have less.
MIN_PHOTO_GRAIN = 0.4
# Below this the landmarks of the lips tremble: brush strokes, heads turned far.
MIN_SURE_PRESENCE = 0.98
# Lips of photographs and calm paintings wander by .014 to .038, those of brush strokes by .06
# and more.
MAX_SURE_WANDER = 0.045


class SyncReport(Frozen):
    """How well the picture fits the sound; None = cannot be told from this clip.

    Attributes:
        measured_s: length of what was looked at.
        face_found_share: share of the frames in which a face was seen, 0-1.
        open_range: 5th to 95th percentile of the lip gap, in outer-eye distances.
        by_flow: whether the mouth was judged by the flow of its pixels, because landmarks do not
            follow it.
        asks_for_motion: whether the sound has enough speech in it to judge the mouth by.
        corr_jaw: correlation of shown and asked opening without any shift, -1..1.
        lag_ms: shift of the best correlation; positive = the picture comes late.
        peak_corr: the correlation there.
        closure_hit: share of m, b, p in the sound during which the lips are shut.
        num_closures: how many of them there were.
        closure_f1: F1 of shut lips against the known times of m, b, p.
        sil_open: mean opening in silence, as a share of the clip's range.
        jitter: RMS second difference of the head's rigid points, in outer-eye distances.
        blinks_per_min: how often the lids close shortly.
        is_sure: whether the landmarks of this face can be trusted: a photograph, seen surely.
            Else lids, head and the mouth in silence are not judged.
    """

    measured_s: float
    face_found_share: float
    open_range: float
    by_flow: bool
    asks_for_motion: bool
    corr_jaw: float | None
    lag_ms: float | None
    peak_corr: float | None
    closure_hit: float | None
    num_closures: int
    closure_f1: float | None
    sil_open: float | None
    jitter: float | None
    blinks_per_min: float | None
    is_sure: bool

    @computed_field  # type: ignore[prop-decorator]  # pydantic's own advice for mypy
    @property
    def offset_ms(self) -> float | None:
        """The lag, where it can be trusted."""
        is_sure = self.peak_corr is not None and self.peak_corr >= MIN_PEAK_FOR_LAG
        return self.lag_ms if is_sure else None

    @computed_field  # type: ignore[prop-decorator]
    @property
    def mouth_audio_correlation(self) -> float | None:
        """The correlation without any shift, by its public name."""
        return self.corr_jaw


def score_video(  # noqa: PLR0913 - two inputs, the rest by name only
    video: Path,
    finder: FaceFinder,
    *,
    curves: MouthCurves,
    known_bilabials_s: Sequence[float] | None = None,
    face: Face | None = None,
    max_s: float = 60.0,
    threads: int = 2,
    on_share: Callable[[float], None] = lambda _share: None,
) -> SyncReport:
    """Measure the lip sync of a finished video.

    Args:
        video: an MP4 of ours.
        finder: finds and follows the face.
        curves: what the sound asks for, from its start.
        known_bilabials_s: times of m, b, p where the text is known.
        face: the face that speaks, in pixels of the frame; None = the largest.
        max_s: at most this much of the video is looked at, in parts spread over it.
        threads: how many frames are looked at at once.
        on_share: told now and then which share of the work is done, 0..1; may raise `Canceled`.
    """
    info = probe_video(video)
    every = max(round(info.fps / MEASURED_FPS), 1)
    stretches = spread_stretches(info.num_frames, int(max_s * info.fps), PIECES)
    sampling = Sampling(info.fps, stretches, every)
    motion = measure_motion(video, finder, sampling, face=face, threads=threads, on_share=on_share)
    return report_on(motion, curves, known_bilabials_s)


def report_on(
    motion: FaceMotion, curves: MouthCurves, known_bilabials_s: Sequence[float] | None = None
) -> SyncReport:
    """Compare measured motion with what the sound asks for; see `score_video`."""
    is_sure = (
        motion.grain >= MIN_PHOTO_GRAIN
        and motion.presence >= MIN_SURE_PRESENCE
        and motion.wander <= MAX_SURE_WANDER
    )
    mouth, by_flow = trusted_opening(motion)
    hits, num_closures = closure_hits(mouth, list(asked_closures_s(curves)))
    best = best_lag(mouth, curves)
    corr_jaw = correlation(mouth, curves)
    f1 = closure_f1(mouth, curves, known_bilabials_s) if known_bilabials_s else None
    return SyncReport(
        measured_s=round(len(motion.times_s) * motion.interval_s, 2),
        face_found_share=round(float(motion.found.mean()), 4) if motion.found.size else 0.0,
        open_range=round(range_of(mouth.opening[mouth.found])[1], 4),
        by_flow=by_flow,
        asks_for_motion=corr_jaw is not None,
        corr_jaw=_rounded(corr_jaw, 3),
        lag_ms=_rounded(1000 * best[0], 1) if best else None,
        peak_corr=_rounded(best[1], 3) if best else None,
        closure_hit=round(hits / num_closures, 3) if num_closures else None,
        num_closures=num_closures,
        closure_f1=_rounded(f1, 3),
        sil_open=_rounded(opening_in_silence(mouth, curves), 3),
        jitter=_rounded(jitter(motion), 4),
        blinks_per_min=_rounded(blinks_per_min(motion), 1),
        is_sure=is_sure,
    )


def gates(report: SyncReport) -> list[str]:
    """The names of the figures that are not good enough; empty for a good video."""
    failed = {
        "face_found_share": report.face_found_share < (1.0 if report.is_sure else 0.9),
        "open_range": report.asks_for_motion and report.open_range < MIN_OPEN_RANGE,
        "corr_jaw": _is_below(
            report.corr_jaw, MIN_CORRELATION_BY_FLOW if report.by_flow else MIN_CORRELATION
        ),
        "lag_ms": abs(report.offset_ms or 0.0) > MAX_LAG_MS,
        "closure_hit": report.num_closures >= MIN_CLOSURES
        and _is_below(report.closure_hit, MIN_CLOSURE_HIT),
    }
    if report.is_sure:
        fewest, most = BLINKS_PER_MIN
        blinks = report.blinks_per_min or 0.0
        failed |= {
            "sil_open": report.open_range >= MIN_OPEN_RANGE
            and (report.sil_open or 0.0) > MAX_OPEN_IN_SILENCE,
            "jitter": (report.jitter or 0.0) > MAX_JITTER,
            "blinks_per_min": report.measured_s >= MIN_BLINK_CLIP_S
            and not fewest <= blinks <= most,
        }
    return [name for name, is_bad in failed.items() if is_bad]


def _is_below(value: float | None, limit: float) -> bool:
    return value is not None and value < limit


def _rounded(value: float | None, digits: int) -> float | None:
    return None if value is None else round(float(value), digits)
