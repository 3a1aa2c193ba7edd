"""The memory of the last hour as a curve, with the same in words."""

import html
from collections.abc import Sequence

from engine.contracts import MemoryReading
from studio.history import SPAN_S, Sample
from studio.locales import decimal, say
from studio.parts.vram_gauge import MB_PER_GB

# Units of the drawing; the page stretches it.
WIDTH, HEIGHT = 600, 120


def history_html(reading: MemoryReading, samples: Sequence[Sample]) -> str:
    """The curve of what all programs and what the studio held.

    Args:
        reading: the gauge as it is now.
        samples: of the last hour, oldest first.
    """
    heading = f"<h2>{html.escape(say('system.memory'))}</h2>"
    kind = say(f"gauge.{reading.kind}")
    if not reading.total_mb or reading.used_mb is None:
        return f"{heading}<p>{html.escape(say('gauge.unknown', kind=kind))}</p>"
    used = [(sample.age_s, sample.used_mb) for sample in samples if sample.used_mb is not None]
    ours = [(sample.age_s, sample.ours_mb) for sample in samples if sample.ours_mb is not None]
    words = [
        say(
            "system.history",
            kind=kind,
            now=_gb(reading.used_mb),
            peak=_gb(max([reading.used_mb, *(value for _, value in used)])),
            total=_gb(reading.total_mb),
        )
    ]
    if reading.ours_mb is not None:
        peak_mb = max([reading.ours_mb, *(value for _, value in ours)])
        words.append(say("system.history_ours", now=_gb(reading.ours_mb), peak=_gb(peak_mb)))
    words.append(say("system.history_begins"))
    curves = _area(used, reading.total_mb, "others") + _area(ours, reading.total_mb, "ours")
    label = html.escape(" ".join(words[:-1]))
    return (
        f'{heading}<div class="history" dir="ltr"><svg role="img" aria-label="{label}" '
        f'viewBox="0 0 {WIDTH} {HEIGHT}" preserveAspectRatio="none">{curves}</svg>'
        f"<div><span>{html.escape(say('system.hour_ago'))}</span>"
        f"<span>{html.escape(say('system.now'))}</span></div></div>"
        + "".join(f"<p>{html.escape(sentence)}</p>" for sentence in words)
    )


def _area(points: list[tuple[float, float]], total_mb: float, css: str) -> str:
    """The filled curve through points of an age in seconds and megabytes."""
    if len(points) < 2:
        return ""
    placed = [
        (WIDTH * (1 - age_s / SPAN_S), HEIGHT * (1 - min(value_mb / total_mb, 1)))
        for age_s, value_mb in points
    ]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in placed)
    first, last = placed[0][0], placed[-1][0]
    points_text = f"{first:.1f},{HEIGHT} {line} {last:.1f},{HEIGHT}"
    return f'<polygon class="{css}" points="{points_text}"></polygon>'


def _gb(megabytes: float) -> str:
    return decimal(megabytes / MB_PER_GB)
