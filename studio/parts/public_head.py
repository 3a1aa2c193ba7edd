"""What the head shows where others can come in: a red banner, who is logged in, the way out."""

import html

import gradio as gr

from studio.context import Studio
from studio.failures import guarded
from studio.locales import say


def create_public_head(studio: Studio) -> None:
    """Build what the way in asks for; nothing on a private installation."""
    if studio.exposure.is_unsafe:
        gr.HTML(
            f'<p class="unsafe" role="alert">{html.escape(say("public.unsafe"))}</p>',
            elem_id="unsafe",
            apply_default_css=False,
        )
    if studio.authenticator is None or not studio.authenticator.has_form:
        return
    who = gr.HTML(elem_id="account", apply_default_css=False)

    @guarded
    def show(request: gr.Request) -> str:
        return account_html(studio.visitors.user_of(request) or "")

    gr.on(None, show, None, who, api_visibility="private", show_progress="hidden")


def account_html(user: str) -> str:
    """The name and a button that logs out."""
    return (
        f'<form class="account" method="post" action="logout"><span>{html.escape(user)}</span> '
        f'<button class="plain">{html.escape(say("login.out"))}</button></form>'
    )
