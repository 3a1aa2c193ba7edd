"""One job on the page, large beside its progress or small in the list of recent videos."""

import html

from studio.locales import say
from studio.presenter import JobView

# Where the page scrolls after an action.
_GOALS = {"open": "job-panel", "another": "steps", "again": "steps"}


def job_panel_html(view: JobView, live: str = "", below: str = "") -> str:
    """The large card: progress while the job lives, the video once it is there.

    Args:
        view: the job.
        live: base64 of a JPEG, the newest frame of a video in the making; empty without one.
        below: HTML at the end of the card.
    """
    title = html.escape(view.title)
    heading = (
        f'<h2>{html.escape(say("job.section"))}</h2><p class="job-title" dir="auto">{title}</p>'
    )
    # What is read aloud changes with the status only, not with every percent.
    spoken = html.escape(say(f"status.{view.status}"))
    words = (
        f'<span class="spoken" role="status">{spoken}</span>'
        f'<p class="job-label">{html.escape(view.label)}</p>'
        f'<p class="job-detail">{html.escape(view.detail)}</p>'
    )
    return (
        f'<section class="job {view.status}" aria-label="{html.escape(say("job.section"))}">'
        f'<div class="job-head">{heading}</div>{_stage_html(view, live)}'
        f'<div class="job-words">{words}{notes_html(view)}</div>{_buttons_html(view)}'
        f"{below}</section>"
    )


def missing_job_html(sentence: str, hint: str) -> str:
    """What stands there when a link names a video that is not the asker's or is gone."""
    return (
        f'<section class="job failed"><div class="job-words">'
        f'<p class="job-label" role="status">{html.escape(sentence)}</p>'
        f'<p class="job-detail">{html.escape(hint)}</p></div>'
        f'<div class="job-buttons">{button_html("another", "", say("job.another"))}</div></section>'
    )


def recent_html(views: list[JobView]) -> str:
    """The list of recent videos, newest first."""
    heading = f"<h2>{html.escape(say('recent.title'))}</h2>"
    if not views:
        return (
            f'<section class="recent">{heading}<p>{html.escape(say("recent.empty"))}</p></section>'
        )
    cards = "".join(_card_html(view) for view in views)
    return f'<section class="recent">{heading}<ul>{cards}</ul></section>'


def notes_html(view: JobView) -> str:
    """What to know about a finished video; nothing when there is nothing."""
    if not view.notes:
        return ""
    notes = "".join(f"<li>{html.escape(note)}</li>" for note in view.notes)
    return f'<ul class="job-notes" aria-label="{html.escape(say("job.notes"))}">{notes}</ul>'


def _live_html(live: str) -> str:
    """The newest frame; its place is kept from the start, so that nothing jumps."""
    if not live:
        return '<div class="live"></div>'
    alt = html.escape(say("job.live"))
    # Decoded before it is drawn: the picture changes without a blank moment.
    return (
        f'<div class="live"><img src="data:image/jpeg;base64,{live}" alt="{alt}" decoding="sync">'
        "</div>"
    )


def _stage_html(view: JobView, live: str) -> str:
    if view.percent is not None:
        label = html.escape(say("job.progress", title=view.title))
        percent = html.escape(say("job.percent", percent=view.percent))
        note = html.escape(say("job.close_note"))
        return (
            f'<div class="job-stage making">{_live_html(live)}<div>'
            f'<div class="bar" role="progressbar" aria-label="{label}" '
            f'aria-valuemin="0" aria-valuemax="100" aria-valuenow="{view.percent}">'
            f'<i style="width:{view.percent}%"></i></div>'
            f'<span class="bar-text">{percent}</span><p class="bar-note">{note}</p></div></div>'
        )
    if "video" not in view.files:
        return '<div class="job-stage"></div>'
    label = say("job.video_label", title=view.title)
    player = video_html(view, label, 'preload="metadata"')
    return f'<div class="job-stage">{player}</div>'


def video_html(view: JobView, label: str, attributes: str) -> str:
    """The player of a finished video, with its poster and captions where there are any.

    Args:
        view: the job; its files hold a video.
        label: what is read aloud.
        attributes: further ones of the element, as HTML.
    """
    poster = f' poster="{view.files["poster"]}"' if "poster" in view.files else ""
    track = ""
    if "vtt" in view.files:
        captions = html.escape(say("job.captions_track"))
        track = f'<track kind="captions" src="{view.files["vtt"]}" label="{captions}">'
    return (
        f"<video controls playsinline {attributes}{poster} "
        f'src="{view.files["video"]}" aria-label="{html.escape(label)}">{track}</video>'
    )


def _buttons_html(view: JobView) -> str:
    buttons = []
    if "video" in view.files:
        buttons.append(download_html(view, "video", say("job.download"), "primary"))
    if "srt" in view.files:
        buttons.append(download_html(view, "srt", say("job.captions"), ""))
    for kind in ("contents", "clips"):
        if kind in view.files:
            buttons.append(download_html(view, kind, say(f"job.{kind}"), ""))
    if view.can_cancel:
        buttons.append(button_html("cancel", view.job_id, say("job.cancel")))
    if view.can_retry:
        buttons.append(button_html("retry", view.job_id, say("job.retry"), "primary"))
    if view.job_id:
        buttons.append(copy_link_html(view))
    if view.is_final:
        buttons.append(button_html("another", view.job_id, say("job.another")))
    return f'<div class="job-buttons">{"".join(buttons)}</div>'


def copy_link_html(view: JobView) -> str:
    """A button that copies the job's own link; works in this browser and account alone."""
    done = html.escape(say("job.link_copied"))
    return (
        f'<button type="button" class="plain" data-copy-job="{html.escape(view.job_id)}" '
        f'data-done="{done}">{html.escape(say("job.copy_link"))}</button>'
    )


def _card_html(view: JobView) -> str:
    title = html.escape(view.title)
    poster = '<span class="poster"></span>'
    if "poster" in view.files:
        alt = html.escape(say("recent.poster", title=view.title))
        poster = f'<img class="poster" loading="lazy" src="{view.files["poster"]}" alt="{alt}">'
    status = html.escape(say(f"status.{view.status}"))
    open_label = html.escape(say("recent.open_label", title=view.title))
    actions = button_html("open", view.job_id, say("recent.open"), label=open_label)
    if "video" in view.files:
        label = html.escape(say("recent.download_label", title=view.title))
        actions += download_html(view, "video", say("job.download"), "", label=label)
    return (
        f'<li class="card {view.status}">{poster}<div class="card-text"><b dir="auto">{title}</b>'
        f'<span class="pill">{status}</span><span class="age">{html.escape(view.age)}</span></div>'
        f'<div class="card-buttons">{actions}'
        f"{delete_html(view)}</div></li>"
    )


def delete_html(view: JobView) -> str:
    """The word Delete, which asks before it does it."""
    label = html.escape(say("recent.delete_label", title=view.title))
    return (
        f'<details class="confirm"><summary aria-label="{label}">'
        f"{html.escape(say('recent.delete'))}</summary>"
        f"<div><span>{html.escape(say('recent.confirm'))}</span>"
        f"{button_html('delete', view.job_id, say('recent.confirm_yes'), 'stop')}"
        f"{button_html('keep', view.job_id, say('recent.confirm_no'))}</div></details>"
    )


def button_html(action: str, job_id: str, text: str, css: str = "", *, label: str = "") -> str:
    """A button that reaches Python; `label`, escaped, is what screen readers say."""
    aria = f' aria-label="{label}"' if label else ""
    goal = _GOALS.get(action)
    scroll = f' data-scroll="{goal}"' if goal else ""
    return (
        f'<button type="button" class="plain {css}" data-action="{action}" '
        f'data-job="{html.escape(job_id)}"{scroll}{aria}>{html.escape(text)}</button>'
    )


def download_html(view: JobView, kind: str, text: str, css: str, *, label: str = "") -> str:
    """A link that saves a finished file; `label`, escaped, is what screen readers say."""
    aria = f' aria-label="{label}"' if label else ""
    return (
        f'<a class="plain {css}" href="{view.files[kind]}?download=1" download{aria}>'
        f"{html.escape(text)}</a>"
    )
