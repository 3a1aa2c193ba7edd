"""Reads parts of a finished video fast: seeks, keeps planes as decoded, converts only a crop.

For measuring, where exact colours do not matter; `video.read_frames` is for looking.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import cv2
import numpy as np
from av.container import InputContainer
from av.video.frame import VideoFrame
from av.video.stream import VideoStream
from numpy.typing import NDArray

from engine.media.video_probe import open_video


@dataclass(frozen=True)
class Stretch:
    """`count` frames of a video from `first` on."""

    first: int
    count: int


@dataclass(frozen=True)
class Planes:
    """One decoded frame as it lies in the file: full-size luma, halved chroma.

    Attributes:
        values: (height * 3 / 2) x width, uint8: luma, then both chroma planes.
        height_px, width_px: of the frame, both even.
    """

    values: NDArray[np.uint8]
    height_px: int
    width_px: int

    def crop_rgb(self, x: float, y: float, side: float) -> tuple[NDArray[np.uint8], int, int]:
        """The square of `side` pixels around x, y, as far as it lies in the frame.

        Returns:
            H x W x 3, uint8, RGB, and the x and y of its corner in the frame.
        """
        left, width = _part(x, side, self.width_px)
        top, height = _part(y, side, self.height_px)
        flat = self.values.reshape(-1)
        luma = self.height_px * self.width_px
        half = (self.height_px // 2, self.width_px // 2)
        parts = [self.values[top : top + height, left : left + width]]
        for plane in (flat[luma : luma + luma // 4], flat[luma + luma // 4 :]):
            chroma = plane.reshape(half)
            parts.append(chroma[top // 2 : (top + height) // 2, left // 2 : (left + width) // 2])
        small = np.concatenate([part.reshape(-1) for part in parts]).reshape(-1, width)
        return np.asarray(cv2.cvtColor(small, cv2.COLOR_YUV2RGB_I420), np.uint8), left, top

    def rgb(self) -> NDArray[np.uint8]:
        """The whole frame, H x W x 3, uint8, RGB."""
        return np.asarray(cv2.cvtColor(self.values, cv2.COLOR_YUV2RGB_I420), np.uint8)


def spread_stretches(num_frames: int, max_frames: int, pieces: int) -> tuple[Stretch, ...]:
    """All frames where they are few enough, else `pieces` equal stretches from start to end."""
    if num_frames <= max_frames:
        return (Stretch(0, num_frames),)
    count = max(max_frames // pieces, 1)
    starts = np.linspace(0, num_frames - count, pieces)
    return tuple(Stretch(round(float(start)), count) for start in starts)


def read_planes(
    path: Path, stretches: Sequence[Stretch], fps: Fraction, every: int = 1
) -> Iterator[tuple[int, Planes]]:
    """Decode some stretches of a video.

    Args:
        path: the video.
        stretches: in order, not overlapping.
        fps: its frame rate, which must be constant.
        every: 1 = each frame of a stretch, 2 = each second.

    Yields:
        Frame index and the frame.

    Raises:
        InputError: NOT_A_VIDEO.
    """
    with open_video(path) as (container, stream):
        for stretch in stretches:
            for index, frame in _decoded(container, stream, stretch, fps):
                if (index - stretch.first) % every == 0:
                    values = frame.to_ndarray(format="yuv420p")
                    yield index, Planes(np.asarray(values, np.uint8), frame.height, frame.width)


def _decoded(
    container: InputContainer, stream: VideoStream, stretch: Stretch, fps: Fraction
) -> Iterator[tuple[int, VideoFrame]]:
    base = stream.time_base or Fraction(1, 1)
    start = stream.start_time or 0
    container.seek(start + int(stretch.first / fps / base), stream=stream)
    for frame in container.decode(stream):
        index = round(((frame.pts or 0) - start) * base * fps)
        if index >= stretch.first + stretch.count:
            return
        if index >= stretch.first:
            yield index, frame


def _part(centre: float, side: float, limit: int) -> tuple[int, int]:
    """Start and length of a stretch inside 0 .. `limit`, both multiples of four or the limit's."""
    start = int(max(centre - side / 2, 0)) // 4 * 4
    start = min(start, max(limit - 4, 0) // 4 * 4)
    end = min(max(int(centre + side / 2), start + 4), limit)
    return start, max((end - start) // 4 * 4, 4)
