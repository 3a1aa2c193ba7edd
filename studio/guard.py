"""The gate in front of everything: nobody gets past it who is not logged in."""

import html
import re
from http import HTTPStatus
from importlib import resources

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from studio.language import language_of
from studio.locales import current_locale, say, speaking
from studio.login import (
    SESSION_AGE_S,
    SESSION_COOKIE,
    AccountLogin,
    Authenticator,
    TooManyTries,
)
from studio.session import USER_KEY

LOGIN_PATH, LOGOUT_PATH = "/login", "/logout"
MAX_FORM_BYTES = 10_000

# A finished file is also opened by the signed ticket in its address; its route checks that.
_TICKET_PATH = re.compile(r"/artifacts/[0-9a-f]{32}/[a-z]+")
# Gradio asks itself there whether it has started; the answer says nothing else.
_STARTED_PATH = "/gradio_api/startup-events"
_QUERY = re.compile(r"[\w=&.-]{0,200}")

_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}


class Guard:
    """Lets in who is logged in and answers everybody else itself.

    Args:
        app: what is guarded.
        authenticator: tells who asks.
    """

    def __init__(self, app: ASGIApp, authenticator: Authenticator) -> None:
        self.app = app
        self._authenticator = authenticator

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer or pass on one request."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        elif scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
        else:
            request = Request(scope, receive)
            with speaking(language_of(request.headers)):
                answer = await self._answer(request)
            await (answer or self.app)(scope, receive, send)

    async def _answer(self, request: Request) -> Response | None:
        """What is answered at the gate; None lets the request pass."""
        path = _path(request.scope)
        form = self._authenticator if isinstance(self._authenticator, AccountLogin) else None
        if form is not None and path == LOGIN_PATH:
            return await _log_in(request, form)
        if form is not None and path == LOGOUT_PATH and request.method == "POST":
            return _logged_out()
        try:
            user = await self._authenticator.user_of(request)
        except TooManyTries as error:
            return _too_many(request, error)
        if user is not None:
            request.scope[USER_KEY] = user
        if user is not None or _is_open(request, path):
            return None
        if form is not None and _wants_page(request):
            return _form(request, say("login.hint"), HTTPStatus.UNAUTHORIZED)
        return _refusal(HTTPStatus.UNAUTHORIZED, say("login.needed"), basic=form is not None)


def _is_open(request: Request, path: str) -> bool:
    """Whether a request needs no login: it tells nothing, or carries a ticket of ours."""
    is_with_ticket = _TICKET_PATH.fullmatch(path) and "ticket" in request.query_params
    return path == _STARTED_PATH or bool(is_with_ticket)


def _logged_out() -> Response:
    answer = RedirectResponse("./", HTTPStatus.SEE_OTHER, _HEADERS)
    answer.delete_cookie(SESSION_COOKIE)
    return answer


async def _log_in(request: Request, login: AccountLogin) -> Response:
    if request.method != "POST":
        return _form(request, say("login.hint"), HTTPStatus.OK)
    given = await _given(request)
    if given is None:
        return _refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, say("login.wrong"))
    name, password = str(given.get("username", "")), str(given.get("password", ""))
    address = request.client.host if request.client else ""
    try:
        cookie = await login.log_in(name, password, address)
    except TooManyTries as error:
        return _too_many(request, error)
    if cookie is None:
        if _wants_page(request):
            return _form(request, say("login.wrong"), HTTPStatus.UNAUTHORIZED)
        return _refusal(HTTPStatus.UNAUTHORIZED, say("login.wrong"))
    answer: Response = JSONResponse({"success": True}, headers=_HEADERS)
    if _wants_page(request):
        query = str(given.get("query", ""))
        query = f"?{query}" if query and _QUERY.fullmatch(query) else ""
        answer = RedirectResponse(f"./{query}", HTTPStatus.SEE_OTHER, _HEADERS)
    answer.set_cookie(
        SESSION_COOKIE,
        cookie,
        max_age=SESSION_AGE_S,
        httponly=True,
        samesite="lax",
        secure=_is_secure(request),
    )
    return answer


async def _given(request: Request) -> FormData | None:
    """The fields of the form; None when more was sent than a form has."""
    length = request.headers.get("content-length", "")
    if not length.isdecimal() or int(length) > MAX_FORM_BYTES:
        return None
    return await request.form(max_files=0, max_fields=10)


def _form(request: Request, sentence: str, status: HTTPStatus) -> HTMLResponse:
    depth = max(0, _path(request.scope).count("/") - 1)
    words = {
        name: html.escape(say(f"login.{name}")) for name in ("title", "name", "password", "go")
    }
    query = request.url.query if _QUERY.fullmatch(request.url.query) else ""
    locale = current_locale()
    page = (
        resources.files("studio")
        .joinpath("login.html")
        .read_text("utf-8")
        .format(
            **words,
            language=locale.tag.replace("_", "-"),
            direction=locale.direction,
            studio=html.escape(say("page.title")),
            sentence=html.escape(sentence),
            action="../" * depth + LOGIN_PATH.lstrip("/"),
            query=html.escape(query),
        )
    )
    return HTMLResponse(page, status, _HEADERS)


def _too_many(request: Request, error: TooManyTries) -> Response:
    sentence = say("login.too_many", seconds=error.seconds)
    headers = {"Retry-After": str(error.seconds)}
    if _wants_page(request):
        answer: Response = _form(request, sentence, HTTPStatus.TOO_MANY_REQUESTS)
    else:
        answer = _refusal(HTTPStatus.TOO_MANY_REQUESTS, sentence)
    answer.headers.update(headers)
    return answer


def _refusal(status: HTTPStatus, sentence: str, *, basic: bool = False) -> JSONResponse:
    headers = {**_HEADERS, **({"WWW-Authenticate": 'Basic realm="Sonic Studio"'} if basic else {})}
    return JSONResponse({"detail": sentence}, status, headers)


def _wants_page(request: Request) -> bool:
    return "text/html" in request.headers.get("accept", "")


def _is_secure(request: Request) -> bool:
    forwarded = request.headers.get("x-forwarded-proto", "").partition(",")[0].strip()
    return "https" in (request.url.scheme, forwarded)


def _path(scope: Scope) -> str:
    path, root = str(scope["path"]), str(scope.get("root_path", ""))
    return path.removeprefix(root).rstrip("/") or "/"
