"""The frames of one section: board, presenter, captions, title, one after the other.

Everything that stands still is converted once; for a frame only the presenter's rectangle is
computed. Nothing grows with the length of the section.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from engine.lecture.board import Board
from engine.lecture.layout import Layout, PresenterPlace
from engine.lecture.lower_third import LowerThird
from engine.lecture.marking import num_large_frames
from engine.lecture.planes import Overlay, PlaneConverter, presenter_mask
from engine.media.caption_drawer import CaptionDrawer
from engine.media.captions import Cue
from engine.provenance.marks import FrameMarks

FADE_S = 0.24
"""How long a slide takes to come or to go, where slides are faded."""

TITLE_STEPS = 8
"""So many strengths of a title that comes or goes are drawn."""

Frames = Iterator[NDArray[np.uint8]]


@dataclass(frozen=True)
class SectionLook:
    """Everything seen in a section but the presenter.

    Attributes:
        board: still pictures.
        layout: places.
        fps: frames a second.
        num_frames: of the section.
        is_faded: the slide fades in at the start and out at the end.
        cues: captions to draw, on the clock of the section.
        title: drawn at the start of it, None = none.
        marks: label and watermark, drawn over everything.
        first_index: number of the first frame as the marks count: the label is large in the
            first seconds of a video.
    """

    board: Board
    layout: Layout
    fps: Fraction
    num_frames: int
    is_faded: bool = False
    cues: Sequence[Cue] = ()
    title: LowerThird | None = None
    marks: FrameMarks | None = None
    first_index: int = 0


@dataclass(frozen=True)
class _State:
    """What the still part of a frame depends on."""

    slide_share: float
    cue: int | None
    title_share: float
    is_large: bool


class SectionComposer:
    """Composes the frames of one section.

    Args:
        look: of the section.
        presenter: their frames, H x W x 3, uint8, RGB, of the size of their place; None = none.
            Where they are alone in the picture, the section begins with all of them.
        num_alone: how many frames they are alone in the picture.
    """

    def __init__(
        self, look: SectionLook, presenter: Frames | None = None, num_alone: int = 0
    ) -> None:
        self._look = look
        self._presenter = presenter
        self._num_alone = num_alone
        self._converter = PlaneConverter()
        self._own_converter = PlaneConverter()
        layout = look.layout
        self._captions = CaptionDrawer(look.cues, layout.width_px, layout.height_px, look.fps)
        self._spans = [
            (math.ceil(cue.start_s * look.fps), math.ceil(cue.end_s * look.fps))
            for cue in look.cues
        ]
        place = layout.presenter
        self._place: PresenterPlace | None = None if place and place.is_alone else place
        self._mask: NDArray[np.float32] | None = None
        if self._place is not None:
            rect = self._place.rect
            self._mask = presenter_mask(rect.width, rect.height, is_round=self._place.is_round)

    def frames(self) -> Frames:
        """Yield the planes of every frame in order; each is valid until the next one is taken."""
        state: _State | None = None
        still = canvas = np.zeros((0, 0), np.uint8)
        overlay: Overlay | None = None
        has_watermark = self._look.marks is not None and self._look.marks.watermark is not None
        for index in range(self._look.num_frames):
            now = self._state(index)
            if index < self._num_alone and self._presenter is not None:
                picture = self._marked(self._decorated(next(self._presenter), index, now), index)
                yield self._converter.planes(picture)
                continue
            if now != state:
                state = now
                still = self._decorated(self._look.board.at(now.slide_share), index, now)
                if not has_watermark:
                    canvas = np.ascontiguousarray(
                        self._converter.planes(self._marked(still, index))
                    )
                    overlay = self._overlay(canvas)
            if has_watermark:  # it hides in the whole of every frame
                yield self._converter.planes(self._marked(self._with_presenter(still), index))
                continue
            if overlay is not None and self._presenter is not None:
                overlay.put(self._own_converter.planes(next(self._presenter)))
            yield canvas

    def _overlay(self, canvas: NDArray[np.uint8]) -> Overlay | None:
        if self._place is None or self._mask is None:
            return None
        return Overlay(canvas, self._place.rect, self._mask)

    def _with_presenter(self, still: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """A copy of a picture with the next frame of the presenter, in RGB."""
        if self._place is None or self._mask is None or self._presenter is None:
            return still
        rect, share = self._place.rect, self._mask[..., None]
        picture = still.copy()
        part = picture[rect.y : rect.bottom, rect.x : rect.right]
        mixed = part * (1 - share) + next(self._presenter) * share
        part[...] = np.rint(mixed).astype(np.uint8)
        return picture

    def _state(self, index: int) -> _State:
        look = self._look
        share = 1.0
        if look.is_faded:
            length = FADE_S * float(look.fps)
            begin = max(index - self._num_alone, 0)
            share = min(1.0, (begin + 1) / length, (look.num_frames - index) / length)
        cues = enumerate(self._spans)
        cue = next((number for number, (first, end) in cues if first <= index < end), None)
        title = 0.0 if look.title is None else look.title.share(index)
        return _State(
            slide_share=round(share, 3),
            cue=cue,
            title_share=math.ceil(title * TITLE_STEPS) / TITLE_STEPS,
            is_large=look.first_index + index < num_large_frames(look.fps),
        )

    def _decorated(
        self, picture: NDArray[np.uint8], index: int, state: _State
    ) -> NDArray[np.uint8]:
        """A picture with title and caption."""
        if self._look.title is not None and state.title_share > 0:
            picture = self._look.title.patch(state.title_share).blended(picture)
        return picture if state.cue is None else self._captions.draw(picture, index)

    def _marked(self, picture: NDArray[np.uint8], index: int) -> NDArray[np.uint8]:
        """A picture with the marks of its frame."""
        marks = self._look.marks
        return picture if marks is None else marks.draw(picture, self._look.first_index + index)
