"""The models a child process keeps between tasks, each loaded when first needed."""

import sys
from functools import cached_property

from engine.animators.animator import Animator
from engine.animators.lite.animator import LiteAnimator
from engine.contracts import AnimatorChoice
from engine.errors import ErrorCode, InputError
from engine.face.detector import FaceFinder
from engine.lipsync.from_audio import Listener
from engine.speech.catalog import VoiceCatalog


class Tools:
    """One of each model, shared by all tasks of one child process."""

    @cached_property
    def finder(self) -> FaceFinder:
        """Finds faces and their landmarks."""
        return FaceFinder()

    @cached_property
    def listener(self) -> Listener:
        """Hears mouth curves in a recording."""
        return Listener()

    @cached_property
    def voices(self) -> VoiceCatalog:
        """Speaks text; how long a text may be is checked where it comes in."""
        return VoiceCatalog(max_characters=sys.maxsize)

    @cached_property
    def lite(self) -> LiteAnimator:
        """The embedded animator."""
        return LiteAnimator()

    def animator(self, choice: AnimatorChoice) -> Animator:
        """The animator to use for `choice`; `auto` takes the best one that is ready.

        Raises:
            InputError: ANIMATOR_UNAVAILABLE.
        """
        if choice == "sonic":
            raise InputError(
                ErrorCode.ANIMATOR_UNAVAILABLE,
                animator="sonic",
                reason="it is not part of this version",
            )
        return self.lite
