"""The cards of the library: the video itself, the settings it was made with, what to do next."""

import html

from studio.locales import say
from studio.parts.job_card import button_html, delete_html, download_html, notes_html, video_html
from studio.presenter import JobView

Rows = list[tuple[str, str]]


def library_html(entries: list[tuple[JobView, Rows]], *, has_more: bool) -> str:
    """The list, newest first.

    Args:
        entries: each video and the settings it was made with.
        has_more: whether older ones are left out.
    """
    heading = f"<h2>{html.escape(say('library.title'))}</h2>"
    if not entries:
        return (
            f'<section class="recent empty">{heading}<p>{html.escape(say("library.empty"))}</p>'
            f"<p>{button_html('create', '', say('library.create'), 'primary')}</p></section>"
        )
    cards = "".join(_entry_html(view, rows) for view, rows in entries)
    more = f"<p>{button_html('more', '', say('library.more'))}</p>" if has_more else ""
    return f'<section class="recent">{heading}<ul class="library">{cards}</ul>{more}</section>'


def _entry_html(view: JobView, rows: Rows) -> str:
    open_label = html.escape(say("recent.open_label", title=view.title))
    again_label = html.escape(say("library.again_label", title=view.title))
    buttons = button_html("open", view.job_id, say("recent.open"), label=open_label)
    if "video" in view.files:
        label = html.escape(say("recent.download_label", title=view.title))
        buttons += download_html(view, "video", say("job.download"), "", label=label)
    for kind in ("contents", "clips"):
        if kind in view.files:
            buttons += download_html(view, kind, say(f"job.{kind}"), "")
    if view.is_final and view.can_change:
        buttons += button_html("again", view.job_id, say("library.again"), label=again_label)
    return (
        f'<li class="card {view.status}">{_picture_html(view)}'
        f'<div class="card-text"><b dir="auto">{html.escape(view.title)}</b>'
        f'<span class="pill">{html.escape(say(f"status.{view.status}"))}</span>'
        f'<span class="age">{html.escape(view.age)}</span>'
        f'<span class="detail">{html.escape(view.detail)}</span>{notes_html(view)}</div>'
        f"{_settings_html(rows)}"
        f'<div class="card-buttons">{buttons}{delete_html(view)}</div></li>'
    )


def _picture_html(view: JobView) -> str:
    if "video" not in view.files:
        return '<span class="poster"></span>'
    label = say("library.play_label", title=view.title)
    return video_html(view, label, 'class="poster" preload="none"')


def _settings_html(rows: Rows) -> str:
    pairs = "".join(
        f'<div><dt>{html.escape(name)}</dt><dd dir="auto">{html.escape(value)}</dd></div>'
        for name, value in rows
    )
    return (
        f'<details class="used"><summary>{html.escape(say("library.settings"))}</summary>'
        f"<dl>{pairs}</dl></details>"
    )
