"""The head of every page: the name, the language, the memory gauge."""

import html

import gradio as gr

from studio.context import Studio
from studio.locales import say
from studio.parts.action_html import create_action_html
from studio.parts.jobs_section import Head
from studio.parts.language_switch import create_language_switch
from studio.privacy import privacy_words


def create_head(studio: Studio) -> Head:
    """Build the head.

    Args:
        studio: tells where things are kept.

    Returns:
        The gauge and the banner, still empty.
    """
    with gr.Row(elem_id="head"):
        gr.HTML(_brand_html(studio), elem_id="brand", apply_default_css=False)
        create_language_switch()
        gauge = gr.HTML(elem_id="gauge", apply_default_css=False)
    return Head(gauge, create_action_html("banner"))


def _brand_html(studio: Studio) -> str:
    title, tagline = (html.escape(say(f"page.{key}")) for key in ("title", "tagline"))
    privacy = html.escape(privacy_words(studio.settings, studio.exposure))
    return f"<h1>{title}</h1><p>{tagline} <small>{privacy}</small></p>"
