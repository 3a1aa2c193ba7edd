"""The head of every page: the name, the language, the memory gauge."""

import html

import gradio as gr

from engine.settings import EngineSettings
from studio.locales import say
from studio.parts.action_html import create_action_html
from studio.parts.jobs_section import Head
from studio.parts.language_switch import create_language_switch


def create_head(settings: EngineSettings) -> Head:
    """Build the head.

    Args:
        settings: whose limits are told to strangers.

    Returns:
        The gauge and the banner, still empty.
    """
    with gr.Row(elem_id="head"):
        gr.HTML(_brand_html(settings), elem_id="brand", apply_default_css=False)
        create_language_switch()
        gauge = gr.HTML(elem_id="gauge", apply_default_css=False)
    return Head(gauge, create_action_html("banner"))


def _brand_html(settings: EngineSettings) -> str:
    title, tagline = (html.escape(say(f"page.{key}")) for key in ("title", "tagline"))
    told = say("page.privacy")
    if settings.is_public:
        told = say("page.privacy_public", hours=round(settings.result_days * 24))
    privacy = html.escape(told)
    return f"<h1>{title}</h1><p>{tagline} <small>{privacy}</small></p>"
