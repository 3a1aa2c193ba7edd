"""The memory gauge: what is ours, what others hold, what is free; honest where unknown."""

import html

from engine.contracts import MemoryReading
from studio.locales import decimal, say

MB_PER_GB = 1024


def gauge_html(reading: MemoryReading) -> str:
    """One bar and one line for a reading; `unknown` where the machine does not tell."""
    kind = say(f"gauge.{reading.kind}")
    if not reading.total_mb or reading.used_mb is None:
        text = html.escape(say("gauge.unknown", kind=kind))
        return f'<div class="gauge"><span class="gauge-text">{text}</span></div>'
    ours_mb = min(reading.ours_mb or 0.0, reading.used_mb)
    others_mb = reading.used_mb - ours_mb
    free_mb = max(reading.total_mb - reading.used_mb, 0.0)
    parts = [
        *([say("gauge.ours", gb=_gb(ours_mb))] if reading.ours_mb is not None else []),
        say("gauge.others", gb=_gb(others_mb)),
        say("gauge.free", gb=_gb(free_mb)),
    ]
    told = [
        *([say("gauge.peak", gb=_gb(reading.peak_mb))] if reading.peak_mb is not None else []),
        *(
            [say("gauge.temperature", degrees=round(reading.temperature_c))]
            if reading.temperature_c is not None
            else []
        ),
        *(
            [say("gauge.load", percent=round(reading.load_percent))]
            if reading.load_percent is not None
            else []
        ),
    ]
    label = say("gauge.label", kind=kind, device=reading.device, parts=", ".join([*parts, *told]))
    return (
        f'<div class="gauge" role="img" aria-label="{html.escape(label)}" '
        f'title="{html.escape(label)}"><span class="gauge-text"><b>{html.escape(kind)}</b> '
        f"{html.escape(' · '.join(parts))}</span>"
        f"{_facts_html(told)}"
        f'<span class="gauge-bar"><i class="ours" style="width:{_share(ours_mb, reading)}%"></i>'
        f'<i class="others" style="width:{_share(others_mb, reading)}%"></i>'
        f"{_peak_html(reading)}</span></div>"
    )


def _facts_html(told: list[str]) -> str:
    """Peak, temperature and load, where they are known."""
    return f'<span class="gauge-facts">{html.escape(" · ".join(told))}</span>' if told else ""


def _peak_html(reading: MemoryReading) -> str:
    """A line where the studio's own memory was highest."""
    if reading.peak_mb is None:
        return ""
    return f'<u style="inset-inline-start:{_share(reading.peak_mb, reading)}%"></u>'


def _gb(megabytes: float) -> str:
    return decimal(megabytes / MB_PER_GB)


def _share(megabytes: float, reading: MemoryReading) -> str:
    return f"{100 * megabytes / (reading.total_mb or 1):.1f}"
