"""Four pins that show where the face of a drawing is; the script in head.html moves them."""

import html

from studio.locales import say

# Where the pins wait: eyes and corners of a mouth in the middle of the picture, as shares.
_PINS = ((0.4, 0.4), (0.6, 0.4), (0.42, 0.6), (0.58, 0.6))


def pins_html() -> str:
    """The pins over the picture, out of sight until they are asked for."""
    pins = "".join(
        f'<button type="button" class="pin" style="left:{100 * x:.1f}%;top:{100 * y:.1f}%" '
        f'data-x="{x}" data-y="{y}" aria-label="{html.escape(say(f"photo.pin_{number}"))}">'
        "</button>"
        for number, (x, y) in enumerate(_PINS)
    )
    return f'<div class="pins" hidden>{pins}</div>'


def marking_html(*, is_marked: bool) -> str:
    """The button that shows the pins, and the one that hands their places on.

    Args:
        is_marked: whether the face was marked already; then it may be marked anew.
    """
    if is_marked:
        return (
            '<p><button type="button" class="plain" data-action="points" data-points="">'
            f"{html.escape(say('photo.mark_again'))}</button></p>"
        )
    return (
        '<p class="marking"><button type="button" class="plain" data-show-pins>'
        f"{html.escape(say('photo.mark'))}</button></p>"
        f'<div class="marking" hidden><p class="note">{html.escape(say("photo.mark_hint"))}</p>'
        '<button type="button" class="plain primary" data-action="points" data-points="">'
        f"{html.escape(say('photo.mark_use'))}</button></div>"
    )
