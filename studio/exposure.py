"""Who may reach the page, decided before anything starts: refuse, or say in which mode."""

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from studio.locales import say

Mode = Literal["no", "accounts", "anonymous"]

# Gradio obeys these silently; each would open the page further than the settings say.
_OPENING_VARIABLES = ("GRADIO_SHARE", "GRADIO_ALLOWED_PATHS", "GRADIO_MCP_SERVER")
# These count for it whatever their value: code that is edited through the page, pages of other
# origins let in, calls of visitors kept elsewhere.
_OPENING_WHEN_THERE = (
    "GRADIO_VIBE_MODE", "GRADIO_LOCAL_DEV_MODE", "GRADIO_HISTORY_BUCKET", "GRADIO_WATCH_DIRS",
    "GRADIO_HOT_RELOAD",
)  # fmt: skip


class CannotStart(Exception):
    """The studio must not or cannot start; the text is one sentence for the person."""


@dataclass(frozen=True)
class Wish:
    """What was asked for.

    Attributes:
        host: address to listen on.
        share: whether a public link should be made.
        public: `STUDIO_PUBLIC`; None when it was not set.
        has_login: whether somebody can log in: an account, or a proxy that tells who asks.
        mcp: whether programs may come over the Model Context Protocol.
        without_auth: `STUDIO_UNSAFE_PUBLIC_WITHOUT_AUTH`.
    """

    host: str
    share: bool = False
    public: Mode | None = None
    has_login: bool = False
    mcp: bool = False
    without_auth: bool = False


@dataclass(frozen=True)
class Exposure:
    """What was decided.

    Attributes:
        mode: `no` = only this computer's user; `accounts` = who logs in; `anonymous` = anybody,
            told apart by a cookie, with the limits for strangers.
        share: whether a public link is made.
        is_unsafe: anybody may do anything, because the owner said so.
        on_space: this runs on computers of Hugging Face.
    """

    mode: Mode = "no"
    share: bool = False
    is_unsafe: bool = False
    on_space: bool = False

    @property
    def is_open(self) -> bool:
        """Whether others than this computer's user may come."""
        return self.mode != "no" or self.is_unsafe


def decide_exposure(wish: Wish, environment: Mapping[str, str]) -> Exposure:
    """Decide who may reach the page.

    Args:
        wish: what was asked for.
        environment: variables of the process.

    Raises:
        CannotStart: the page would be open to strangers without accounts, or wider than the
            settings say.
    """
    _refuse_variables(environment)
    public, on_space = wish.public, bool(environment.get("SPACE_ID"))
    if public is None and on_space:
        public = "anonymous"
    if public == "anonymous":
        if wish.mcp:
            raise CannotStart(say("start.mcp_needs_accounts"))
        return Exposure("anonymous", wish.share, on_space=on_space)
    is_open = wish.share or not is_loopback(wish.host)
    if public != "accounts" and not is_open:
        return Exposure()
    if wish.has_login:
        return Exposure("accounts", wish.share, on_space=on_space)
    if wish.without_auth:
        return Exposure("no", wish.share, is_unsafe=True, on_space=on_space)
    raise CannotStart(_why_not(wish))


def _refuse_variables(environment: Mapping[str, str]) -> None:
    for name in _OPENING_VARIABLES:
        if environment.get(name, "").strip().lower() not in ("", "0", "false"):
            raise CannotStart(say("start.opening_variable", name=name))
    for name in _OPENING_WHEN_THERE:
        if name in environment:
            raise CannotStart(say("start.opening_variable", name=name))


def _why_not(wish: Wish) -> str:
    if wish.public == "accounts":
        return say("start.no_account")
    return say("start.no_share") if wish.share else say("start.no_public_host", host=wish.host)


def is_loopback(host: str) -> bool:
    """Whether only this computer can reach what listens there."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
