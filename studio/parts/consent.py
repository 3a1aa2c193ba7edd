"""The statement without which no video is made; the engine enforces it."""

import gradio as gr

from studio.locales import say


def create_consent_input() -> gr.Checkbox:
    """Build the box to tick."""
    return gr.Checkbox(label=say("consent.label"), elem_id="consent", container=False)
