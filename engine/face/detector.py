"""Finds faces in pictures and follows one face through the frames of a video.

Owns every decision about what counts as a face; the networks and the resampling live beside it.
"""

import hashlib
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TypeVar

import cv2
import numpy as np
from numpy.typing import NDArray

from engine.face.candidates import (
    CROP_SCALE,
    MERGE_OVERLAP,
    Candidate,
    in_picture,
    merged,
    overlap,
    search_squares,
    square_around,
)
from engine.face.geometry import Face
from engine.face.networks import DETECTOR_SIDE_PX, LANDMARK_SIDE_PX, FaceNetworks, RawDetections
from engine.face.pose import make_face
from engine.face.regions import Square, cut_out, whole_square
from engine.face.selection import believable, largest_first, standing_score
from engine.face.topology import CanonicalMesh, load_canonical_mesh

# Larger pictures are searched in a copy of this long side; landmarks use the full picture.
SEARCH_SIDE_PX = 2048
# Sides of the search tiles as shares of the long side. The detector sees faces from about a
# tenth of a tile, so the usual three find faces of 4 % of the picture, the fine ones of 0.8 %.
USUAL_TILES = (1.0, 0.6, 0.36)
FINE_TILES = (0.14, 0.07)
# Beside a face as tall as this share of the short side, one under 6 % of the picture is nobody who
# would be chosen to speak; not looking for it saves two thirds of the tiles. The share, and how
# sure such a face must be at a glance:
LARGE_TILES = (1.0, 0.6)
LARGE_FACE_SHARE = 0.15
SURE_GLANCE = 0.9
SQUARES_PER_CALL = 8
"""Of the detector, whatever the number of threads, so that every machine finds the same."""

# A detection this sure becomes a candidate; whether it is a face is decided on fresh cut-outs.
MIN_CANDIDATE_SCORE = 0.4
MAX_CANDIDATES = 24
MAX_FINE_CANDIDATES = 8
# Among hundreds of tiles something always looks a little like a face.
MIN_FINE_SCORE = 0.65
MIN_FINE_PX = 12.0
# A face is looked at again with these shares of the cut-out; its score is the mean of what is
# seen there, in full from this overlap on.
CONFIRM_SHARES = (0.22, 0.3, 0.36, 0.42, 0.5)
GOOD_OVERLAP = 0.6
MIN_PRESENCE = 0.5
# Unsharp mask for pictures without a face: strength, and radius as a share of the long side.
# A strongly blurred face rose from .40 to .64.
CLEARING = 2.0
CLEARING_RADIUS = 0.016
# A face within these angles counts as standing. A picture is turned only for a face that is
# clearly better that way: right against wrong way up differed by .06 to .5.
TURN_SIDE_PX = 1024
TURN_TILES = (1.0, 0.6)
MAX_TURN_CANDIDATES = 4
MAX_ROLL_DEG = 60.0
MAX_ROLL_TURNED_DEG = 45.0
MIN_TURN_GAIN = 0.04
# A face this sure stands upright for certain: on their head, faces reached .82.
SURE_SCORE = 0.9


In = TypeVar("In")
Out = TypeVar("Out")

MAX_KNOWN = 16
"""Pictures whose faces are remembered: a form asks about its photo after every change in it, and
once more when the video is asked for."""


@dataclass(frozen=True)
class UprightPicture:
    """A picture turned so that its faces stand upright.

    Attributes:
        pixels: H x W x 3, uint8, RGB: the picture after turning.
        faces: largest first, in pixels of `pixels`.
        turn_deg: by how much the picture was turned clockwise: 0, 90, 180 or 270.
    """

    pixels: NDArray[np.uint8]
    faces: tuple[Face, ...]
    turn_deg: int


class FaceFinder:
    """Finds faces; keeps the networks it has loaded, and is safe to call from several threads.

    Args:
        assets_dir: folder with the networks; None = the ones shipped with the product.
        threads: so many squares are looked at at once while a picture is searched; 1 keeps to the
            caller's thread.
    """

    def __init__(self, assets_dir: Path | None = None, threads: int = 1) -> None:
        self._assets_dir = assets_dir
        self._threads = threads
        self._networks = FaceNetworks(assets_dir)
        self._known: dict[bytes, tuple[int, tuple[Face, ...]]] = {}
        self._figures: dict[bytes, float] = {}
        self._lock = threading.Lock()

    @cached_property
    def _helpers(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(self._threads, "search")

    @cached_property
    def _mesh(self) -> CanonicalMesh:
        return load_canonical_mesh(self._assets_dir)

    def get_ready(self) -> None:
        """Load the networks now rather than with the first picture."""
        grey = np.full((LANDMARK_SIDE_PX, LANDMARK_SIDE_PX, 3), 128, np.uint8)
        self._search(grey, USUAL_TILES, MAX_CANDIDATES)
        self.look(grey, whole_square(LANDMARK_SIDE_PX, LANDMARK_SIDE_PX))
        _ = self._mesh

    def find(self, pixels: NDArray[np.uint8]) -> list[Face]:
        """Find the faces of an upright picture.

        Args:
            pixels: H x W x 3, uint8, RGB.

        Returns:
            Largest first; empty when there is none.
        """
        tiles = LARGE_TILES if self._shows_large_face(pixels) else USUAL_TILES
        faces = self._search(pixels, tiles, MAX_CANDIDATES)
        faces = faces or self._search_cleared(pixels)
        faces = faces or self._search_finely(pixels)
        return list(largest_first(faces))

    def find_upright(self, pixels: NDArray[np.uint8]) -> UprightPicture:
        """Find the faces of a picture that may lie on its side or stand on its head.

        Args:
            pixels: H x W x 3, uint8, RGB.

        Returns:
            The picture, turned by a quarter or half only where that shows a clearly better face.
        """
        name = _name_of(pixels)
        known = self._known.get(name)
        if known is None:
            known = self._look_upright(pixels)
            with self._lock:
                self._known[name] = known
                while len(self._known) > MAX_KNOWN:
                    del self._known[next(iter(self._known))]
        turn_deg, faces = known
        return UprightPicture(turned(pixels, turn_deg) if turn_deg else pixels, faces, turn_deg)

    def _look_upright(self, pixels: NDArray[np.uint8]) -> tuple[int, tuple[Face, ...]]:
        """By how much to turn the picture, and the faces it shows then."""
        faces = self.find(pixels)
        turn_deg = self._better_turn(pixels, standing_score(faces, MAX_ROLL_DEG))
        if turn_deg:
            faces = self.find(turned(pixels, turn_deg))
        return turn_deg, tuple(faces)

    def _better_turn(self, pixels: NDArray[np.uint8], score: float) -> int:
        """By how much the picture should be turned for a face surer than `score`; mostly 0."""
        if score >= SURE_SCORE:
            return 0
        small = _shrunk(pixels, _shrink_factor(pixels, TURN_SIDE_PX))
        best_deg, best_score = 0, score + MIN_TURN_GAIN
        for turn_deg in (180, 90, 270):
            faces = self._search(turned(small, turn_deg), TURN_TILES, MAX_TURN_CANDIDATES)
            turned_score = standing_score(faces, MAX_ROLL_TURNED_DEG)
            if turned_score > best_score:
                best_deg, best_score = turn_deg, turned_score
        return best_deg

    def look(
        self, pixels: NDArray[np.uint8], square: Square, min_presence: float = MIN_PRESENCE
    ) -> Face | None:
        """Place landmarks in one square (one call of the landmark network, about 15 ms).

        Args:
            pixels: H x W x 3, uint8, RGB.
            square: where a face should be, such as `square_around` an earlier one.
            min_presence: below this the network is taken to see no face, 0..1.

        Returns:
            The face with the presence as its score, or None.
        """
        cut = cut_out(pixels, square, LANDMARK_SIDE_PX, repeat_border=True)
        batch = cut[None].astype(np.float32) / np.float32(255)
        points, presence = self._networks.landmarks(batch)
        if presence[0] < min_presence:
            return None
        landmarks = points[0].copy()
        landmarks[:, :2] = square.to_picture(landmarks[:, :2], LANDMARK_SIDE_PX)
        landmarks[:, 2] *= square.side / LANDMARK_SIDE_PX
        return make_face(landmarks, float(presence[0]), self._mesh)

    def look_around(
        self, pixels: NDArray[np.uint8], squares: Sequence[Square], min_presence: float
    ) -> list[Face | None]:
        """Place landmarks in several squares; see `look`."""
        return self._at_once(lambda square: self.look(pixels, square, min_presence), squares)

    def recall(self, face: Face, work_out: Callable[[], float]) -> float:
        """A figure about a face, worked out only when it is not one of the last faces.

        Args:
            face: its landmarks, to the last bit, are its name.
            work_out: what the figure is.
        """
        name = face.landmarks.tobytes()
        known = self._figures.get(name)
        if known is None:
            known = work_out()
            with self._lock:
                self._figures[name] = known
                while len(self._figures) > MAX_KNOWN:
                    del self._figures[next(iter(self._figures))]
        return known

    def track(self, pixels: NDArray[np.uint8], previous: Face) -> Face | None:
        """Find a face again in the next frame of a video, and search all of it if need be.

        Args:
            pixels: H x W x 3, uint8, RGB.
            previous: the face in an earlier frame of the same size.

        Returns:
            The face, or None when it is not there any more.
        """
        face = self.look(pixels, square_around(previous.landmarks))
        if face is not None:
            return replace(face, score=previous.score)
        found = self.find(pixels)
        return found[0] if found else None

    def _shows_large_face(self, pixels: NDArray[np.uint8]) -> bool:
        """Whether a face is seen at a glance that fills a good part of the picture."""
        height, width = pixels.shape[:2]
        (raw,) = self._detect(pixels, [whole_square(width, height)])
        needed = LARGE_FACE_SHARE * min(width, height) / max(width, height)
        sure = raw.scores >= SURE_GLANCE
        return bool((raw.boxes[sure, 3] >= needed).any())

    def _search_cleared(self, pixels: NDArray[np.uint8]) -> list[Face]:
        """Search a sharpened copy: the detector overlooks faces without any edges."""
        factor = _shrink_factor(pixels, SEARCH_SIDE_PX)
        faces = self._search(_cleared(_shrunk(pixels, factor)), USUAL_TILES, MAX_CANDIDATES)
        return [face.moved(factor, 0.0, 0.0) for face in faces]

    def _search_finely(self, pixels: NDArray[np.uint8]) -> list[Face]:
        """Search for faces too small to animate, so that a person can be told so."""
        faces = self._search(pixels, FINE_TILES, MAX_FINE_CANDIDATES)
        return [
            face for face in faces if face.score >= MIN_FINE_SCORE and face.box[3] >= MIN_FINE_PX
        ]

    def _search(self, pixels: NDArray[np.uint8], shares: Iterable[float], limit: int) -> list[Face]:
        factor = _shrink_factor(pixels, SEARCH_SIDE_PX)
        searched = _shrunk(pixels, factor)

        def face_at(candidate: Candidate) -> Face | None:
            face = self.look(pixels, candidate.square.scaled(factor))
            if face is None:
                return None
            around = square_around(face.landmarks).scaled(1 / factor)
            return replace(face, score=self._confirm(searched, around))

        faces = self._at_once(face_at, self._candidates(searched, shares)[:limit])
        return believable([face for face in faces if face is not None])

    def _candidates(self, pixels: NDArray[np.uint8], shares: Iterable[float]) -> list[Candidate]:
        squares = search_squares(pixels.shape[1], pixels.shape[0], shares)
        candidates: list[Candidate] = []
        for square, raw in zip(squares, self._detect_all(pixels, squares), strict=True):
            candidates += merged(in_picture(raw, square))
        best_first = sorted(candidates, key=lambda candidate: candidate.score, reverse=True)
        kept: list[Candidate] = []
        for candidate in best_first:
            if all(overlap(candidate.box, other.box) < MERGE_OVERLAP for other in kept):
                kept.append(candidate)
        return kept

    def _detect_all(
        self, pixels: NDArray[np.uint8], squares: Sequence[Square]
    ) -> list[RawDetections]:
        starts = range(0, len(squares), SQUARES_PER_CALL)
        parts = [squares[start : start + SQUARES_PER_CALL] for start in starts]
        return list(chain(*self._at_once(lambda part: self._detect(pixels, part), parts)))

    def _detect(self, pixels: NDArray[np.uint8], squares: Sequence[Square]) -> list[RawDetections]:
        """One call of the detector."""
        cuts = [
            cut_out(pixels, square, DETECTOR_SIDE_PX, repeat_border=False) for square in squares
        ]
        batch = np.stack(cuts).astype(np.float32) / np.float32(127.5) - np.float32(1.0)
        return self._networks.detect(batch, MIN_CANDIDATE_SCORE)

    def _at_once(self, do: Callable[[In], Out], items: Sequence[In]) -> list[Out]:
        """What is done with each of the items, in their order; never called by what it calls."""
        if self._threads == 1 or len(items) < 2:
            return [do(item) for item in items]
        return list(self._helpers.map(do, items))

    def _confirm(self, pixels: NDArray[np.uint8], around: Square) -> float:
        """How surely the detector sees a face just there, 0..1.

        Detections count less the less they overlap the place, so that a badly placed face loses
        against a well placed one.
        """
        box_side = around.side / CROP_SCALE
        squares = [replace(around, side=box_side / share) for share in CONFIRM_SHARES]
        total = 0.0
        for share, raw in zip(CONFIRM_SHARES, self._detect(pixels, squares), strict=True):
            expected = np.array([0.5, 0.5, share, share], dtype=np.float32)
            total += max(
                (
                    float(score) * min(overlap(box, expected) / GOOD_OVERLAP, 1.0)
                    for box, score in zip(raw.boxes, raw.scores, strict=True)
                ),
                default=0.0,
            )
        return total / len(CONFIRM_SHARES)


def _name_of(pixels: NDArray[np.uint8]) -> bytes:
    """The same for the same pixels only."""
    digest = hashlib.blake2b(np.ascontiguousarray(pixels).data, digest_size=16)
    digest.update(repr(pixels.shape).encode())
    return digest.digest()


def turned(pixels: NDArray[np.uint8], turn_deg: int) -> NDArray[np.uint8]:
    """The picture turned clockwise by a multiple of 90 degrees."""
    return np.ascontiguousarray(np.rot90(pixels, -(turn_deg // 90)))


def _cleared(pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    soft = cv2.GaussianBlur(pixels, (0, 0), CLEARING_RADIUS * max(pixels.shape[:2]))
    cleared = cv2.addWeighted(pixels, 1.0 + CLEARING, soft, -CLEARING, 0.0)
    return np.asarray(cleared, dtype=np.uint8)


def _shrink_factor(pixels: NDArray[np.uint8], side_px: int) -> float:
    height, width = pixels.shape[:2]
    return float(max(height / side_px, width / side_px, 1.0))


def _shrunk(pixels: NDArray[np.uint8], factor: float) -> NDArray[np.uint8]:
    if factor <= 1.0:
        return pixels
    height, width = pixels.shape[:2]
    shape = (max(round(width / factor), 1), max(round(height / factor), 1))
    return np.asarray(cv2.resize(pixels, shape, interpolation=cv2.INTER_AREA), dtype=np.uint8)
