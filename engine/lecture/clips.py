"""Every slide as a video of its own, all in one ZIP.

A clip is the section's picture, copied, with its own sound. Only its first seconds are encoded
anew, because a video of its own must begin with the large label.
"""

import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from threading import Event

import av

from engine.lecture.join import Part, join
from engine.lecture.marking import num_large_frames
from engine.lecture.planes import PlaneConverter
from engine.lecture.section_writer import section_writer
from engine.lecture.sound import lecture_sound
from engine.media.atomic import replace_when_done
from engine.media.audio import SPEECH_RATE_HZ
from engine.media.video import read_frames
from engine.provenance.marks import FrameMarks
from engine.provenance.visible import VisibleLabel


@dataclass(frozen=True)
class ClipSource:
    """One section a clip is made of.

    Attributes:
        part: its picture.
        wav: its sound.
        has_large_label: whether the picture begins with the large label already.
    """

    part: Part
    wav: Path
    has_large_label: bool


@dataclass(frozen=True)
class ClipMaker:
    """Makes the clips of one lecture.

    Attributes:
        folder: for files that are needed on the way.
        size: width and height in pixels.
        fps: frames a second.
        marks: of the lecture.
        seal: writes the labels into a finished file: path and number of the slide, from 1.
        canceled: looked at between two packets.
    """

    folder: Path
    size: tuple[int, int]
    fps: Fraction
    marks: FrameMarks
    seal: Callable[[Path, int], None]
    canceled: Event

    def write(
        self, sources: Sequence[ClipSource], target: Path, on_done: Callable[[int], None]
    ) -> None:
        """Write all clips into a ZIP; one clip at a time lies on the disk beside it.

        Args:
            sources: in order.
            target: the ZIP; appears when it is complete.
            on_done: called with the number of clips that are in it.

        Raises:
            Canceled: nothing is left behind.
        """
        clip, head = self.folder / "clip.mp4", self.folder / "head.mp4"
        try:
            with replace_when_done(target) as path, zipfile.ZipFile(path, "w") as archive:
                for number, source in enumerate(sources, start=1):
                    self._make(source, head, clip)
                    self.seal(clip, number)
                    archive.write(clip, f"slide-{number:03}.mp4")  # videos do not shrink
                    on_done(number)
        finally:
            clip.unlink(missing_ok=True)
            head.unlink(missing_ok=True)

    def _make(self, source: ClipSource, head: Path, clip: Path) -> None:
        part = source.part
        label, parts = self.marks.label, [part]
        if label is not None and not source.has_large_label:
            parts = self._with_large_label(part, label, head)
        count = round(part.num_frames * SPEECH_RATE_HZ / self.fps)
        sound = lecture_sound([source.wav], [count])
        metadata = {"title": part.heading}
        join(parts, sound, clip, self.fps, metadata, self.canceled, has_chapters=False)

    def _with_large_label(self, part: Part, label: VisibleLabel, head: Path) -> list[Part]:
        """The same picture with its first seconds drawn anew."""
        count = first_keyframe(part.video, self.fps, num_large_frames(self.fps), part.num_frames)
        converter = PlaneConverter()
        with section_writer(head, self.size, self.fps) as writer:
            for index, frame in read_frames(part.video):
                if index == count:
                    break
                is_large = index < num_large_frames(self.fps)
                shown = label.draw(frame, index) if is_large else frame
                writer.write(converter.planes(shown))
        rest = Part(part.video, part.num_frames - count, part.heading, count)
        return [Part(head, count, part.heading), *([rest] if rest.num_frames else [])]


def first_keyframe(video: Path, fps: Fraction, least: int, num_frames: int) -> int:
    """Number of the first keyframe from `least` on; `num_frames` where there is none."""
    with av.open(str(video)) as container:
        stream = container.streams.video[0]
        for packet in container.demux(stream):
            if packet.pts is None or not packet.is_keyframe:
                continue
            index = round(packet.pts * (packet.time_base or Fraction(1, 1)) * fps)
            if index >= least:
                return int(index)
    return num_frames
