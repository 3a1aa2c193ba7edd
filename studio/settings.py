"""What the web page needs beside the engine's settings: where it listens and what is refused."""

import ipaddress
import socket
from collections.abc import Mapping

from pydantic import AliasChoices, Field
from pydantic_settings import BaseSettings, SettingsConfigDict

from studio.locales import say

DEFAULT_PORT = 7860
NUM_PORTS_TRIED = 20

# Gradio obeys these silently; each would open the page further than the settings say.
_OPENING_VARIABLES = ("GRADIO_SHARE", "GRADIO_ALLOWED_PATHS", "GRADIO_MCP_SERVER")
# These count for it whatever their value: code that is edited through the page, pages of other
# origins let in, calls of visitors kept elsewhere.
_OPENING_WHEN_THERE = ("GRADIO_VIBE_MODE", "GRADIO_LOCAL_DEV_MODE", "GRADIO_HISTORY_BUCKET")


class StudioSettings(BaseSettings):
    """Where the page listens, from `STUDIO_...`; Gradio's own two variables count as well."""

    model_config = SettingsConfigDict(frozen=True, extra="ignore", populate_by_name=True)

    host: str = Field(
        default="127.0.0.1",
        validation_alias=AliasChoices("STUDIO_HOST", "GRADIO_SERVER_NAME"),
    )
    """Address to listen on; anything but this computer itself is refused without accounts."""

    port: int | None = Field(
        default=None,
        ge=1,
        le=65535,
        validation_alias=AliasChoices("STUDIO_PORT", "GRADIO_SERVER_PORT"),
    )
    """Port to listen on; None = the first free one from 7860 on."""

    mcp: bool = Field(default=False, validation_alias="STUDIO_MCP")
    """Whether other programs may reach the endpoints over the Model Context Protocol."""


class CannotStart(Exception):
    """The studio must not or cannot start; the text is one sentence for the person."""


def refuse_exposure(host: str, *, share: bool, environment: Mapping[str, str]) -> None:
    """Make sure that only this computer can reach the page.

    Args:
        host: address to listen on.
        share: whether a public link was asked for.
        environment: variables of the process.

    Raises:
        CannotStart: the page would be open to strangers.
    """
    if share:
        raise CannotStart(say("start.no_share"))
    if not _is_loopback(host):
        raise CannotStart(say("start.no_public_host", host=host))
    for name in _OPENING_VARIABLES:
        if environment.get(name, "").strip().lower() not in ("", "0", "false"):
            raise CannotStart(say("start.opening_variable", name=name))
    for name in _OPENING_WHEN_THERE:
        if name in environment:
            raise CannotStart(say("start.opening_variable", name=name))


def choose_port(host: str, wanted: int | None) -> int:
    """The port to listen on: the wanted one, else the first free one from 7860 on.

    Raises:
        CannotStart: the wanted port, or every port tried, is in use.
    """
    if wanted is not None:
        if not _is_free(host, wanted):
            raise CannotStart(say("start.port_busy", port=wanted))
        return wanted
    for port in range(DEFAULT_PORT, DEFAULT_PORT + NUM_PORTS_TRIED):
        if _is_free(host, port):
            return port
    raise CannotStart(say("start.no_port", first=DEFAULT_PORT, count=NUM_PORTS_TRIED))


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _is_free(host: str, port: int) -> bool:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host.strip("[]"), port))
        except OSError:
            return False
    return True
