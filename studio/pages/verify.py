"""The Check a file page: is a video or sound labelled as made by AI, and was it left as it was."""

import html
from collections.abc import Iterator
from pathlib import Path

import gradio as gr

from engine.contracts import LabelCheck
from engine.errors import ErrorCode
from engine.provenance.facts import BUILT_IN_VOICE
from studio.context import Studio
from studio.failures import guarded
from studio.locales import decimal, explain, say
from studio.parts.uploads import FileUpload


def create_verify_page(studio: Studio) -> None:
    """Build the page and connect it.

    Args:
        studio: the engine; it opens the file in the limited lane for strangers' files.
    """
    with gr.Column(elem_id="verify"):
        gr.Markdown(say("verify.intro"), elem_classes="hint")
        upload = FileUpload(label=say("verify.upload"), elem_id="verify-upload")
        result = gr.HTML(elem_id="verify-result", apply_default_css=False)

    @guarded
    def examine(path: str | None) -> str:
        if path is None:
            return ""
        try:
            return check_html(studio.engine.verify(path))
        finally:
            Path(path).unlink(missing_ok=True)

    upload.upload(examine, upload, result, api_visibility="private", trigger_mode="once")
    upload.clear(lambda: "", None, result, api_visibility="private", show_progress="hidden")


def check_html(found: LabelCheck) -> str:
    """What was found, a line each, the verdict first; of a file without labels that alone."""
    if not found.has_label:
        return _check_html(say("verify.none"), "", "")
    verdict = say("verify.ok" if found.ok else "verify.not_ok")
    good = "".join(_line_html(sentence, "is-good", "✓") for sentence in _good(found))
    bad = "".join(_line_html(sentence, "is-bad", "✗") for sentence in _bad(found))
    told = "".join(_line_html(sentence, "", "·") for sentence in _told(found))
    return _check_html(verdict, "is-good" if found.ok else "is-bad", f"<ul>{bad}{good}{told}</ul>")


def _check_html(verdict: str, kind: str, lines: str) -> str:
    return (
        f'<div class="label-check" role="status"><h2 class="{kind}">{html.escape(verdict)}</h2>'
        f"{lines}</div>"
    )


def _line_html(sentence: str, kind: str, mark: str) -> str:
    return f'<li class="{kind}"><span aria-hidden="true">{mark}</span> {html.escape(sentence)}</li>'


def _good(found: LabelCheck) -> Iterator[str]:
    if found.visible_label is not None:
        yield say("verify.visible")
    if found.aigc is not None:
        yield say("verify.aigc", producer=found.aigc.get("ContentProducer") or "?")
    if found.xmp_says_ai:
        yield say("verify.xmp")
    if found.manifest == "valid" and found.signed_here:
        yield say("verify.manifest_here")
    elif found.manifest == "valid":
        yield say("verify.manifest_other", signer=found.signer or "?")
    if found.watermark:
        yield say("verify.watermark")


def _bad(found: LabelCheck) -> Iterator[str]:
    for code in found.problems:
        message = explain(ErrorCode(code))
        yield f"{message.sentence} {message.hint}"
    if found.watermark is False:
        yield say("verify.no_watermark")


def _told(found: LabelCheck) -> Iterator[str]:
    models = found.facts.get("models")
    if isinstance(models, list) and models:
        named = [say("verify.built_in") if model == BUILT_IN_VOICE else model for model in models]
        yield say("verify.models", models=", ".join(map(str, named)))
    if found.facts.get("consent"):
        yield say("verify.consent")
    share = found.sync.get("mouth_audio_correlation")
    if isinstance(share, int | float):
        yield say("verify.sync", share=decimal(float(share)))
