"""Single frames of a video at given times, also of one that is not ours."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.media.container import VIDEO_DECODERS
from engine.media.video_probe import open_video

MAX_SKIPPED = 2000
"""Frames decoded on the way to one moment; players give up earlier on such files."""


def read_moments(path: Path, times_s: Sequence[float]) -> Iterator[NDArray[np.uint8]]:
    """Decode the frame shown at each time.

    Args:
        path: the video.
        times_s: in order, from its start.

    Yields:
        H x W x 3, uint8, RGB; the last frame where a time lies after the end.

    Raises:
        InputError: NOT_A_VIDEO.
        ValueError: the picture is of a kind we start no decoder for.
        av.FFmpegError: it cannot be decoded.
    """
    with open_video(path) as (container, stream):
        if stream.codec_context.name not in VIDEO_DECODERS:
            raise ValueError(f"a picture track of {stream.codec_context.name}")
        base = stream.time_base or Fraction(1, 1)
        start = stream.start_time or 0
        for time_s in times_s:
            place = start + round(Fraction(time_s) / base)
            container.seek(place, stream=stream)
            shown = None
            for skipped, frame in enumerate(container.decode(stream)):
                if shown is not None and (frame.pts or 0) > place:
                    break
                shown = frame
                if skipped >= MAX_SKIPPED:
                    break
            if shown is not None:
                yield np.asarray(shown.to_ndarray(format="rgb24"), np.uint8)
