"""How people come in, put together from the settings: who they are, which gates they pass."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from starlette.middleware import Middleware
from starlette.requests import Request

from engine.accounts import Accounts
from engine.settings import EngineSettings
from studio.exposure import CannotStart, Exposure
from studio.gate import PublicLimits, TrustedProxies
from studio.guard import Guard
from studio.language import PageLanguage
from studio.locales import say
from studio.login import AccountLogin, Authenticator, FunctionLogin, ProxyLogin
from studio.session import USER_KEY, VisitorCookie, Visitors
from studio.settings import StudioSettings
from studio.upload_owners import NoteUploads, UploadOwners

# The tunnel of a public link ends on this computer; a Space stands behind proxies of its own.
_TUNNEL_PROXIES = ("127.0.0.1", "::1")
_ALL_PROXIES = ("*",)


@dataclass(frozen=True)
class Entrance:
    """The way in.

    Attributes:
        visitors: tells people apart.
        exposure: who may reach the page.
        authenticator: tells who is logged in; None where nobody needs to be.
        proxies: whose word about who asks is believed.
        uploads: who brought which file.
    """

    visitors: Visitors
    exposure: Exposure = field(default_factory=Exposure)
    authenticator: Authenticator | None = None
    proxies: Sequence[str] = ()
    uploads: UploadOwners = field(default_factory=UploadOwners)

    @classmethod
    def of(
        cls,
        settings: EngineSettings,
        studio: StudioSettings | None = None,
        exposure: Exposure | None = None,
    ) -> "Entrance":
        """Put it together.

        Args:
            settings: of a running engine.
            studio: of the page; None = the defaults.
            exposure: who may reach it; None = as the settings of the engine say.

        Raises:
            CannotStart: what should tell who asks cannot be used.
        """
        studio, exposure = studio or StudioSettings(), exposure or Exposure(settings.public)
        key_path = settings.data_dir / "keys" / "visitors.key"
        visitors = Visitors.load(key_path, is_public=exposure.is_open)
        login = _login(settings, studio, visitors) if exposure.mode == "accounts" else None
        proxies = studio.proxies
        if not proxies and exposure.on_space:
            proxies = _ALL_PROXIES
        elif not proxies and exposure.share:
            proxies = _TUNNEL_PROXIES
        return cls(visitors, exposure, login, proxies)

    def middleware(self) -> list[Middleware]:
        """The gates, the first one outermost."""
        gates = [Middleware(TrustedProxies, trusted=self.proxies)]
        if self.authenticator is not None:
            gates.append(Middleware(Guard, authenticator=self.authenticator))
        gates.append(Middleware(PageLanguage))
        if self.exposure.is_open:
            gates.append(Middleware(PublicLimits, visitors=self.visitors))
        return [
            *gates,
            Middleware(VisitorCookie, visitors=self.visitors),
            Middleware(NoteUploads, visitors=self.visitors, uploads=self.uploads),
        ]

    def launch_options(self) -> dict[str, Any]:
        """What Gradio has to know."""
        options: dict[str, Any] = {"share": self.exposure.share}
        if self.authenticator is not None:
            options["auth_dependency"] = _user_of
        return options


def _login(settings: EngineSettings, studio: StudioSettings, visitors: Visitors) -> Authenticator:
    if studio.auth_dependency:
        return FunctionLogin.of(studio.auth_dependency, studio.auth_owner)
    if studio.auth_header:
        if not studio.proxies:
            raise CannotStart(say("start.no_trusted_proxy", header=studio.auth_header))
        return ProxyLogin(studio.auth_header, studio.auth_owner)
    return AccountLogin(Accounts(settings.data_dir), visitors.signer)


def _user_of(request: Request) -> str | None:
    """Who the guard found."""
    user = request.scope.get(USER_KEY)
    return str(user) if user else None
