"""Everything that is drawn into the frames of one video, as the settings demand it.

Any path that writes frames does this, and then seals its file:

    marks = FrameMarks.of(width_px, height_px, fps, settings, language="fr", keep_free=[...])
    for index, frame in enumerate(frames):
        writer.write(marks.draw(frame, index))
    facts = VideoFacts(content_id=content_id_of(job_id), kind="lecture", models=(...),
                       consent=True, **marks.facts)
    seal(video_path, facts, settings)
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Self, TypedDict

import numpy as np
from numpy.typing import NDArray

from engine.provenance.visible import Box, VisibleLabel
from engine.provenance.watermark import Watermark, load_watermark
from engine.settings import EngineSettings


class MarkFacts(TypedDict):
    """What `VideoFacts` should say about the marks."""

    visible_label: str | None
    watermark: str | None


@dataclass(frozen=True)
class FrameMarks:
    """The visible label and the hidden watermark of one video; either may be absent."""

    label: VisibleLabel | None
    watermark: Watermark | None

    @classmethod
    def of(
        cls,
        width_px: int,
        height_px: int,
        fps: Fraction,
        settings: EngineSettings,
        *,
        language: str = "en",
        keep_free: Sequence[Box] = (),
    ) -> Self:
        """The marks for a video of this size.

        Args:
            width_px: of a frame.
            height_px: of a frame.
            fps: frames a second.
            settings: whether there is a label, and which watermark.
            language: of the label.
            keep_free: what the label must not cover, most important first.

        Raises:
            EngineError: BAD_OPTION when the watermark cannot be loaded.
        """
        label = None
        if settings.visible_label or settings.is_public:
            label = VisibleLabel(width_px, height_px, fps, language, keep_free)
        return cls(label, load_watermark(settings.watermark))

    @property
    def facts(self) -> MarkFacts:
        """For `VideoFacts(**marks.facts)`."""
        return MarkFacts(
            visible_label=self.label.words.language if self.label else None,
            watermark=self.watermark.name if self.watermark else None,
        )

    def draw(self, frame: NDArray[np.uint8], frame_index: int) -> NDArray[np.uint8]:
        """A frame with its marks.

        Args:
            frame: H x W x 3, uint8, RGB; not changed.
            frame_index: of the video, from 0.
        """
        if self.watermark is not None:
            frame = self.watermark.embed(frame, frame_index)
        return frame if self.label is None else self.label.draw(frame, frame_index)
