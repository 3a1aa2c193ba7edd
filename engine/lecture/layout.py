"""Where slide and presenter stand in the picture. Pure.

Nothing of a slide is hidden unless that was asked for: the slide is laid into the largest part of
the picture that the presenter and burnt-in captions leave free.
"""

import math
from dataclasses import dataclass

from engine.contracts import Aspect, Framing
from engine.face.framing import canvas_shape
from engine.lecture.options import LectureOptions

MARGIN = 0.025
"""Free on every side of the presenter, as a share of the picture's shorter side."""

CORNER_SIDE = {"16:9": 0.28, "9:16": 0.42}
"""Side of the presenter in a corner, as a share of the picture's shorter side."""

SIDE_HEIGHT = 0.86
"""Height of a presenter beside the slide, as a share of the picture's height."""

BELOW_HEIGHT = 0.5
"""Height of a presenter below the slide in an upright picture, as a share of what is free."""


@dataclass(frozen=True)
class Rect:
    """A rectangle in whole, even pixels."""

    x: int
    y: int
    width: int
    height: int

    @property
    def right(self) -> int:
        """First column behind it."""
        return self.x + self.width

    @property
    def bottom(self) -> int:
        """First row below it."""
        return self.y + self.height

    def overlaps(self, other: "Rect") -> bool:
        """Whether they share a pixel."""
        return (
            self.x < other.right
            and other.x < self.right
            and self.y < other.bottom
            and other.y < self.bottom
        )


@dataclass(frozen=True)
class PresenterPlace:
    """How the presenter is shown.

    Attributes:
        rect: where.
        is_round: as a circle.
        framing, aspect: how the photo is framed for it.
        is_alone: fills the picture at the beginning of a section, then the slide stands alone.
    """

    rect: Rect
    is_round: bool
    framing: Framing
    aspect: Aspect
    is_alone: bool = False


@dataclass(frozen=True)
class Layout:
    """Where everything stands.

    Attributes:
        width_px, height_px: of the picture.
        room: the largest part that the slide may fill.
        presenter: None = there is none.
    """

    width_px: int
    height_px: int
    room: Rect
    presenter: PresenterPlace | None

    def slide_rect(self, slide_width_px: int, slide_height_px: int) -> Rect:
        """The slide as large as it fits, in the middle of its room."""
        return fit(slide_width_px / slide_height_px, self.room)


def lay_out(
    options: LectureOptions, slide_ratio: float, bottom_px: int = 0, top_px: int = 0
) -> Layout:
    """Choose the places.

    Args:
        options: what was asked.
        slide_ratio: width over height of the slides.
        bottom_px: height at the bottom that burnt-in captions or a label need.
        top_px: height at the top that a label needs.
    """
    width, height = options.frame_size
    top = math.ceil(top_px / 2) * 2
    free = Rect(0, top, width, (height - bottom_px) // 2 * 2 - top)
    match options.layout:
        case "off":
            return Layout(width, height, free, None)
        case "full":
            place = PresenterPlace(
                Rect(0, 0, width, height), False, "bust", options.aspect, is_alone=True
            )
            return Layout(width, height, free, place)
        case "corner":
            return _with_corner(options, free, slide_ratio)
        case "side":
            return _with_side(options, free)


def fit(ratio: float, room: Rect) -> Rect:
    """The largest rectangle of a shape in the middle of a room."""
    width = min(room.width, room.height * ratio)
    height = width / ratio
    even_width, even_height = max(round(width / 2) * 2, 2), max(round(height / 2) * 2, 2)
    even_width, even_height = min(even_width, room.width), min(even_height, room.height)
    return Rect(
        room.x + (room.width - even_width) // 4 * 2,
        room.y + (room.height - even_height) // 4 * 2,
        even_width,
        even_height,
    )


def _with_corner(options: LectureOptions, free: Rect, slide_ratio: float) -> Layout:
    width, height = options.frame_size
    short = min(width, height)
    side, margin = _even(short * CORNER_SIDE[options.aspect]), _even(short * MARGIN)
    is_top, is_left = options.corner[0] == "t", options.corner[1] == "l"
    rect = Rect(
        margin if is_left else free.right - margin - side,
        free.y + margin if is_top else free.bottom - margin - side,
        side,
        side,
    )
    place = PresenterPlace(rect, options.shape == "round", "bust", "1:1")
    taken = side + 2 * margin
    beside = Rect(taken if is_left else margin, free.y, free.width - taken - margin, free.height)
    stacked = Rect(0, free.y + (taken if is_top else 0), free.width, free.height - taken)
    rooms = [free] if options.cover else [beside, stacked]
    if not options.cover and not fit(slide_ratio, free).overlaps(rect):
        rooms = [free]
    room = max(rooms, key=lambda one: fit(slide_ratio, one).width)
    return Layout(width, height, room, place)


def _with_side(options: LectureOptions, free: Rect) -> Layout:
    width, height = options.frame_size
    margin = _even(min(width, height) * MARGIN)
    is_left, is_top = options.corner[1] == "l", options.corner[0] == "t"
    if options.aspect == "16:9":
        tallest = min(height * SIDE_HEIGHT, free.height - 2 * margin)
        wide, tall = canvas_shape(9 / 16, int(tallest * 9 / 16))
        taken = wide + 2 * margin
        rect = Rect(
            margin if is_left else width - margin - wide,
            free.y + (free.height - tall) // 4 * 2,
            wide,
            tall,
        )
        room = Rect(taken if is_left else margin, free.y, width - taken - margin, free.height)
    else:
        side = min(_even(free.height * BELOW_HEIGHT), width - 2 * margin)
        taken = side + 2 * margin
        rect = Rect(
            (width - side) // 4 * 2,
            free.y + margin if is_top else free.bottom - margin - side,
            side,
            side,
        )
        room = Rect(0, free.y + (taken if is_top else 0), width, free.height - taken)
    aspect: Aspect = "9:16" if options.aspect == "16:9" else "1:1"
    return Layout(width, height, room, PresenterPlace(rect, False, "bust", aspect))


def _even(value: float) -> int:
    return round(value / 2) * 2
