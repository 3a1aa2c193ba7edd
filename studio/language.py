"""Which language a visitor reads: the one they chose, else the browser's, else English.

The page is sent in that language at once; handlers answer in it.
"""

import functools
import gzip
import re
from collections.abc import Callable, Mapping, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any, ParamSpec, TypeVar

import gradio as gr
from gradio.context import LocalContext
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from studio.locales import DEFAULT_TAG, LOCALES, current_locale, speaking
from studio.locales.locale import Locale

# Of gzip; more would take longer than it saves.
PACKING = 5

LANGUAGE_COOKIE = "sonic_studio_language"

P = ParamSpec("P")
R = TypeVar("R")

_HTML_TAG = re.compile(rb"<html\s+lang=\"[^\"]*\"")
_HEAD_TAG = b"<head>"


def language_of(headers: Mapping[str, str]) -> str:
    """The tag of the language to answer in.

    Args:
        headers: of a request, their names in lower case.
    """
    try:
        chosen = SimpleCookie(headers.get("cookie", "")).get(LANGUAGE_COOKIE)
    except CookieError:
        chosen = None
    if chosen is not None and chosen.value in LOCALES:
        return chosen.value
    for wanted in _by_preference(headers.get("accept-language", "")):
        for tag in LOCALES:
            if wanted.partition("-")[0] == tag.lower().partition("-")[0]:
                return tag
    return DEFAULT_TAG


def _by_preference(accepted: str) -> list[str]:
    """The tags of an Accept-Language header in lower case, best first; refused ones left out."""
    weighted = []
    for part in accepted.lower().split(","):
        tag, _, weight = part.partition(";q=")
        try:
            quality = float(weight or 1)
        except ValueError:
            quality = 0.0
        if tag.strip() and quality > 0:
            weighted.append((quality, tag.strip()))
    return [tag for _, tag in sorted(weighted, key=lambda pair: -pair[0])]


def in_visitors_language(handler: Callable[P, R]) -> Callable[P, R]:
    """Let a handler of the page speak the language of whoever asks."""

    @functools.wraps(handler)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
        request: gr.Request | None = LocalContext.request.get(None)
        headers = getattr(request, "headers", None) or {}
        with speaking(language_of(headers)):
            return handler(*args, **kwargs)

    return wrapper


class PageLanguage:
    """Sends every answer in the visitor's language and marks the page with it."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on in the right language; mark the page itself with it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        with speaking(language_of(Headers(scope=scope))):
            is_page = scope["path"] == "/" and scope["method"] == "GET"
            packs = "gzip" in Headers(scope=scope).get("accept-encoding", "")
            await self.app(scope, receive, _PageMarker(send, packs=packs) if is_page else send)


class _PageMarker:
    """Holds a page back until it is complete, names its language in it, and packs it.

    Args:
        send: of the server.
        packs: whether the browser unpacks gzip: a fifth of the bytes, for those who come
            through a link.
    """

    def __init__(self, send: Send, *, packs: bool = False) -> None:
        self._send = send
        self._packs = packs
        self._start: MutableMapping[str, Any] | None = None
        self._body = b""

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._start = message
            return
        if message["type"] != "http.response.body" or self._start is None:
            await self._send(message)
            return
        self._body += message.get("body", b"")
        if message.get("more_body"):
            return
        locale = current_locale()
        body = mark_page(self._body, locale)
        headers = MutableHeaders(scope=self._start)
        if self._packs and "content-encoding" not in headers:
            body = gzip.compress(body, PACKING)
            headers["content-encoding"] = "gzip"
        headers["content-length"] = str(len(body))
        headers["content-language"] = locale.tag
        headers.add_vary_header("Accept-Language, Accept-Encoding, Cookie")
        await self._send(self._start)
        await self._send({**message, "body": body})


def mark_page(body: bytes, locale: Locale) -> bytes:
    """Name the language and its direction in a page, for the browser and for Gradio's words."""
    tag = locale.tag
    opening = f'<html lang="{tag}" dir="{locale.direction}"'.encode()
    # Gradio asks the browser which language its own words ("Drop file here") should have.
    script = (
        f"<script>Object.defineProperties(Navigator.prototype, {{language: {{get: () => '{tag}'}}, "
        f"languages: {{get: () => ['{tag}']}}}});</script>"
    )
    marked = _HTML_TAG.sub(opening, body, count=1)
    return marked.replace(_HEAD_TAG, _HEAD_TAG + script.encode(), 1)
