"""Which of the faces that were seen are believed, and in which order they are given.

Pure rules over `Face`; no pictures.
"""

from collections.abc import Iterable

from engine.face.candidates import square_around
from engine.face.geometry import Face

# See `FaceFinder`'s confirmation: the score was .53 and more on 40 faces in photographs,
# paintings and drawings, .46 and less on a cat, a smiley and an ear.
MIN_SCORE = 0.5
# Ears and collars beside a large face look like small faces; one that close must be surer.
MIN_SCORE_BESIDE_LARGER = 0.7


def largest_first(faces: Iterable[Face]) -> tuple[Face, ...]:
    """Faces by the area of their box."""
    return tuple(sorted(faces, key=lambda face: face.box[2] * face.box[3], reverse=True))


def standing_score(faces: Iterable[Face], max_roll_deg: float) -> float:
    """The best score among faces that stand upright within `max_roll_deg`; 0 for none."""
    return max((face.score for face in faces if abs(face.roll_deg) <= max_roll_deg), default=0.0)


def believable(faces: list[Face]) -> list[Face]:
    """Keep sure faces, one for each place, none that is rather the ear of a larger one."""
    kept: list[Face] = []
    for face in sorted(faces, key=lambda one: one.score, reverse=True):
        if face.score >= MIN_SCORE and not any(_same_place(face, other) for other in kept):
            kept.append(face)
    return [
        face
        for face in kept
        if face.score >= MIN_SCORE_BESIDE_LARGER
        or not any(_is_beside_larger(face, other) for other in kept)
    ]


def _centre(face: Face) -> tuple[float, float]:
    x, y, width, height = face.box
    return x + width / 2, y + height / 2


def _same_place(first: Face, second: Face) -> bool:
    return _is_around(first, *_centre(second)) or _is_around(second, *_centre(first))


def _is_around(face: Face, x: float, y: float) -> bool:
    left, top, width, height = face.box
    return left < x < left + width and top < y < top + height


def _is_beside_larger(face: Face, other: Face) -> bool:
    if other.box[3] < 2 * face.box[3]:
        return False
    square = square_around(other.landmarks)
    x, y = _centre(face)
    return max(abs(x - square.x), abs(y - square.y)) < square.side / 2
