"""What a mouth looks like at every opening, seen by two judges that know nothing of each other.

    python -m benchmarks.openings PORTRAIT...

Draws each portrait with its jaw let down step by step while the head moves, and prints what was
drawn, what landmarks see and what the flow of the pixels sees, in outer-eye distances; how surely
lips are seen at all (`lips_wander`), the distance to the photographed person, and the sharpness of
the skin against the photo's (both without encoding).
"""

import argparse
from fractions import Fraction
from pathlib import Path

import numpy as np

from benchmarks.finished_video import lip_gap
from benchmarks.identity import embedder, sharpness
from benchmarks.second_sight import JawByFlow
from engine import EngineSettings
from engine.animators.animator import Scene
from engine.animators.lite.animator import prepare
from engine.animators.lite.frame import OUTER_EYE_DISTANCE_MM
from engine.face.detector import FaceFinder
from engine.face.framing import frame_canvas
from engine.face.mouth_cover import lips_wander
from engine.lipsync.curves import VISEMES, MouthCurves
from engine.media.image import read_portrait

LEVELS = np.array([0, 0.1, 0.2, 0.3, 0.4, 0.6, 0.8, 1.0])
HELD_FRAMES, RANGE_AT = 3, 5
"""Every opening is held this long; ranges are told for the opening of this number."""


def opening_jaw(fps: int) -> MouthCurves:
    """A jaw that goes down step by step, and nothing else."""
    jaw = np.repeat(LEVELS, HELD_FRAMES).astype(np.float32)
    zero = np.zeros_like(jaw)
    posteriors = np.zeros((len(jaw), len(VISEMES)), np.float32)
    names = ("wide", "pucker", "close", "fv", "teeth", "tongue", "loudness")
    rest = dict.fromkeys(names, zero)
    return MouthCurves(posteriors, jaw=jaw, speaking=zero + 1, rate_hz=fps, **rest)


def judge(portrait: Path, size_px: int, finder: FaceFinder) -> dict:
    """The figures of one portrait."""
    picture = read_portrait(portrait, EngineSettings())
    upright = finder.find_upright(picture.pixels)
    canvas, face = frame_canvas(
        upright.pixels, upright.faces[0], size_px=size_px, framing="full", aspect="source",
        background="white",
    )  # fmt: skip
    scene = Scene(canvas, face, opening_jaw(25), Path("unused.wav"), fps=Fraction(25), seed=1)
    painter, jaw, faces = prepare(scene), JawByFlow(), embedder()
    own_sharp, own_person = sharpness(canvas, face), faces and faces.embed(canvas, face)
    drawn, seen, flow, sharp, away = [], [], [], [], []
    found = face
    for level in range(len(LEVELS)):
        index = HELD_FRAMES * level + 1
        frame = painter.paint(index)
        found = finder.track(frame, found) or found
        lips = painter.rig.contours.moved(painter.plan.shapes[index])
        drawn.append(lips.gap_mm / OUTER_EYE_DISTANCE_MM)
        seen.append(lip_gap(found))
        flow.append(jaw.drop(frame, found))
        sharp.append(sharpness(frame, found) / max(own_sharp, 1e-6))
        if faces is not None:
            away.append(np.linalg.norm(faces.embed(frame, found) - own_person))
    return {
        "drawn": drawn[RANGE_AT] - drawn[0],
        "landmarks": seen[RANGE_AT] - seen[0],
        "flow": flow[RANGE_AT] - flow[0],
        "landmarks r": np.corrcoef(drawn, seen)[0, 1],
        "flow r": np.corrcoef(drawn, flow)[0, 1],
        "wander": lips_wander(canvas, face, finder),
        "sharp": np.median(sharp),
        "identity": np.mean(away) if away else np.nan,
        "eyes that blink": len(painter.rig.eyes),
    }


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("portraits", type=Path, nargs="+")
    parser.add_argument("--size", type=int, default=512)
    arguments = parser.parse_args()
    finder = FaceFinder()
    for number, portrait in enumerate(arguments.portraits):
        row = judge(portrait, arguments.size, finder)
        if number == 0:
            print(f"| portrait | {' | '.join(row)} |\n|{' --- |' * (len(row) + 1)}")
        print(f"| {portrait.stem} | {' | '.join(f'{value:.3g}' for value in row.values())} |")


if __name__ == "__main__":
    main()
