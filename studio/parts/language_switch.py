"""The choice of the page's language; it is kept in a cookie and the page is loaded anew."""

import html

import gradio as gr

from studio.language import LANGUAGE_COOKIE
from studio.locales import LOCALES, current_locale, say

_YEAR_S = 365 * 24 * 3600

_ON_LOAD = f"""
element.addEventListener('change', (event) => {{
  const secure = window.location.protocol === 'https:' ? '; Secure' : '';
  document.cookie = '{LANGUAGE_COOKIE}=' + event.target.value
    + '; Max-Age={_YEAR_S}; Path=/; SameSite=Lax' + secure;
  window.location.reload();
}});
"""


def create_language_switch() -> None:
    """Build the list of languages, each under its own name."""
    gr.HTML(switch_html(), elem_id="language", js_on_load=_ON_LOAD, apply_default_css=False)


def switch_html() -> str:
    """The list, with the language spoken now chosen."""
    here = current_locale().tag
    options = "".join(
        f'<option value="{locale.tag}" lang="{locale.tag}"'
        f"{' selected' if locale.tag == here else ''}>{html.escape(locale.name)}</option>"
        for locale in LOCALES.values()
    )
    return (
        f'<select class="plain" aria-label="{html.escape(say("page.language"))}">{options}</select>'
    )
