"""A dub on the page: how far it is, what became of each row, and the ZIP."""

import html

from engine.contracts import BatchPart, BatchRecord
from studio.locales import explain, language_name, say
from studio.parts.job_card import button_html, download_html
from studio.presenter import duration_words, present


def batches_html(batches: list[BatchRecord]) -> str:
    """The newest dubs: the first one open, the others folded."""
    if not batches:
        return ""
    first, *earlier = batches
    folded = "".join(
        f'<details class="batch-earlier"><summary>{html.escape(_sum(batch))}</summary>'
        f"{_batch_html(batch)}</details>"
        for batch in earlier
    )
    title = f"<h3>{html.escape(say('dub.earlier'))}</h3>" if earlier else ""
    return f"{_batch_html(first)}{title}{folded}"


def archive_address(batch_id: str) -> str:
    """Where the page gets the ZIP; the owner is checked there."""
    return f"/batches/{batch_id}/zip"


def _batch_html(batch: BatchRecord) -> str:
    section = html.escape(say("dub.section"))
    rows = "".join(_row_html(part) for part in batch.parts)
    left = ""
    if batch.seconds_left is not None:
        left = say("job.time_left", time=duration_words(batch.seconds_left))
    # What is read aloud changes with the number of ready videos only, not with every percent.
    return (
        f'<section class="job batch" aria-label="{section}">'
        f'<div class="job-head"><h2>{section}</h2>'
        f'<p class="job-title" dir="auto">{html.escape(batch.title)}</p></div>'
        f'<div class="job-words"><p class="job-label" role="status">{html.escape(_sum(batch))}</p>'
        f'<p class="job-detail">{html.escape(left)}</p></div>'
        f"{_bar_html(batch)}{_buttons_html(batch)}"
        f'<ol class="batch-rows">{rows}</ol></section>'
    )


def _sum(batch: BatchRecord) -> str:
    count, ready = len(batch.parts), batch.num_ready
    if ready == count:
        return say("dub.all_ready", count=count)
    return say("dub.ready" if batch.is_final else "dub.working", count=count, ready=ready)


def _bar_html(batch: BatchRecord) -> str:
    if batch.is_final:
        return ""
    percent = round(batch.percent)
    label = html.escape(say("job.progress", title=batch.title))
    return (
        f'<div class="job-stage"><div class="bar" role="progressbar" aria-label="{label}" '
        f'aria-valuemin="0" aria-valuemax="100" aria-valuenow="{percent}">'
        f'<i style="width:{percent}%"></i></div>'
        f'<span class="bar-text">{html.escape(say("job.percent", percent=percent))}</span>'
        f'<p class="bar-note">{html.escape(say("dub.close_note"))}</p></div>'
    )


def _buttons_html(batch: BatchRecord) -> str:
    buttons = []
    if batch.num_ready:
        text = say("dub.zip" if batch.is_final else "dub.zip_some")
        buttons.append(
            f'<a class="plain primary" href="{archive_address(batch.batch_id)}" download>'
            f"{html.escape(text)}</a>"
        )
    if not batch.is_final:
        buttons.append(button_html("dub-cancel", batch.batch_id, say("dub.cancel")))
    if batch.is_final and any(_can_retry(part) for part in batch.parts):
        buttons.append(button_html("dub-retry", batch.batch_id, say("dub.retry")))
    if batch.is_final:
        buttons.append(_delete_html(batch))
    return f'<div class="job-buttons">{"".join(buttons)}</div>'


def _can_retry(part: BatchPart) -> bool:
    return part.job is not None and part.is_final and not part.is_ready


def _delete_html(batch: BatchRecord) -> str:
    return (
        f'<details class="confirm"><summary>{html.escape(say("dub.delete"))}</summary>'
        f"<div><span>{html.escape(say('recent.confirm'))}</span>"
        f"{button_html('dub-delete', batch.batch_id, say('recent.confirm_yes'), 'stop')}"
        f"{button_html('keep', batch.batch_id, say('recent.confirm_no'))}</div></details>"
    )


def _row_html(part: BatchPart) -> str:
    language = language_name(part.language) if part.language else ""
    title = " · ".join(filter(None, (part.name, language))) or say("dub.row", number=part.number)
    state, pill, detail, actions = "failed", say("dub.refused"), "", ""
    percent = None
    if part.job is not None:
        view = present(part.job)
        state, pill, percent = view.status.value, say(f"status.{view.status}"), view.percent
        detail = f"{view.label} {view.detail}" if view.can_retry else view.detail
        if not view.is_final and part.seconds_left is not None:
            detail = say("job.time_left", time=duration_words(part.seconds_left))
        if "video" in view.files:
            label = html.escape(say("dub.open_label", title=title))
            save_label = html.escape(say("recent.download_label", title=title))
            actions = (
                f'<a class="plain" href="/?job={view.job_id}" aria-label="{label}">'
                f"{html.escape(say('dub.open'))}</a>"
                f"{download_html(view, 'video', say('job.download'), '', label=save_label)}"
            )
    elif part.error is not None:
        message = explain(part.error.code, dict(part.error.values))
        detail = f"{message.sentence} {message.hint}"
    else:
        state, pill = "canceled", say("dub.gone")
    spoken = ""
    if part.language:
        spoken = f'<span data-tag="{html.escape(part.language)}">{html.escape(language)}</span>'
    shown = " · ".join(filter(None, (html.escape(part.name), spoken))) or html.escape(title)
    bar = f'<div class="bar"><i style="width:{percent}%"></i></div>' if percent else ""
    return (
        f'<li class="card {state}"><div class="card-text"><b dir="auto">{shown}</b>'
        f'<span class="pill">{html.escape(pill)}</span>{bar}'
        f'<span class="detail">{html.escape(detail)}</span></div>'
        f'<div class="card-buttons">{actions}</div></li>'
    )
