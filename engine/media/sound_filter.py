"""A sound through one of FFmpeg's filters, piece by piece."""

from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import cast

import av
import numpy as np
from numpy.typing import NDArray


def through_filter(
    pieces: Iterable[NDArray[np.float32]], rate_hz: int, name: str, options: str
) -> Iterator[av.AudioFrame]:
    """What a filter makes of a sound, and tells of it in the frames' metadata.

    Args:
        pieces: N samples each, mono, full scale 1.
        rate_hz: of the sound.
        name: of the filter.
        options: as FFmpeg writes them, `key=value:key=value`.
    """
    second = Fraction(1, rate_hz)
    graph = av.filter.Graph()
    source = graph.add_abuffer(sample_rate=rate_hz, format="flt", layout="mono", time_base=second)
    chosen = graph.add(name, options)
    sink = graph.add("abuffersink")
    source.link_to(chosen)
    chosen.link_to(sink)
    graph.configure()
    at = 0
    for samples in pieces:
        frame = av.AudioFrame.from_ndarray(samples[np.newaxis], format="flt", layout="mono")
        frame.sample_rate, frame.pts, frame.time_base = rate_hz, at, second
        at += len(samples)
        graph.push(frame)
        yield from _pulled(graph)
    graph.push(None)
    yield from _pulled(graph)


def _pulled(graph: av.filter.Graph) -> Iterator[av.AudioFrame]:
    while True:
        try:
            yield cast("av.AudioFrame", graph.pull())
        except (av.error.BlockingIOError, av.error.EOFError):
            return
