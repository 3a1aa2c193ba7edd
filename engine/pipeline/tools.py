"""The models a child process keeps between tasks, each loaded when first needed."""

import sys
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from engine.animators.animator import Animator
from engine.animators.lite.animator import LiteAnimator
from engine.animators.sonic.animator import OnProgress
from engine.contracts import RenderOptions
from engine.face.detector import FaceFinder
from engine.lipsync.from_audio import Listener
from engine.machine import usable_cores
from engine.pipeline.sonic import sonic_for, takes_sonic
from engine.pipeline.time_speech import SpeechTimer
from engine.settings import EngineSettings
from engine.speech.catalog import VoiceCatalog
from engine.speech.engines import built_in_engines
from engine.speech.espeak import EspeakEngine

if TYPE_CHECKING:
    from engine.animators.sonic.shelf import WeightShelf


MAX_SEARCH_THREADS = 4
"""A photo is searched in some thirty squares."""


class Tools:
    """One of each model, shared by all tasks of one child process."""

    @cached_property
    def finder(self) -> FaceFinder:
        """Finds faces and their landmarks."""
        return FaceFinder(threads=min(usable_cores(), MAX_SEARCH_THREADS))

    @cached_property
    def listener(self) -> Listener:
        """Hears mouth curves in a recording."""
        return Listener()

    settings: EngineSettings | None = None
    """Where downloads of voices lie and whether there is a speech server; None = only what comes
    with the product."""

    def use(self, settings: EngineSettings) -> None:
        """Tell where things are; called with every task."""
        if settings != self.settings:
            self.settings = settings
            self.__dict__.pop("voices", None)

    @cached_property
    def voices(self) -> VoiceCatalog:
        """Speaks text; how long a text may be is checked where it comes in."""
        timer = SpeechTimer(lambda: self.listener, lambda: self._reference_voices)
        engines = built_in_engines(self.settings)
        return VoiceCatalog(engines, max_characters=sys.maxsize, timer=timer)

    @cached_property
    def _reference_voices(self) -> VoiceCatalog:
        """Those with times of their own, by which others are timed."""
        return VoiceCatalog([EspeakEngine()], max_characters=sys.maxsize)

    @cached_property
    def lite(self) -> LiteAnimator:
        """The embedded animator."""
        return LiteAnimator()

    @cached_property
    def shelf(self) -> "WeightShelf":
        """Weights of Sonic that wait in main memory between two jobs."""
        from engine.animators.sonic.shelf import WeightShelf  # noqa: PLC0415 - needs torch

        return WeightShelf()

    def require_animator(self, options: RenderOptions, settings: EngineSettings) -> None:
        """Make sure that the animator that was asked for is ready.

        Raises:
            InputError: ANIMATOR_UNAVAILABLE, or one of the WEIGHTS codes.
        """
        if options.animator == "sonic":
            sonic_for(options, settings).require_ready()

    def animator(
        self,
        options: RenderOptions,
        settings: EngineSettings,
        photo_size: tuple[int, int],
        on_share: OnProgress,
        keep_dir: Path,
    ) -> Animator:
        """The animator to use; `auto` takes sonic where it is ready and a card has room for it.

        Args:
            options: what was asked.
            settings: where weights lie.
            photo_size: width and height in pixels.
            on_share: told the share of the drawing that is done, 0-1; lite tells nothing.
            keep_dir: where finished pieces of a long video are kept for another attempt.

        Raises:
            InputError: ANIMATOR_UNAVAILABLE, or one of the WEIGHTS codes.
        """
        self.require_animator(options, settings)
        if takes_sonic(options, settings, photo_size):
            return sonic_for(options, settings, on_share, keep_dir, self.shelf)
        return self.lite
