"""The picture of one section as an MP4 without sound; sections are joined without encoding anew."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
from numpy.typing import NDArray

from engine.errors import EngineError, ErrorCode
from engine.media.atomic import is_disk_full, replace_when_done
from engine.media.video import add_picture_track

CRF = 20
"""Letters of a slide stay sharp; the still parts cost next to nothing."""

PRESET = "veryfast"


def encoder_name() -> str:
    """Changes whenever sections made before can no longer be joined with new ones."""
    return f"x264 crf{CRF} {PRESET} {av.library_versions['libavcodec']}"


class SectionWriter:
    """Takes the frames of one section in order; made by `section_writer`."""

    def __init__(self, path: Path, size: tuple[int, int], fps: Fraction) -> None:
        self.num_frames = 0
        self._fps = fps
        self._container = av.open(str(path), "w", format="mp4")
        self._track = add_picture_track(self._container, size, fps, CRF, PRESET)

    def write(self, planes: NDArray[np.uint8]) -> None:
        """Encode one frame.

        Args:
            planes: (H * 3 / 2) x W, uint8, as `PlaneConverter` makes them; copied at once.
        """
        frame = av.VideoFrame.from_ndarray(planes, format="yuv420p")
        frame.pts, frame.time_base = self.num_frames, 1 / self._fps
        self._container.mux(self._track.encode(frame))
        self.num_frames += 1

    def finish(self) -> None:
        """Get everything out of the encoder and close the file."""
        self._container.mux(self._track.encode(None))
        self._container.close()

    def abandon(self) -> None:
        """Close a file that is thrown away."""
        with suppress(av.FFmpegError):
            self._container.close()


@contextmanager
def section_writer(target: Path, size: tuple[int, int], fps: Fraction) -> Iterator[SectionWriter]:
    """Write one section; the file appears under its name when the block ends without an error.

    Args:
        target: the MP4.
        size: width and height in pixels, both even.
        fps: constant.

    Raises:
        EngineError: DISK_FULL or ENCODING_FAILED.
    """
    with replace_when_done(target) as part:
        try:
            writer = SectionWriter(part, size, fps)
            try:
                yield writer
                writer.finish()
            except BaseException:
                writer.abandon()
                raise
        except av.FFmpegError as error:
            code = ErrorCode.DISK_FULL if is_disk_full(error) else ErrorCode.ENCODING_FAILED
            raise EngineError(code) from error
