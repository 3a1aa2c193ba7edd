"""What every page and part is handed: the engine, its limits, and who is asking."""

from dataclasses import dataclass

from engine.api import StudioEngine
from engine.settings import EngineSettings
from studio.history import GaugeHistory
from studio.session import Visitors


@dataclass(frozen=True)
class Studio:
    """The things a page needs, made once at start."""

    engine: StudioEngine
    settings: EngineSettings
    visitors: Visitors
    history: GaugeHistory
