"""Sonic Studio's engine: one portrait and speech become a lip-synced video.

Example::

    from engine import AnimateRequest, StudioEngine

    with StudioEngine() as engine:
        job = engine.submit(AnimateRequest(portrait="me.jpg", audio="me.wav", consent=True))
        done = engine.wait(job.job_id)
        print(engine.artifact_path(done.job_id, "video"))

The names are looked up when they are first used, so that a child process that needs none of
them starts without their imports.
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.api import StudioEngine
    from engine.contracts import AnimateRequest, RenderOptions, SpeechOptions
    from engine.errors import EngineError
    from engine.lecture.options import LectureOptions, LectureVoice
    from engine.lecture.request import LectureRequest
    from engine.settings import EngineSettings

_HOMES = {
    "StudioEngine": "engine.api",
    "AnimateRequest": "engine.contracts",
    "RenderOptions": "engine.contracts",
    "SpeechOptions": "engine.contracts",
    "EngineSettings": "engine.settings",
    "EngineError": "engine.errors",
    "LectureOptions": "engine.lecture.options",
    "LectureRequest": "engine.lecture.request",
    "LectureVoice": "engine.lecture.options",
}

__all__ = [
    "AnimateRequest",
    "EngineError",
    "EngineSettings",
    "LectureOptions",
    "LectureRequest",
    "LectureVoice",
    "RenderOptions",
    "SpeechOptions",
    "StudioEngine",
]


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'engine' has no attribute {name!r}")
    return getattr(importlib.import_module(home), name)
