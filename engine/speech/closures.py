# ruff: noqa: RUF001 - IPA letters look like others by nature
"""Where the lips or the tongue shut before a stop consonant: pure, on times and samples.

espeak-ng dates p, t, k from their burst and counts the silence before it, in which the mouth is
already shut, to the sound before. Seen in the picture that would open the lips on a p.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from engine.speech.levels import FRAME_S, frame_rms
from engine.speech.voice import TimedPhoneme

_STOPS = frozenset("pbtdʈɖcɟkɡqɢ")
_SILENT_DB = -40.0  # against the loudest frame; voiced closures hum 10-25 dB above this
_LONGEST_S = 0.12  # between two sounds
_LONGEST_AFTER_PAUSE_S = 0.06
_KEPT_S = 0.02  # of the sound before, however short it is


def give_closures(
    owned: Sequence[tuple[int, TimedPhoneme]], samples: NDArray[np.float32], sample_rate_hz: int
) -> list[tuple[int, TimedPhoneme]]:
    """Move the begin of stops back over the silence before their burst.

    Args:
        owned: word index and sound, in order.
        samples: N, mono, -1..1, the sound the times belong to.
        sample_rate_hz: of `samples`.

    Returns:
        The same sounds; only borders before stops have moved.
    """
    levels = frame_rms(samples, sample_rate_hz)
    if not len(levels):
        return list(owned)
    is_silent = levels < levels.max() * 10 ** (_SILENT_DB / 20)
    moved: list[tuple[int, TimedPhoneme]] = []
    for word, sound in owned:
        if sound.ipa[0] not in _STOPS:
            moved.append((word, sound))
            continue
        is_joined = bool(moved) and moved[-1][1].end_s >= sound.start_s
        longest_s = _LONGEST_S if is_joined else _LONGEST_AFTER_PAUSE_S
        earliest_s = max(0.0, sound.start_s - longest_s)
        if moved:
            earliest_s = max(earliest_s, moved[-1][1].start_s + _KEPT_S)
        start_s = _silent_from(is_silent, sound.start_s, earliest_s)
        if moved and moved[-1][1].end_s > start_s:
            moved[-1] = (moved[-1][0], replace(moved[-1][1], end_s=start_s))
        moved.append((word, replace(sound, start_s=start_s)))
    return moved


def _silent_from(is_silent: NDArray[np.bool_], until_s: float, earliest_s: float) -> float:
    """Begin of the silence that lasts until `until_s`; `until_s` itself when there is none."""
    frame = min(int(until_s / FRAME_S), len(is_silent))
    while frame > 0 and is_silent[frame - 1] and (frame - 1) * FRAME_S >= earliest_s:
        frame -= 1
    return min(until_s, max(frame * FRAME_S, earliest_s))
