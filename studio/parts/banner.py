"""The line across the page that tells what holds everything up; empty when all is well."""

import html

from engine.messages import Message
from studio.locales import say


def banner_html(pause: Message | None, warning: Message | None, *, may_resume: bool) -> str:
    """The banner.

    Args:
        pause: why the queue rests; told with the button that ends it.
        warning: of the gauge.
        may_resume: whether the visitor may end a pause.
    """
    told = pause or warning
    if told is None:
        return ""
    button = ""
    if pause is not None and may_resume:
        button = (
            '<button type="button" class="plain primary" data-action="resume">'
            f"{html.escape(say('banner.resume'))}</button>"
        )
    sentence, hint = html.escape(told.sentence), html.escape(told.hint)
    return f'<div class="banner" role="status"><p><b>{sentence}</b> {hint}</p>{button}</div>'
