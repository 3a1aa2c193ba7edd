"""The head of every page: the name, the language, the memory gauge."""

import html

import gradio as gr

from studio.locales import say
from studio.parts.language_switch import create_language_switch


def create_head() -> gr.HTML:
    """Build the head.

    Returns:
        The gauge, still empty.
    """
    with gr.Row(elem_id="head"):
        gr.HTML(_brand_html(), elem_id="brand", apply_default_css=False)
        create_language_switch()
        return gr.HTML(elem_id="gauge", apply_default_css=False)


def _brand_html() -> str:
    title, tagline, privacy = (
        html.escape(say(f"page.{key}")) for key in ("title", "tagline", "privacy")
    )
    return f"<h1>{title}</h1><p>{tagline} <small>{privacy}</small></p>"
