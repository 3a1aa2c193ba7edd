"""Every back end of the product, best first."""

from engine.settings import EngineSettings
from engine.speech.espeak import EspeakEngine
from engine.speech.hibari import HibariEngine
from engine.speech.kokoro import KokoroEngine
from engine.speech.piper import PiperEngine
from engine.speech.qwen import QwenEngine
from engine.speech.server import SpeechServerEngine
from engine.speech.supertonic import SupertonicEngine
from engine.speech.voice import SpeechEngine


def built_in_engines(settings: EngineSettings | None = None) -> tuple[SpeechEngine, ...]:
    """Fast before rich where both speak a language; those that a person must fetch behind.

    Args:
        settings: where downloads lie and whether there is a speech server; None = only what
            comes with the product.
    """
    espeak = EspeakEngine()
    built_in = (HibariEngine(), KokoroEngine(espeak), espeak)
    if settings is None:
        return built_in
    return (
        *built_in,
        PiperEngine(espeak, settings.weights_dir, settings.own_voices_dir / "piper"),
        SupertonicEngine(settings.weights_dir / "supertonic"),
        QwenEngine(settings.weights_dir, settings.qwen_env_dir),
        SpeechServerEngine(settings),
    )
