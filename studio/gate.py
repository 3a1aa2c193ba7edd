"""What strangers may ask in a minute, how many files they may send at once, whose word counts.

Every limit is per person: the account, else the visitor's cookie, else the address.
"""

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any, cast

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from studio.language import language_of
from studio.locales import say, speaking
from studio.session import FROM_PROXY_KEY, Visitors
from studio.throttle import Throttle
from studio.upload_owners import UPLOAD_PATH

MINUTE_S = 60.0

# A page that is open asks about once a second, and two may be open.
CALLS_PER_MINUTE = 300
UPLOADS_PER_MINUTE = 20

# Others wait a little: a person chooses the photo and the recording shortly one after the other.
UPLOADS_AT_ONCE = 1
MAX_WAITING_UPLOADS = 4
UPLOAD_WAIT_S = 60.0

_CALL_PATHS = ("/gradio_api/queue/join", "/gradio_api/call", "/gradio_api/run", "/gradio_api/mcp")


class TrustedProxies:
    """Believes what proxies say about who asks, but only those that are listed.

    Args:
        app: what comes behind.
        trusted: addresses and networks, such as `10.0.0.0/8`; `*` = every one.
    """

    def __init__(self, app: ASGIApp, trusted: Sequence[str]) -> None:
        self.app = app
        # Starlette and uvicorn describe the same calls by different types.
        self._headers: Any = ProxyHeadersMiddleware(cast("Any", app), trusted_hosts=list(trusted))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Note whether a listed proxy asks, and whose request it hands on."""
        if scope["type"] == "http":
            peer = scope.get("client")
            is_proxy = peer is not None and peer[0] in self._headers.trusted_hosts
            scope[FROM_PROXY_KEY] = is_proxy
        await self._headers(scope, receive, send)


class PublicLimits:
    """Holds every stranger to a number of calls and uploads a minute.

    Args:
        app: what comes behind.
        visitors: tell who asks.
    """

    def __init__(self, app: ASGIApp, visitors: Visitors) -> None:
        self.app = app
        self._visitors = visitors
        self._calls = Throttle(CALLS_PER_MINUTE, MINUTE_S)
        self._uploads = Throttle(UPLOADS_PER_MINUTE, MINUTE_S)
        self._slots: dict[str, asyncio.Semaphore] = {}
        self._users: dict[str, int] = defaultdict(int)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or ask to come back later."""
        path = str(scope.get("path", "")).removeprefix(str(scope.get("root_path", "")))
        is_upload = path.rstrip("/") == UPLOAD_PATH
        is_call = path.startswith(_CALL_PATHS)
        if scope["type"] != "http" or not (is_upload or is_call):
            await self.app(scope, receive, send)
            return
        request = Request(scope)
        who = self._who(request)
        wait_s = (self._uploads if is_upload else self._calls).take(who)
        if wait_s > 0 or (is_upload and self._users[who] > MAX_WAITING_UPLOADS):
            await _later(request, wait_s)(scope, receive, send)
        elif is_upload:
            await self._in_turn(who, request, receive, send)
        else:
            await self.app(scope, receive, send)

    async def _in_turn(self, who: str, request: Request, receive: Receive, send: Send) -> None:
        """Take a file when the person's last one is here, or ask to come back later."""
        self._users[who] += 1
        slots = self._slots.setdefault(who, asyncio.Semaphore(UPLOADS_AT_ONCE))
        try:
            try:
                await asyncio.wait_for(slots.acquire(), UPLOAD_WAIT_S)
            except TimeoutError:
                await _later(request, UPLOAD_WAIT_S)(request.scope, receive, send)
                return
            try:
                await self.app(request.scope, receive, send)
            finally:
                slots.release()
        finally:
            self._users[who] -= 1
            if not self._users[who]:
                del self._users[who], self._slots[who]

    def _who(self, request: Request) -> str:
        address = request.client.host if request.client else ""
        return self._visitors.owner_of_web(request) or f"address:{address}"


def _later(request: Request, wait_s: float) -> JSONResponse:
    seconds = max(1, round(wait_s))
    with speaking(language_of(request.headers)):
        sentence = say("public.too_many_calls", seconds=seconds)
    return JSONResponse(
        {"detail": sentence}, HTTPStatus.TOO_MANY_REQUESTS, {"Retry-After": str(seconds)}
    )
