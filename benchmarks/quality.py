"""Render portraits x recordings through the real engine and judge the finished videos.

    python -m benchmarks.quality --portraits FILE... --speech FILE... --out DIR [--cross]

Writes one contact sheet per video, a table of the sync report, and, for recordings with a stored
forced alignment (NAME.alignment.json beside them or in tests/data/speech), the independent check:
landmarks found anew on the decoded frames against the aligned text; the curves that drove the
animator play no part in it.
"""

import argparse
import json
import platform
from pathlib import Path

import cv2
import numpy as np

from benchmarks.identity import FaceEmbedder, embedder, sharpness
from engine import AnimateRequest, EngineSettings, RenderOptions, StudioEngine
from engine.contracts import JobStatus
from engine.errors import EngineError
from engine.face.detector import FaceFinder
from engine.lipsync.from_timings import curves_from_timings
from engine.lipsync.sync_metrics import asked_opening
from engine.media.video import read_frames
from engine.speech.voice import TimedPhoneme

ROOT = Path(__file__).resolve().parents[1]
BILABIALS = {"p", "b", "m"}
UPPER_LIP, LOWER_LIP, EYE_R, EYE_L = 13, 14, 33, 263
SHEET_COLUMNS, SHEET_ROWS, TILE_PX = 8, 3, 240
LIKENESS_STEP = 5


def openings(video: Path, finder: FaceFinder) -> np.ndarray:
    """Mouth opening over eye distance on every decoded frame; NaN where no face was found."""
    face, values = None, []
    for _, frame in read_frames(video):
        face = (
            finder.track(frame, face) if face is not None else next(iter(finder.find(frame)), None)
        )
        if face is None:
            values.append(np.nan)
            continue
        points = face.landmarks[:, :2]
        gap = np.linalg.norm(points[UPPER_LIP] - points[LOWER_LIP])
        values.append(float(gap / np.linalg.norm(points[EYE_R] - points[EYE_L])))
    return np.array(values)


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


def likeness(video: Path, photo: Path, finder: FaceFinder, faces: FaceEmbedder | None) -> dict:
    """Distance of the face to the photographed one, and sharpness against the photo (medians)."""
    picture = cv2.cvtColor(cv2.imread(str(photo)), cv2.COLOR_BGR2RGB)
    reference, found = None, None
    distances, ratios = [], []
    for index, frame in read_frames(video):
        if index % LIKENESS_STEP:
            continue
        if reference is None:
            size = (frame.shape[1], frame.shape[0])
            shrinks = size[0] < picture.shape[1]
            how = cv2.INTER_AREA if shrinks else cv2.INTER_CUBIC
            reference = cv2.resize(picture, size, interpolation=how)
            still = next(iter(finder.find(reference)), None)
            found = still
        if still is None or found is None:
            return {}
        found = finder.track(frame, found) or still
        ratios.append(sharpness(frame, found) / max(sharpness(reference, still), 1e-6))
        if faces is not None:
            away = faces.embed(frame, found) - faces.embed(reference, still)
            distances.append(float(np.linalg.norm(away)))
    known = {"identity": round(float(np.mean(distances)), 3)} if distances else {}
    return {**known, "sharp": round(float(np.median(ratios)), 3)}


def contact_sheet(video: Path, target: Path, finder: FaceFinder) -> None:
    """Evenly spread frames of the video, cut to the head, on one picture; memory stays flat."""
    num_frames = sum(1 for _ in read_frames(video))
    chosen = set(np.linspace(0, num_frames - 1, SHEET_COLUMNS * SHEET_ROWS).astype(int).tolist())
    window, tiles = None, []
    for index, frame in read_frames(video):
        if window is None:
            window = head_window(frame, finder)
        if index in chosen:
            head = frame[window]
            scale = TILE_PX / max(head.shape[:2])
            small = cv2.resize(head, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
            tile = np.full((TILE_PX, TILE_PX, 3), 255, np.uint8)
            tile[: small.shape[0], : small.shape[1]] = small
            tiles.append(tile)
    tiles += [np.full_like(tiles[0], 255)] * (SHEET_COLUMNS * SHEET_ROWS - len(tiles))
    rows = [
        np.hstack(tiles[r * SHEET_COLUMNS : (r + 1) * SHEET_COLUMNS]) for r in range(SHEET_ROWS)
    ]
    cv2.imwrite(str(target), cv2.cvtColor(np.vstack(rows), cv2.COLOR_RGB2BGR))


def head_window(frame: np.ndarray, finder: FaceFinder) -> tuple[slice, slice]:
    """A square of 1.7 face heights around the first face; the whole frame when there is none."""
    face = next(iter(finder.find(frame)), None)
    if face is None:
        return slice(None), slice(None)
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
    row = {"portrait": portrait.name, "speech": speech.name}
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
    finder = FaceFinder()
    contact_sheet(video, out / f"{portrait.stem}__{speech.stem}.jpg", finder)
    alignment = find_alignment(speech)
    check = {}
    if alignment is not None:
        seen = openings(video, finder)
        check = independent_check(seen, options.fps, alignment)
        check |= jaw_check(seen, options.fps, alignment)
    check |= likeness(video, engine.input_path(job.job_id, "portrait"), finder, embedder())
    report = job.report
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
    options = RenderOptions(size_px=arguments.size, animator="lite", seed=1)
    rows = []
    with StudioEngine(EngineSettings(data_dir=arguments.out / "data")) as engine:
        for portrait, speech in pairs:
            rows.append(judge(engine, portrait, speech, arguments.out, options))
            print(json.dumps(rows[-1]), flush=True)
    machine = f"{platform.machine()}, {platform.system()}"
    (arguments.out / "table.json").write_text(
        json.dumps({"machine": machine, "rows": rows}, indent=1)
    )


if __name__ == "__main__":
    main()
