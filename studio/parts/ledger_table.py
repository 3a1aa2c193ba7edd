"""What the last videos took of the memory, as a table."""

import html
from collections.abc import Sequence

from engine.contracts import MemoryEntry, utc_now
from studio.locales import decimal, say
from studio.presenter import age_words

MB_PER_GB = 1024

_COLUMNS = ("when", "before", "peak", "after", "worker")


def ledger_html(entries: Sequence[MemoryEntry]) -> str:
    """The table, newest first; the figures are of the card where one was used.

    Args:
        entries: newest first.
    """
    title = html.escape(say("ledger.title"))
    heading = f"<h2>{title}</h2>"
    if not entries:
        return f"{heading}<p>{html.escape(say('ledger.empty'))}</p>"
    head = "".join(
        f'<th scope="col">{html.escape(say(f"ledger.{name}"))}</th>' for name in _COLUMNS
    )
    rows = "".join(map(_row_html, entries))
    return (
        f"{heading}<p>{html.escape(say('ledger.hint'))}</p>"
        f'<div class="scroll" tabindex="0" role="region" aria-label="{title}">'
        f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _row_html(entry: MemoryEntry) -> str:
    on_card = entry.vram_peak_mb is not None and entry.vram_peak_mb > 0
    figures = (
        (entry.vram_before_mb, entry.vram_peak_mb, entry.vram_after_mb)
        if on_card
        else (entry.rss_before_mb, entry.rss_peak_mb, entry.rss_after_mb)
    )
    fate = say("ledger.kept") if entry.replaced is None else say("ledger.replaced")
    cells = [age_words(utc_now() - entry.at), *map(_gb, figures), fate]
    return "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in cells) + "</tr>"


def _gb(megabytes: float | None) -> str:
    if megabytes is None:
        return "-"
    return say("ledger.gb", gb=decimal(megabytes / MB_PER_GB))
