"""What can be told about a finished video by looking at its decoded frames once.

Apart from the sync report of the engine: the jaw by flow (`second_sight`), the opening against a
stored forced alignment, the distance to the photographed person, and the sharpness of the skin.
"""

import json
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import cv2
import numpy as np

from benchmarks.contact_sheet import SHEET_COLUMNS, SHEET_ROWS, head_window, tile_of
from benchmarks.identity import embedder, sharpness
from benchmarks.second_sight import JawByFlow
from engine.face.detector import FaceFinder
from engine.face.geometry import Face
from engine.face.topology import (
    LEFT_EYE_OUTER,
    LOWER_LIP_INNER_MIDDLE,
    RIGHT_EYE_OUTER,
    UPPER_LIP_INNER_MIDDLE,
)
from engine.lipsync.curves import CURVE_RATE_HZ, MouthCurves
from engine.lipsync.from_audio import Listener
from engine.lipsync.from_timings import curves_from_timings
from engine.lipsync.sync_metrics import asked_opening
from engine.media.video import read_frames
from engine.speech.voice import TimedPhoneme

ROOT = Path(__file__).resolve().parents[1]
BILABIALS = {"p", "b", "m"}
LIKENESS_STEP, FLOW_STEP = 10, 2
"""Every so many frames the person is compared and the jaw is followed by flow."""


@dataclass
class Seen:
    """What one pass over the decoded frames gave; NaN where no face was found.

    Attributes:
        opening: of the lips, over the eye distance, every frame or every second one.
        drop: of the jaw by flow, every `FLOW_STEP` frames.
        sharp: sharpness of the face, every `LIKENESS_STEP` frames.
        persons: embeddings of those faces.
        tiles: heads for the contact sheet.
    """

    opening: list[float] = field(default_factory=list)
    drop: list[float] = field(default_factory=list)
    sharp: list[float] = field(default_factory=list)
    persons: list[np.ndarray] = field(default_factory=list)
    tiles: list[np.ndarray] = field(default_factory=list)


def look(video: Path, num_frames: int, finder: FaceFinder, every: int) -> Seen:
    """Look at the decoded frames once."""
    seen, jaw, faces = Seen(), JawByFlow(), embedder()
    chosen = set(np.linspace(0, num_frames - 1, SHEET_COLUMNS * SHEET_ROWS).astype(int).tolist())
    face, window = None, None
    for index, frame in read_frames(video):
        if index in chosen:
            window = window or head_window(frame, next(iter(finder.find(frame)), None))
            seen.tiles.append(tile_of(frame[window]))
        if index % every:
            continue
        face = finder.track(frame, face) if face else next(iter(finder.find(frame)), None)
        if face is None:
            seen.opening.append(np.nan)
            if index % FLOW_STEP == 0:
                seen.drop.append(np.nan)
            continue
        seen.opening.append(lip_gap(face))
        if index % FLOW_STEP == 0:
            seen.drop.append(jaw.drop(frame, face))
        if index % LIKENESS_STEP == 0:
            seen.sharp.append(sharpness(frame, face))
            if faces is not None:
                seen.persons.append(faces.embed(frame, face))
    return seen


def lip_gap(face: Face) -> float:
    """Between the inner lips, by landmarks, over the outer-eye distance."""
    points = face.landmarks[:, :2]
    gap = np.linalg.norm(points[UPPER_LIP_INNER_MIDDLE] - points[LOWER_LIP_INNER_MIDDLE])
    return float(gap / np.linalg.norm(points[LEFT_EYE_OUTER] - points[RIGHT_EYE_OUTER]))


def independent_check(opening: np.ndarray, fps: float, alignment: dict) -> dict:
    """Share of true m/b/p shown closed, and mean opening in aligned silence.

    Closed: under 30 % of the clip's own range within one frame of the sound's centre.
    """
    low, high = np.nanpercentile(opening, [5, 95])
    relative = (opening - low) / max(high - low, 1e-6)
    phonemes = alignment["phonemes"]
    hits = []
    for ipa, start_s, end_s in phonemes:
        if ipa not in BILABIALS:
            continue
        centre = (start_s + end_s) / 2 * fps
        near = relative[max(int(np.floor(centre)) - 1, 0) : int(np.ceil(centre)) + 2]
        hits.append(bool(np.nanmin(near) < 0.3))
    in_speech = np.zeros(len(opening), bool)
    for _, start_s, end_s in phonemes:
        first = int((start_s - 0.15) * fps)
        in_speech[max(first, 0) : int((end_s + 0.15) * fps) + 1] = True
    silence = relative[~in_speech]
    return {
        "bilabials": len(hits),
        "closed_share": round(float(np.mean(hits)), 3) if hits else None,
        "silent_opening": round(float(np.nanmean(silence)), 3) if silence.size else None,
    }


def true_opening(alignment: dict, duration_s: float) -> np.ndarray:
    """The opening that the aligned text asks for, 50 Hz: the mean of both aligners'."""
    asked = [
        asked_opening(curves_from_timings([TimedPhoneme(*row) for row in rows], duration_s))
        for rows in (alignment["phonemes"], alignment["second"])
    ]
    return np.mean(asked, axis=0)


def jaw_check(opening: np.ndarray, fps: float, alignment: dict) -> dict:
    """Correlation of the seen opening with the true one, and the shift at which it is best
    (positive: the picture is late), in steps of 5 ms within 200 ms."""
    asked = true_opening(alignment, len(opening) / fps)
    times = np.arange(len(opening)) / fps
    seen = np.nan_to_num(opening, nan=float(np.nanmedian(opening)))

    def fit(shift_s: float) -> float:
        at = np.interp((times - shift_s) * CURVE_RATE_HZ, np.arange(len(asked)), asked)
        return float(np.corrcoef(seen, at)[0, 1])

    shifts = np.arange(-40, 41) * 0.005
    best = max(shifts, key=fit)
    return {"true_jaw_corr": round(fit(0.0), 3), "true_lag_ms": round(best * 1000)}


@cache
def heard(speech: Path) -> MouthCurves:
    """What the sound asks for."""
    return Listener().listen_wav(speech)


def second_sight(seen: Seen, fps: float, speech: Path) -> dict:
    """Range of the jaw's drop by flow, and its correlation with what the sound asks for."""
    drop = np.array(seen.drop)
    known = np.isfinite(drop)
    if not known.any():
        return {}
    curves = heard(speech)
    times = np.arange(len(drop)) * FLOW_STEP / fps
    asked = asked_opening(curves)
    wanted = np.interp(times * curves.rate_hz, np.arange(len(asked)), asked)
    low, high = np.percentile(drop[known], [5, 95])
    return {
        "flow_range": round(float(high - low), 3),
        "flow_corr": round(float(np.corrcoef(drop[known], wanted[known])[0, 1]), 3),
    }


def likeness(seen: Seen, photo: Path, size: tuple[int, int], finder: FaceFinder) -> dict:
    """Distance of the face to the photographed one (mean), and sharpness against it (median)."""
    picture = cv2.cvtColor(cv2.imread(str(photo)), cv2.COLOR_BGR2RGB)
    how = cv2.INTER_AREA if size[0] < picture.shape[1] else cv2.INTER_CUBIC
    reference = cv2.resize(picture, size, interpolation=how)
    still = next(iter(finder.find(reference)), None)
    if still is None or not seen.sharp:
        return {}
    faces = embedder()
    own = sharpness(reference, still)
    known = {"sharp": round(float(np.median(seen.sharp)) / max(own, 1e-6), 3)}
    if faces is not None:
        away = np.array(seen.persons) - faces.embed(reference, still)
        known["identity"] = round(float(np.linalg.norm(away, axis=1).mean()), 3)
    return known


def find_alignment(speech: Path) -> dict | None:
    """The stored forced alignment of a recording, if there is one.

    `{"text", "phonemes": [[ipa, start_s, end_s], ...], "second": [...]}`, the sounds by two
    aligners, made by training/lipsync/true_times.py.
    """
    name = speech.stem.removesuffix("_16k")
    for folder in (speech.parent, ROOT / "tests" / "data" / "speech"):
        for candidate in sorted(folder.glob(f"{name}*.alignment.json")):
            return json.loads(candidate.read_text("utf-8"))
    return None
