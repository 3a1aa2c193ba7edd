"""Where photos, recordings and videos go, in a sentence that holds in every mode. Pure."""

from engine.settings import EngineSettings
from studio.exposure import Exposure
from studio.locales import say

HOURS_PER_DAY = 24

# Up to here hours tell more than days.
MOST_HOURS = 48


def privacy_words(settings: EngineSettings, exposure: Exposure) -> str:
    """What the head of the page and the Help page say.

    Args:
        settings: how long things are kept, and which other computers take part.
        exposure: who may reach the page.
    """
    if not exposure.is_open:
        return say("page.privacy_helpers" if _has_helpers(settings) else "page.privacy")
    kept_for = _kept_for(settings.result_days)
    where = "page.privacy_space" if exposure.on_space else "page.privacy_kept"
    told = say(where, time=kept_for)
    return f"{told} {say('page.privacy_link')}" if exposure.share else told


def _has_helpers(settings: EngineSettings) -> bool:
    """Whether texts, photos or videos go to other computers that the owner named."""
    return bool(settings.speech_server_url or settings.backend == "celery" or settings.storage_url)


def _kept_for(days: float) -> str:
    hours = round(days * HOURS_PER_DAY)
    if hours <= MOST_HOURS:
        return say("time.hours", count=hours)
    return say("time.days", count=round(days))
