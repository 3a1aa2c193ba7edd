"""Who is asking, where accounts are needed: a session cookie, a password, or a proxy's word."""

import base64
import binascii
import hashlib
import importlib
import inspect
import time
from collections.abc import Awaitable, Callable
from typing import Protocol

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from engine.accounts import Accounts
from studio.exposure import CannotStart
from studio.locales import say
from studio.session import FROM_PROXY_KEY, Signer, cookie_in
from studio.throttle import Throttle

SESSION_COOKIE = "sonic_studio_session"
SESSION_AGE_S = 7 * 24 * 3600

# Failed tries: of an address, of a name wherever they come from.
FAILURES_PER_MINUTE = 5
FAILURES_PER_NAME = 20
NAME_WINDOW_S = 900.0

# Programs send their password with every call; hashing it each time would cost 50 ms.
REMEMBERED_S = 300.0
MAX_REMEMBERED = 1000


class TooManyTries(Exception):
    """Somebody guesses passwords; `seconds` tells when the next try is allowed."""

    def __init__(self, seconds: float) -> None:
        super().__init__("too many tries")
        self.seconds = max(1, round(seconds))


class Authenticator(Protocol):
    """Tells who asks."""

    has_form: bool
    """Whether people log in here, with a form."""

    async def user_of(self, request: Request) -> str | None:
        """The account's name, or None when nobody is logged in.

        Raises:
            TooManyTries: a password is being guessed.
        """

    def is_owner(self, user: str) -> bool:
        """Whether this account may see what concerns everybody."""


class AccountLogin:
    """Accounts of ours: a form for people, HTTP Basic for programs.

    Args:
        accounts: of the installation.
        signer: signs the session cookies.
    """

    has_form = True

    def __init__(self, accounts: Accounts, signer: Signer) -> None:
        self._accounts, self._signer = accounts, signer
        self._by_address = Throttle(FAILURES_PER_MINUTE, 60.0)
        self._by_name = Throttle(FAILURES_PER_NAME, NAME_WINDOW_S)
        self._remembered: dict[bytes, tuple[float, str, str]] = {}

    async def user_of(self, request: Request) -> str | None:
        """See `Authenticator`."""
        user = self._user_of_cookie(cookie_in(request.headers, SESSION_COOKIE))
        if user is not None:
            return user
        return await self._user_of_password(request)

    def is_owner(self, user: str) -> bool:
        """See `Authenticator`."""
        account = self._accounts.find(user)
        return account is not None and account.is_owner

    async def log_in(self, name: str, password: str, address: str) -> str | None:
        """A session cookie for who knows the password; None for anybody else.

        Raises:
            TooManyTries: from this address, or for this name.
        """
        keys = (self._by_address, address), (self._by_name, name.strip().lower())
        for throttle, key in keys:
            wait_s = throttle.take(key)
            if wait_s > 0:
                raise TooManyTries(wait_s)
        account = await run_in_threadpool(self._accounts.log_in, name, password)
        if account is None:
            return None
        for throttle, key in keys:
            throttle.give_back(key)
        expires = int(time.time()) + SESSION_AGE_S
        return self._signer.signed(f"session:{expires}:{account.version}:{account.name}")

    def _user_of_cookie(self, cookie: str | None) -> str | None:
        content = self._signer.verified(cookie)
        kind, expires, version, name = ((content or "").split(":", 3) + [""] * 4)[:4]
        if kind != "session" or not expires.isdecimal() or int(expires) < time.time():
            return None
        account = self._accounts.find(name)
        return name if account is not None and account.version == version else None

    async def _user_of_password(self, request: Request) -> str | None:
        scheme, _, encoded = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "basic":
            return None
        key = hashlib.sha256(encoded.encode()).digest()
        now = time.monotonic()
        until, name, version = self._remembered.get(key, (0.0, "", ""))
        account = self._accounts.find(name) if until > now else None
        if account is not None and account.version == version:
            return name
        try:
            name, _, password = base64.b64decode(encoded, validate=True).decode().partition(":")
        except (binascii.Error, UnicodeDecodeError):
            return None
        address = request.client.host if request.client else ""
        if await self.log_in(name, password, address) is None:
            return None
        account = self._accounts.find(name)
        if account is None:
            return None
        if len(self._remembered) >= MAX_REMEMBERED:
            self._remembered.clear()
        self._remembered[key] = (now + REMEMBERED_S, account.name, account.version)
        return account.name


class ProxyLogin:
    """A proxy in front tells who asks in a header; only listed proxies are believed.

    Args:
        header: its name, such as `X-Forwarded-User`.
        owner: the name that may see what concerns everybody; None = nobody.
    """

    has_form = False

    def __init__(self, header: str, owner: str | None) -> None:
        self._header, self._owner = header, owner

    async def user_of(self, request: Request) -> str | None:
        """See `Authenticator`."""
        if not request.scope.get(FROM_PROXY_KEY, False):
            return None
        return request.headers.get(self._header, "").strip() or None

    def is_owner(self, user: str) -> bool:
        """See `Authenticator`."""
        return user == self._owner


class FunctionLogin:
    """A function of the owner's tells who asks.

    Args:
        function: takes the request, returns a name or None; may be a coroutine.
        owner: the name that may see what concerns everybody; None = nobody.
    """

    has_form = False

    def __init__(
        self, function: Callable[[Request], str | Awaitable[str | None] | None], owner: str | None
    ) -> None:
        self._function, self._owner = function, owner

    @classmethod
    def of(cls, place: str, owner: str | None) -> "FunctionLogin":
        """The function at `module:NAME`.

        Raises:
            CannotStart: there is none.
        """
        module, _, name = place.partition(":")
        try:
            function = getattr(importlib.import_module(module), name)
        except (ImportError, AttributeError, ValueError):
            function = None
        if not callable(function):
            raise CannotStart(say("start.no_auth_function", place=place))
        return cls(function, owner)

    async def user_of(self, request: Request) -> str | None:
        """See `Authenticator`."""
        told = self._function(request)
        user = await told if inspect.isawaitable(told) else told
        return user or None

    def is_owner(self, user: str) -> bool:
        """See `Authenticator`."""
        return user == self._owner
