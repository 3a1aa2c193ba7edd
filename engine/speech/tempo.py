"""Speech faster or slower at the same pitch, for voices that cannot do it themselves."""

import av
import numpy as np
from numpy.typing import NDArray

_SAME = 0.01
_BLOCK_SAMPLES = 1024


def at_speed(samples: NDArray[np.float32], rate_hz: int, speed: float) -> NDArray[np.float32]:
    """Stretch a sound.

    Args:
        samples: N, mono, -1..1.
        rate_hz: of `samples`.
        speed: 0.5 (slow) to 2 (fast).

    Returns:
        About N / speed samples.
    """
    if abs(speed - 1.0) < _SAME or not len(samples):
        return samples
    graph = av.filter.Graph()
    source = graph.add_abuffer(sample_rate=rate_hz, format="flt", layout="mono")
    stretch = graph.add("atempo", f"{speed:.3f}")
    sink = graph.add("abuffersink")
    source.link_to(stretch)
    stretch.link_to(sink)
    graph.configure()
    parts: list[NDArray[np.float32]] = []
    for start in range(0, len(samples), _BLOCK_SAMPLES):
        block = np.ascontiguousarray(samples[None, start : start + _BLOCK_SAMPLES])
        frame = av.AudioFrame.from_ndarray(block, format="flt", layout="mono")
        frame.sample_rate, frame.pts = rate_hz, start
        graph.push(frame)
        parts += _ready(graph)
    graph.push(None)
    parts += _ready(graph)
    return np.concatenate(parts) if parts else samples[:0]


def _ready(graph: av.filter.Graph) -> list[NDArray[np.float32]]:
    """Everything the graph can give now."""
    found: list[NDArray[np.float32]] = []
    while True:
        try:
            frame = graph.pull()
        except (av.error.BlockingIOError, av.error.EOFError):
            return found
        found.append(np.ravel(frame.to_ndarray()).astype(np.float32))
