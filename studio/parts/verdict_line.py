"""The line beside the Generate button: what is missing, what was found, what it will cost."""

import html

from studio.presenter import Verdict


def verdict_html(verdict: Verdict) -> str:
    """The line beside the button."""
    hint = f'<span class="hint">{html.escape(verdict.hint)}</span>' if verdict.hint else ""
    notes = "".join(f'<span class="warning">{html.escape(note)}</span>' for note in verdict.notes)
    return (
        f'<div class="verdict {verdict.mood}" role="status"><b>{html.escape(verdict.text)}</b>'
        f"{hint}{notes}</div>"
    )
