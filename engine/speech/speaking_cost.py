"""How long a voice works on a text here, for the estimate of a video. Pure."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from engine.contracts import VoiceInfo


class _Cost(NamedTuple):
    """Seconds to load, and seconds of work for one second of speech, on two cores of a server."""

    load_s: float
    rate: float


# Measured (docs/voices.md) but for supertonic, whose makers name about this, qwen on a card and
# a server of which nothing is known.
_COSTS: Mapping[str, _Cost] = MappingProxyType(
    {
        "hibari": _Cost(1.0, 0.012),
        "kokoro": _Cost(1.0, 0.55),
        "espeak": _Cost(0.1, 0.002),
        "piper": _Cost(1.0, 0.12),
        "supertonic": _Cost(2.0, 0.3),
        "qwen": _Cost(20.0, 1.0),
        "server": _Cost(0.0, 0.5),
    }
)
_UNKNOWN = _Cost(1.0, 1.0)


def speaking_s(voice: VoiceInfo, duration_s: float) -> float:
    """Seconds a voice needs.

    Args:
        voice: who speaks.
        duration_s: of the speech.
    """
    cost = _COSTS.get(voice.engine, _UNKNOWN)
    return cost.load_s + cost.rate * duration_s
