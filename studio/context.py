"""What every page and part is handed: the engine, its limits, and who is asking."""

from dataclasses import dataclass, field

import gradio as gr

from engine.api import StudioEngine
from engine.settings import EngineSettings
from studio.exposure import Exposure
from studio.history import GaugeHistory
from studio.login import Authenticator
from studio.session import Visitors
from studio.upload_owners import UploadOwners


@dataclass(frozen=True)
class Studio:
    """The things a page needs, made once at start."""

    engine: StudioEngine
    settings: EngineSettings
    visitors: Visitors
    history: GaugeHistory
    exposure: Exposure = field(default_factory=Exposure)
    authenticator: Authenticator | None = None
    uploads: UploadOwners = field(default_factory=UploadOwners)

    def may_manage(self, request: gr.Request | None) -> bool:
        """Whether who asks may see what concerns everybody: the machine, the whole queue."""
        if self.authenticator is not None:
            user = self.visitors.user_of(request)
            return user is not None and self.authenticator.is_owner(user)
        return not self.exposure.is_open
