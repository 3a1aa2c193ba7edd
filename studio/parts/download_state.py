"""How far a download is: a button to start it, a bar and a way to stop it, or what went wrong."""

import html

from engine.contracts import WeightsState
from studio.locales import decimal, explain, say

MB_PER_GB = 1000


def size_words(megabytes: float) -> str:
    """A size for people."""
    if megabytes < MB_PER_GB:
        return say("size.mb", mb=max(1, round(megabytes)))
    return say("size.gb", gb=decimal(megabytes / MB_PER_GB))


def download_html(state: WeightsState, title: str, *, is_busy: bool = False) -> str:
    """What can be done about a set of files that may not be here; nothing when it is.

    Args:
        state: of the set.
        title: what is fetched, for screen readers.
        is_busy: whether another download runs; they come one after the other.
    """
    parts = []
    if state.error is not None:
        message = explain(state.error.code, dict(state.error.values))
        told = html.escape(f"{message.sentence} {message.hint}")
        parts.append(f'<p class="note refused" role="alert">{told}</p>')
    if state.is_running:
        parts += [_bar_html(state, title), _button_html("stop", state, say("weights.stop"), title)]
    elif not state.is_complete and is_busy:
        parts.append(f"<p>{html.escape(say('weights.wait'))}</p>")
    elif not state.is_complete:
        words = say("weights.get", size=size_words(state.missing_mb))
        parts.append(_button_html("fetch", state, words, title))
    return "".join(parts)


def _bar_html(state: WeightsState, title: str) -> str:
    total_mb = state.total_mb or 0.0
    percent = round(100 * state.done_mb / total_mb) if total_mb else 0
    words = say("weights.asking")
    if total_mb:
        words = say("weights.progress", done=size_words(state.done_mb), total=size_words(total_mb))
    return (
        f'<div class="bar" role="progressbar" aria-label="{html.escape(title)}" aria-valuemin="0" '
        f'aria-valuemax="100" aria-valuenow="{percent}"><i style="width:{percent}%"></i></div>'
        f"<p>{html.escape(words)}</p>"
    )


def _button_html(action: str, state: WeightsState, words: str, title: str) -> str:
    return (
        f'<button type="button" class="plain" data-action="{action}" '
        f'data-job="{html.escape(state.name)}" aria-label="{html.escape(f"{words}: {title}")}">'
        f"{html.escape(words)}</button>"
    )
