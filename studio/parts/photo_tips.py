"""What makes a good photo, shown with pictures: one portrait, as it should and should not be."""

import html

from studio.locales import say
from studio.parts.samples import thumb

PORTRAIT = "astronaut_collins"
BAD = ("dark", "blurred", "far", "cut", "covered")


def tips_html() -> str:
    """The pictures with a sentence each; what is wrong with the bad ones is done in styles.css."""
    picture = thumb(PORTRAIT)
    tips = "".join(_tip_html(name, picture, is_good=name == "good") for name in ("good", *BAD))
    words = "".join(f"<p>{html.escape(say(f'tips.{name}'))}</p>" for name in ("more", "drawing"))
    return f'<ul class="tips">{tips}</ul><div class="hint">{words}</div>'


def _tip_html(name: str, picture: str, *, is_good: bool) -> str:
    mark, css = ("✓", "good") if is_good else ("✗", "bad")
    verdict = html.escape(say(f"tips.is_{css}"))
    return (
        f'<li class="{css}"><span class="tip {name}"><img src="{picture}" alt=""></span>'
        f'<span><b aria-label="{verdict}">{mark}</b> {html.escape(say(f"tips.{name}"))}</span></li>'
    )
