"""The Help page: how it is done, what it can and cannot do, licences, consent, programs."""

import html

import gradio as gr

from studio.context import Studio
from studio.locales import say
from studio.parts.photo_tips import tips_html
from studio.privacy import privacy_words

_LISTS = {
    "steps": ("photo", "voice", "make"),
    "can": ("lite", "sonic", "voices", "length"),
    "cannot": ("side", "hands", "several", "singing"),
    "rules": ("consent", "label", "delete"),
    "trouble": ("slow", "memory", "mouth", "microphone"),
}

# Name, licence, what it is used for (a key).
LICENCES = (
    ("Sonic Studio", "Apache-2.0", "studio"),
    ("Hibari", "Apache-2.0", "voices"),
    ("Kokoro-82M", "Apache-2.0", "voices"),
    ("espeak-ng", "GPL-3.0-or-later", "espeak"),
    ("MediaPipe Face Mesh", "Apache-2.0", "faces"),
    ("Noto Sans", "OFL-1.1", "font"),
    ("Gradio", "Apache-2.0", "page"),
    ("Sonic", "CC BY-NC-SA 4.0", "sonic"),
    ("Stable Video Diffusion", "Stability AI Community License", "sonic"),
)


ADDRESS = "http://127.0.0.1:7860"
"""In the example for programs; the browser puts the one it came to in its place."""

_NAME_OWN_ADDRESS = """
  const address = window.location.origin + window.location.pathname.replace(/\\/+$/, '');
  element.querySelector('.own-address').textContent = address;
"""


def create_help_page(studio: Studio) -> None:
    """Build the page; nothing on it changes."""
    told = privacy_words(studio.settings, studio.exposure)
    gr.HTML(help_html(told), elem_id="help", js_on_load=_NAME_OWN_ADDRESS, apply_default_css=False)


def help_html(privacy: str) -> str:
    """The page.

    Args:
        privacy: where photos, recordings and videos go.
    """
    lines = {name: [say(f"help.{name}_{item}") for item in items] for name, items in _LISTS.items()}
    lines["rules"].append(privacy)
    lists = "".join(_list_html(name, told) for name, told in lines.items())
    tips = f"<section><h2>{_said('tips.title')}</h2>{tips_html()}</section>"
    rows = "".join(
        f'<tr><td lang="en">{html.escape(name)}</td><td lang="en">{html.escape(licence)}</td>'
        f"<td>{_said(f'licence.{use}')}</td></tr>"
        for name, licence, use in LICENCES
    )
    head = "".join(
        f'<th scope="col">{_said(f"licence.{name}")}</th>' for name in ("name", "is", "for")
    )
    licences = (
        f"<section><h2>{_said('licence.title')}</h2><p>{_said('licence.hint')}</p>"
        f'<div class="scroll" tabindex="0" role="region" aria-label="{_said("licence.title")}">'
        f"<table><thead><tr>{head}</tr></thead>"
        f"<tbody>{rows}</tbody></table></div></section>"
    )
    programs = (
        f"<section><h2>{_said('help.programs')}</h2><p>{_said('help.programs_text')}</p>"
        '<pre lang="en" dir="ltr"><code>from gradio_client import Client, handle_file\n'
        f'client = Client("<span class="own-address">{ADDRESS}</span>")\n'
        'client.predict(handle_file("me.jpg"), handle_file("me.wav"), "", {}, True, '
        'api_name="/submit")</code></pre></section>'
    )
    return f'<div class="help">{lists}{tips}{programs}{licences}</div>'


def _list_html(name: str, told: list[str]) -> str:
    lines = "".join(f"<li>{html.escape(line)}</li>" for line in told)
    kind = "ol" if name == "steps" else "ul"
    return f"<section><h2>{_said(f'help.{name}')}</h2><{kind}>{lines}</{kind}></section>"


def _said(key: str) -> str:
    return html.escape(say(key))
