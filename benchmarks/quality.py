"""Render portraits x recordings through the real engine and judge the finished videos.

    python -m benchmarks.quality --portraits FILE... --speech FILE... --out DIR [--cross]

Writes one contact sheet per video and a table: the sync report with the gates it fails, a second
sight of the jaw without landmarks of the lips (`second_sight`), and, for recordings with a stored
forced alignment (NAME.alignment.json beside them or in tests/data/speech), the independent check:
landmarks found anew on the decoded frames against the aligned text; the curves that drove the
animator play no part in it. Started again with the same folder, it goes on where it stopped.
"""

import argparse
import json
import platform
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import cv2
import numpy as np

from benchmarks.identity import embedder, sharpness
from benchmarks.second_sight import JawByFlow
from engine import AnimateRequest, EngineSettings, RenderOptions, StudioEngine
from engine.contracts import JobStatus
from engine.errors import EngineError
from engine.face.detector import FaceFinder
from engine.face.geometry import Face
from engine.lipsync.curves import MouthCurves
from engine.lipsync.from_audio import Listener
from engine.lipsync.from_timings import curves_from_timings
from engine.lipsync.sync_metrics import asked_opening
from engine.media.video import read_frames
from engine.speech.voice import TimedPhoneme

ROOT = Path(__file__).resolve().parents[1]
BILABIALS = {"p", "b", "m"}
UPPER_LIP, LOWER_LIP, EYE_R, EYE_L = 13, 14, 33, 263
SHEET_COLUMNS, SHEET_ROWS, TILE_PX = 8, 2, 200
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
        points = face.landmarks[:, :2]
        gap = np.linalg.norm(points[UPPER_LIP] - points[LOWER_LIP])
        seen.opening.append(float(gap / np.linalg.norm(points[EYE_R] - points[EYE_L])))
        if index % FLOW_STEP == 0:
            seen.drop.append(jaw.drop(frame, face))
        if index % LIKENESS_STEP == 0:
            seen.sharp.append(sharpness(frame, face))
            if faces is not None:
                seen.persons.append(faces.embed(frame, face))
    return seen


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


def jaw_check(opening: np.ndarray, fps: float, alignment: dict) -> dict:
    """Correlation of the seen opening with the opening that the aligned text asks for, and the
    shift at which it is best (positive: the picture is late), in steps of 5 ms within 200 ms."""
    phonemes = [TimedPhoneme(ipa, start, end) for ipa, start, end in alignment["phonemes"]]
    curves = curves_from_timings(phonemes, len(opening) / fps)
    asked = asked_opening(curves)
    times = np.arange(len(opening)) / fps
    seen = np.nan_to_num(opening, nan=float(np.nanmedian(opening)))

    def fit(shift_s: float) -> float:
        at = np.interp((times - shift_s) * curves.rate_hz, np.arange(len(asked)), asked)
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


def tile_of(head: np.ndarray) -> np.ndarray:
    """A head on a white square of `TILE_PX`."""
    scale = TILE_PX / max(head.shape[:2])
    small = cv2.resize(head, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    tile = np.full((TILE_PX, TILE_PX, 3), 255, np.uint8)
    tile[: small.shape[0], : small.shape[1]] = small[:TILE_PX, :TILE_PX]
    return tile


def contact_sheet(tiles: list[np.ndarray], target: Path) -> None:
    """Evenly spread frames on one picture."""
    tiles = tiles + [np.full_like(tiles[0], 255)] * (SHEET_COLUMNS * SHEET_ROWS - len(tiles))
    rows = [
        np.hstack(tiles[r * SHEET_COLUMNS : (r + 1) * SHEET_COLUMNS]) for r in range(SHEET_ROWS)
    ]
    sheet = cv2.cvtColor(np.vstack(rows), cv2.COLOR_RGB2BGR)
    cv2.imwrite(str(target), sheet, [cv2.IMWRITE_JPEG_QUALITY, 80])


def head_window(frame: np.ndarray, face: Face | None) -> tuple[slice, slice]:
    """A square of 1.7 face heights around the face; the whole frame when there is none."""
    if face is None:
        return slice(0, frame.shape[0]), slice(0, frame.shape[1])
    x, y, w, h = face.box
    half = 0.85 * h
    centre_x, centre_y = x + w / 2, y + h * 0.5
    top, left = max(int(centre_y - half), 0), max(int(centre_x - half), 0)
    return slice(top, int(centre_y + half)), slice(left, int(centre_x + half))


def find_alignment(speech: Path) -> dict | None:
    """The stored forced alignment of a recording, if there is one.

    `{"text", "by", "phonemes": [[ipa, start_s, end_s], ...]}`, made by training/lipsync/align.py.
    """
    name = speech.stem.removesuffix("_16k")
    for folder in (speech.parent, ROOT / "tests" / "data" / "speech"):
        for candidate in sorted(folder.glob(f"{name}*.alignment.json")):
            return json.loads(candidate.read_text("utf-8"))
    return None


def judge(
    engine: StudioEngine, portrait: Path, speech: Path, out: Path, options: RenderOptions
) -> dict:
    """Make one video and everything that is known about it."""
    row = {"portrait": portrait.stem, "speech": speech.stem}
    try:
        request = AnimateRequest(
            portrait=str(portrait), audio=str(speech), consent=True, options=options
        )
        job = engine.wait(engine.submit(request).job_id)
    except EngineError as error:
        return {**row, "refused": str(error.code)}
    if job.status is not JobStatus.SUCCEEDED:
        return {**row, "failed": str(job.error and job.error.code)}
    video = engine.artifact_path(job.job_id, "video")
    report = job.report
    finder, alignment = FaceFinder(), find_alignment(speech)
    every = 1 if alignment is not None else FLOW_STEP
    seen = look(video, report["num_frames"], finder, every)
    contact_sheet(seen.tiles, out / f"{portrait.stem}__{speech.stem}.jpg")
    check = second_sight(seen, options.fps, speech)
    if alignment is not None:
        opening = np.array(seen.opening)
        check |= independent_check(opening, options.fps, alignment)
        check |= jaw_check(opening, options.fps, alignment)
    size = (report["width_px"], report["height_px"])
    check |= likeness(seen, engine.input_path(job.job_id, "portrait"), size, finder)
    engine.delete(job.job_id)
    keys = ("duration_s", "elapsed_s", "realtime_factor", "peak_rss_mb")
    return {**row, **{key: report.get(key) for key in keys}, **report["sync"], **check}


def main() -> None:
    """Render, judge, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--portraits", type=Path, nargs="+", required=True)
    parser.add_argument("--speech", type=Path, nargs="+", required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--cross", action="store_true", help="every portrait with every recording")
    parser.add_argument("--size", type=int, default=512)
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    if arguments.cross:
        pairs = [(p, s) for p in arguments.portraits for s in arguments.speech]
    else:
        longest = max(len(arguments.portraits), len(arguments.speech))
        pairs = [
            (
                arguments.portraits[i % len(arguments.portraits)],
                arguments.speech[i % len(arguments.speech)],
            )
            for i in range(longest)
        ]
    options = RenderOptions(size_px=arguments.size, animator="lite", seed=1, force=True)
    table = arguments.out / "table.json"
    rows = json.loads(table.read_text("utf-8"))["rows"] if table.exists() else []
    known = {(row["portrait"], row["speech"]) for row in rows}
    machine = f"{platform.machine()}, {platform.system()}"
    with StudioEngine(EngineSettings(data_dir=arguments.out / "data")) as engine:
        for portrait, speech in pairs:
            if (portrait.stem, speech.stem) in known:
                continue
            rows.append(judge(engine, portrait, speech, arguments.out, options))
            print(json.dumps(rows[-1]), flush=True)
            table.write_text(json.dumps({"machine": machine, "rows": rows}, indent=1), "utf-8")


if __name__ == "__main__":
    main()
