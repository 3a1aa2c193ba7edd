"""Who is asking: the account, else a signed cookie. Nothing else reads `gr.Request`.

With accounts, `studio.guard` has found out who is logged in before anything here is asked.

A visitor gets a random id in a signed cookie with the first page. A program that calls the
endpoints keeps the cookie of its first answer; one that cannot keep cookies is known by its
session, and one without either shares the name `local`. All programs that come over MCP share
one name while the studio runs, because Gradio passes their calls on as one client.
"""

import base64
import hashlib
import hmac
import secrets
import time
from http.cookies import CookieError, SimpleCookie
from pathlib import Path

import gradio as gr
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

COOKIE_NAME = "sonic_studio_visitor"
COOKIE_AGE_S = 365 * 24 * 3600
LOCAL_OWNER = "local"

# How long a link to a finished file works that a program got from the `job` endpoint.
TICKET_AGE_S = 24 * 3600

# The first thing a Gradio client asks for; beside it every page hands out the cookie.
_CLIENT_PATH = "/config"

_KEY_BYTES = 32

# What the gates in front leave in the scope of a request.
USER_KEY = "sonic_studio.user"
FROM_PROXY_KEY = "sonic_studio.from_proxy"


class Signer:
    """Signs short texts, and knows its own signatures."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def signed(self, content: str) -> str:
        """A text that can travel through other hands, with its signature."""
        encoded = base64.urlsafe_b64encode(content.encode()).decode().rstrip("=")
        return f"{encoded}.{self._mac(encoded)}"

    def verified(self, signed: str | None) -> str | None:
        """The text that was signed, or None when it is not ours or was changed."""
        encoded, _, mac = (signed or "").partition(".")
        if not hmac.compare_digest(mac.encode(), self._mac(encoded).encode()):
            return None
        return base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)).decode()

    def _mac(self, encoded: str) -> str:
        return hmac.new(self._key, encoded.encode(), hashlib.sha256).hexdigest()


class Visitors:
    """Tells people apart.

    Attributes:
        signer: with the key of this installation.

    Args:
        key: of this installation.
        is_public: whether strangers may come.
    """

    def __init__(self, key: bytes, *, is_public: bool = False) -> None:
        self.signer = Signer(key)
        self._is_public = is_public

    @classmethod
    def load(cls, key_path: Path, *, is_public: bool = False) -> "Visitors":
        """Read the key, or make one that only this user can read."""
        key_path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with key_path.open("xb") as file:
                key_path.chmod(0o600)
                file.write(secrets.token_bytes(_KEY_BYTES))
        except FileExistsError:
            pass
        return cls(key_path.read_bytes(), is_public=is_public)

    def new_cookie(self) -> str:
        """A signed cookie value for a visitor never seen before."""
        return self.signer.signed(f"visitor:{secrets.token_hex(16)}")

    def owner_of(self, request: gr.Request | None) -> str:
        """The name under which the asker's videos are kept."""
        if request is None:
            return self._unnamed()
        user = self.user_of(request)
        if user:
            return f"account:{user}"
        cookies = getattr(_plain(request), "cookies", {}) or {}
        visitor = self.owner_of_cookie(cookies.get(COOKIE_NAME))
        if visitor is not None:
            return visitor
        session_hash = getattr(request, "session_hash", None)
        if session_hash:
            return f"client:{hashlib.sha256(session_hash.encode()).hexdigest()[:32]}"
        return self._unnamed()

    def tab_of(self, request: gr.Request | None) -> str:
        """A name of the open page itself: one visitor may have several."""
        return str(getattr(request, "session_hash", None) or self.owner_of(request))

    def _unnamed(self) -> str:
        """Who cannot be told apart: the user of this computer, but for strangers somebody new."""
        return f"nobody:{secrets.token_hex(16)}" if self._is_public else LOCAL_OWNER

    def user_of(self, request: gr.Request | None) -> str | None:
        """The name of the account that is logged in."""
        named = getattr(request, "username", None)
        scope = getattr(_plain(request), "scope", None) or {}
        user = named or scope.get(USER_KEY)
        return str(user) if user else None

    def owner_of_web(self, request: Request) -> str | None:
        """The same for a plain web request; None when nobody is named in it."""
        user = request.scope.get(USER_KEY)
        if user:
            return f"account:{user}"
        return self.owner_of_cookie(cookie_in(request.headers))

    def address_of(self, request: gr.Request | None) -> str | None:
        """Where the asker asks from; None where it cannot be told."""
        return getattr(getattr(request, "client", None), "host", None)

    def owner_of_cookie(self, cookie: str | None) -> str | None:
        """The visitor a cookie names, or None when it is missing or not ours."""
        content = self.signer.verified(cookie)
        return content if content is not None and content.startswith("visitor:") else None

    def ticket(self, owner: str, job_id: str) -> str:
        """A key that opens the files of one job for a day, for callers without a cookie."""
        return self.signer.signed(f"{int(time.time()) + TICKET_AGE_S}|{job_id}|{owner}")

    def owner_of_ticket(self, ticket: str | None, job_id: str) -> str | None:
        """Whose job a ticket opens, or None when it is not ours, too old or for another job."""
        content = self.signer.verified(ticket)
        if content is None or content.count("|") < 2:
            return None
        expires, ticket_job, owner = content.split("|", 2)
        if not expires.isdecimal() or int(expires) < time.time() or ticket_job != job_id:
            return None
        return owner


def _plain(request: gr.Request | None) -> object:
    """The web request within Gradio's own kind; over MCP, Gradio hands on a plain one."""
    return getattr(request, "request", request)


def wanted_job(request: gr.Request | None) -> str:
    """The job id of a link such as `/?job=<id>`, or an empty string."""
    query = getattr(_plain(request), "query_params", None) or {}
    return str(query.get("job", ""))


def base_url(request: gr.Request | None) -> str:
    """The address the asker used, such as `http://127.0.0.1:7860/`."""
    return str(getattr(_plain(request), "base_url", "/"))


def cookie_in(headers: Headers, name: str = COOKIE_NAME) -> str | None:
    """A cookie among the headers of a plain web request, the visitor's when no other is named."""
    try:
        morsel = SimpleCookie(headers.get("cookie", "")).get(name)
    except CookieError:
        return None
    return morsel.value if morsel is not None else None


class VisitorCookie:
    """Hands a signed cookie to every visitor who comes without one."""

    def __init__(self, app: ASGIApp, visitors: Visitors) -> None:
        self.app = app
        self.visitors = visitors

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on; add the cookie to the answer where one is due."""
        if scope["type"] != "http" or self._is_known(scope):
            await self.app(scope, receive, send)
            return
        is_secure = scope.get("scheme") == "https"

        async def send_with_cookie(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                is_page = headers.get("content-type", "").startswith("text/html")
                if is_page or scope["path"] == _CLIENT_PATH:
                    headers.append("set-cookie", self._header(is_secure))
            await send(message)

        await self.app(scope, receive, send_with_cookie)

    def _is_known(self, scope: Scope) -> bool:
        return self.visitors.owner_of_cookie(cookie_in(Headers(scope=scope))) is not None

    def _header(self, is_secure: bool) -> str:
        flags = f"Max-Age={COOKIE_AGE_S}; Path=/; HttpOnly; SameSite=Lax"
        secure = "; Secure" if is_secure else ""
        return f"{COOKIE_NAME}={self.visitors.new_cookie()}; {flags}{secure}"
