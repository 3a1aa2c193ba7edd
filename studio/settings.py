"""What the web page needs beside the engine's settings: where it listens and what is refused."""

import socket

from pydantic import AliasChoices, Field
from pydantic_settings import BaseSettings, SettingsConfigDict

from studio.exposure import CannotStart
from studio.locales import say

DEFAULT_PORT = 7860
NUM_PORTS_TRIED = 20


class StudioSettings(BaseSettings):
    """Where the page listens, from `STUDIO_...`; Gradio's own two variables count as well."""

    model_config = SettingsConfigDict(frozen=True, extra="ignore", populate_by_name=True)

    host: str = Field(
        default="127.0.0.1",
        validation_alias=AliasChoices("STUDIO_HOST", "GRADIO_SERVER_NAME"),
    )
    """Address to listen on; anything but this computer itself needs accounts."""

    port: int | None = Field(
        default=None,
        ge=1,
        le=65535,
        validation_alias=AliasChoices("STUDIO_PORT", "GRADIO_SERVER_PORT"),
    )
    """Port to listen on; None = the first free one from 7860 on."""

    mcp: bool = Field(default=False, validation_alias="STUDIO_MCP")
    """Whether other programs may reach the endpoints over the Model Context Protocol."""

    auth_header: str | None = Field(default=None, validation_alias="STUDIO_AUTH_HEADER")
    """Header in which a trusted proxy names who asks, such as `X-Forwarded-User`."""

    auth_dependency: str | None = Field(default=None, validation_alias="STUDIO_AUTH_DEPENDENCY")
    """`module:NAME` of a function of yours: takes the request, returns the user's name or None."""

    auth_owner: str | None = Field(default=None, validation_alias="STUDIO_AUTH_OWNER")
    """Who of those may see the System page; None = nobody. Accounts of ours say it themselves."""

    trusted_proxies: str = Field(default="", validation_alias="STUDIO_TRUSTED_PROXIES")
    """Addresses and networks whose `X-Forwarded-...` headers are believed, divided by commas."""

    unsafe_public_without_auth: bool = Field(
        default=False, validation_alias="STUDIO_UNSAFE_PUBLIC_WITHOUT_AUTH"
    )
    """Let anybody in who can reach the address, with the owner's limits; a red banner tells it."""

    @property
    def proxies(self) -> tuple[str, ...]:
        """The trusted proxies one by one."""
        return tuple(filter(None, (part.strip() for part in self.trusted_proxies.split(","))))


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


def _is_free(host: str, port: int) -> bool:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host.strip("[]"), port))
        except OSError:
            return False
    return True
