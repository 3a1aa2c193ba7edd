"""Follows one face through the frames of a video, several frames at a time."""

from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from engine.face.candidates import square_around
from engine.face.detector import FaceFinder
from engine.face.geometry import Face
from engine.face.mouth_cover import lips_wander
from engine.face.photo_quality import measure_quality
from engine.face.regions import Square, cut_out
from engine.face.topology import NOSE_TIP, RIGID_POINTS
from engine.lipsync.jaw_flow import SIDE_PX, LowerFace
from engine.media.video_stretches import Planes

# Frames looked at together; all in the same square, so the head may not move far meanwhile.
BLOCK_FRAMES = 8
# Room around the square the landmark network looks at, for its bounds when it is turned.
CROP_ROOM = 1.5
# A video without a face costs a full search for each try.
MAX_SEARCHES = 5
# Once found, a face is given up only when hardly anything of it is seen; the network is less
# sure of paintings and turned heads.
MIN_PRESENCE = 0.1
SURE_PRESENCE = 0.95
# Squares tried for a face the network is not sure of: scale, and shift down in sides.
TRIED_SQUARES = ((1.0, 0.0), (1.08, 0.0), (1.08, -0.04), (1.0, -0.04), (0.95, 0.0))
# The square stays put until the head has moved this far, because landmarks tremble when it moves.
MAX_SHIFT_SIDES = 0.05
MAX_SCALE = 1.06
MAX_TURN_RAD = 0.06


@dataclass(frozen=True)
class SeenFace:
    """One face in one frame, and its lower part held still: `SIDE_PX` x `SIDE_PX`, grey."""

    face: Face
    lower: NDArray[np.uint8]


@dataclass(frozen=True)
class _Anchor:
    """A square that keeps its place on a head: where it was, and points of the head then."""

    square: Square
    head: NDArray[np.float64]

    @classmethod
    def of(cls, square: Square, face: Face) -> "_Anchor":
        return cls(square, face.landmarks[list(RIGID_POINTS), :2].astype(np.float64))

    def moved_with(self, face: Face) -> Square:
        """The square moved, scaled and turned as the head has been."""
        head = face.landmarks[list(RIGID_POINTS), :2].astype(np.float64)
        before, after = self.head - self.head.mean(axis=0), head - head.mean(axis=0)
        # Similarity in complex numbers: after = factor * before.
        first, second = before @ np.array([1, 1j]), after @ np.array([1, 1j])
        factor = np.vdot(first, second) / np.vdot(first, first)
        scale, turn = float(abs(factor)), float(np.angle(factor))
        centre = np.array([self.square.x, self.square.y]) - self.head.mean(axis=0)
        moved = factor * (centre @ np.array([1, 1j]))
        x, y = head.mean(axis=0) + np.array([moved.real, moved.imag])
        angle_rad = self.square.angle_rad + turn
        return Square(float(x), float(y), self.square.side * scale, angle_rad)


def _is_little(moved: Square, square: Square) -> bool:
    shift = np.hypot(moved.x - square.x, moved.y - square.y) / square.side
    turn = abs(moved.angle_rad - square.angle_rad)
    scale = moved.side / square.side
    return bool(
        shift < MAX_SHIFT_SIDES and turn < MAX_TURN_RAD and 1 / MAX_SCALE < scale < MAX_SCALE
    )


@dataclass
class FaceFollower:
    """Keeps where the face is looked for, how often it may still search, and its grain.

    Attributes:
        finder: its networks are called from several threads at once.
        face: the face to follow, as it was in the photo; None = the largest.
        anchor: where the face is on the head, once it was found.
        lower: where its lower part is, and how it lay when it was first found.
        square: where the next frames are looked at.
        searches_left: searches that may still be made.
        grain: as in `PhotoQuality`, of the first face seen.
        wander: as in `lips_wander`, of the first face seen.
    """

    finder: FaceFinder
    face: Face | None
    anchor: _Anchor | None = None
    lower: tuple[_Anchor, LowerFace] | None = None
    square: Square | None = None
    searches_left: int = MAX_SEARCHES
    grain: float = 0.0
    wander: float | None = None

    def run(
        self, frames: Iterable[tuple[int, Planes]], pool: ThreadPoolExecutor
    ) -> Iterator[tuple[list[int], list[SeenFace | None]]]:
        """Look at some frames while the next ones are decoded.

        Yields:
            Indices of the frames, and what was seen in each.
        """
        waiting: tuple[list[int], list[Future[SeenFace | None]]] | None = None
        for block in _blocks(frames):
            if waiting is not None:
                yield self._collected(*waiting)
            if self.square is None:
                self._search(block[0][1])
            results = [pool.submit(self._look, planes, self.square) for _, planes in block]
            waiting = ([index for index, _ in block], results)
        if waiting is not None:
            yield self._collected(*waiting)

    def _collected(
        self, indices: list[int], results: list[Future[SeenFace | None]]
    ) -> tuple[list[int], list[SeenFace | None]]:
        seen = [result.result() for result in results]
        last = next((one for one in reversed(seen) if one is not None), None)
        if self.anchor is None or self.square is None or last is None:
            self.square = None
            return indices, seen
        moved = self.anchor.moved_with(last.face)
        if not _is_little(moved, self.square):
            self.square = moved
        return indices, seen

    def _search(self, planes: Planes) -> None:
        """Find the face anew, and the square in which the network is surest of it."""
        if self.searches_left == 0:
            return
        self.searches_left -= 1
        pixels = planes.rgb()
        face = self._found(pixels)
        if face is None:
            return
        start, best, surest = square_around(face.landmarks), 0.0, None
        for scale, drop in TRIED_SQUARES:
            square = replace(start, side=start.side * scale, y=start.y + drop * start.side)
            seen = self.finder.look(pixels, square, MIN_PRESENCE)
            if seen is not None and seen.score > best:
                best, self.square, self.anchor = seen.score, square, _Anchor.of(square, seen)
                surest = seen
            if best >= SURE_PRESENCE:
                break
        if self.lower is None and surest is not None:
            lower = LowerFace.of(surest)
            self.lower = _Anchor.of(lower.square, surest), lower
        self.grain = self.grain or measure_quality(pixels, face).grain
        if self.wander is None:
            self.wander = lips_wander(pixels, face, self.finder)

    def _found(self, pixels: NDArray[np.uint8]) -> Face | None:
        if self.face is not None and self.searches_left == MAX_SEARCHES - 1:
            return self.face
        found = self.finder.find(pixels)
        if self.face is None or not found:
            return found[0] if found else None
        wanted = self.face.landmarks[NOSE_TIP, :2]
        return min(
            found, key=lambda one: float(np.linalg.norm(one.landmarks[NOSE_TIP, :2] - wanted))
        )

    def _look(self, planes: Planes, square: Square | None) -> SeenFace | None:
        if square is None or self.lower is None:
            return None
        crop, left, top = planes.crop_rgb(square.x, square.y, CROP_ROOM * square.side)
        face = self.finder.look(crop, square.shifted(-left, -top), MIN_PRESENCE)
        if face is None:
            return None
        face = face.moved(1.0, left, top)
        place = self.lower[0].moved_with(face).shifted(-left, -top)
        lower = cv2.cvtColor(cut_out(crop, place, SIDE_PX, repeat_border=True), cv2.COLOR_RGB2GRAY)
        return SeenFace(face, np.asarray(lower, np.uint8))


def _blocks(frames: Iterable[tuple[int, Planes]]) -> Iterator[list[tuple[int, Planes]]]:
    block: list[tuple[int, Planes]] = []
    for frame in frames:
        block.append(frame)
        if len(block) == BLOCK_FRAMES:
            yield block
            block = []
    if block:
        yield block
