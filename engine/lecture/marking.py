"""The labels of a lecture and of its clips: drawn into the frames, sealed into the files."""

import math
from fractions import Fraction

from engine.contracts import JobSpec
from engine.lecture.layout import Layout, Rect, lay_out
from engine.lecture.lower_third import LowerThird
from engine.lecture.options import LectureOptions
from engine.media.caption_drawer import caption_zone
from engine.pipeline.labels import models_of
from engine.provenance.facts import BUILT_IN_VOICE, VideoFacts, content_id_of
from engine.provenance.marks import FrameMarks
from engine.provenance.visible import LARGE_S, MARGIN_SHARE, Box, letter_heights_px
from engine.settings import EngineSettings

SMALL_ROOM = 2.4
"""Height of the small label with what must be free above it, in heights of its letters."""


def planned_layout(options: LectureOptions, slide_ratio: float, settings: EngineSettings) -> Layout:
    """The layout with room for burnt-in captions, and for a label that would lie on the slide."""
    width, height = options.frame_size
    captions_px = 0
    if options.captions == "burn":
        captions_px = caption_zone(width, height)[3]
    layout = lay_out(options, slide_ratio, captions_px)
    has_label = settings.visible_label or settings.is_public
    label_px = math.ceil(
        letter_heights_px(width, height)[1] * SMALL_ROOM + 2 * MARGIN_SHARE * min(width, height)
    )
    if not has_label or options.cover:
        return layout
    if _has_free_corner(layout, slide_ratio, label_px, height - captions_px):
        return layout
    if captions_px:
        return lay_out(options, slide_ratio, captions_px, label_px)
    return lay_out(options, slide_ratio, label_px)


def marks_of(
    spec: JobSpec,
    layout: Layout,
    slide: Rect,
    title: LowerThird | None,
    settings: EngineSettings,
) -> FrameMarks:
    """What is drawn into the frames; the label keeps clear of presenter, captions and slide.

    Args:
        spec: language of the label.
        layout: places of the lecture.
        slide: the place of its first slide.
        title: at its start.
        settings: whether there are marks.

    Raises:
        EngineError: BAD_OPTION when the watermark of the settings cannot be loaded.
    """
    options = spec.lecture.options if spec.lecture else LectureOptions()
    keep_free = []
    if layout.presenter is not None and not layout.presenter.is_alone:
        keep_free.append(_face_of(layout.presenter.rect))
    if options.captions == "burn":
        keep_free.append(Box(*caption_zone(layout.width_px, layout.height_px)))
    keep_free.append(_box(slide))
    if layout.presenter is not None and not layout.presenter.is_alone:
        keep_free.append(_box(layout.presenter.rect))
    if title is not None:
        patch = title.patch(1.0)
        keep_free.append(Box(patch.left, patch.top, *patch.size))
    return FrameMarks.of(
        layout.width_px,
        layout.height_px,
        Fraction(options.fps),
        settings,
        language=spec.label_language,
        keep_free=keep_free,
    )


def num_large_frames(fps: Fraction) -> int:
    """How many frames at the start of a video have the large label."""
    return math.ceil(LARGE_S * fps)


def facts_of(
    spec: JobSpec, marks: FrameMarks, animator: str, part: int | None = None
) -> VideoFacts:
    """What the seal says about the lecture, or about the clip of one slide.

    Args:
        spec: what was asked.
        marks: what was drawn into the frames.
        animator: who drew the presenter, empty for none.
        part: number of the slide of a clip; None = the whole lecture.
    """
    models = models_of(animator) if animator else ()
    lecture = spec.lecture
    if lecture is not None and any(section.audio_name is None for section in lecture.sections):
        models = (*models, lecture.voice.voice or BUILT_IN_VOICE)
    name = spec.job_id if part is None else f"{spec.job_id}/{part}"
    return VideoFacts(
        content_id=content_id_of(name),
        kind="lecture",
        models=models,
        consent=spec.consent,
        **marks.facts,
    )


def _has_free_corner(layout: Layout, slide_ratio: float, label_px: int, bottom_px: int) -> bool:
    """Whether a corner above `bottom_px` has room for the label, clear of slide and presenter."""
    place = layout.presenter
    if place is not None and place.is_alone:
        return False
    slide = layout.slide_rect(round(slide_ratio * 10_000), 10_000)
    width = round(label_px * 3.5)
    corners = [
        Rect(x, y, width, label_px)
        for x in (0, layout.width_px - width)
        for y in (0, layout.height_px - label_px)
        if y + label_px <= bottom_px
    ]
    taken = [slide] if place is None else [slide, place.rect]
    return any(not any(corner.overlaps(one) for one in taken) for corner in corners)


def _box(rect: Rect) -> Box:
    return Box(rect.x, rect.y, rect.width, rect.height)


def _face_of(rect: Rect) -> Box:
    """The middle of a presenter, where the face is."""
    return Box(
        rect.x + rect.width * 0.15, rect.y + rect.height * 0.1, rect.width * 0.7, rect.height * 0.7
    )
