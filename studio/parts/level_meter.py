"""The level meter of the microphone; the script in head.html moves it while one records."""

import html

from studio.locales import say

_STATES = ("quiet", "good", "loud")


def level_html() -> str:
    """The meter, hidden until the microphone is open, and what it may say."""
    states = " ".join(
        f'data-{state}="{html.escape(say(f"voice.level_{state}"))}"' for state in _STATES
    )
    return (
        f'<div class="level" {states} hidden><div class="bar" role="meter" aria-valuemin="0" '
        f'aria-valuemax="100" aria-valuenow="0" aria-label="{html.escape(say("voice.level"))}">'
        "<i></i></div><span></span></div>"
    )
