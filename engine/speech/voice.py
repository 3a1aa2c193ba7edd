"""The seam between a text and whatever speaks it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from engine.contracts import VoiceInfo
from engine.errors import EngineError


@dataclass(frozen=True)
class TimedPhoneme:
    """One sound. `ipa` without stress marks, `start_s` and `end_s` on the clip's clock."""

    ipa: str
    start_s: float
    end_s: float


@dataclass(frozen=True)
class TimedWord:
    """One word as it stood in the text, on the clip's clock."""

    text: str
    start_s: float
    end_s: float


@dataclass(frozen=True)
class SpokenClip:
    """What a voice made of a text.

    Attributes:
        samples: float32 mono, -1..1.
        sample_rate_hz: of `samples`.
        words: in order; may be empty when a back end gives none.
        phonemes: in order, silences left out; against the sound (engine offsets removed). Empty,
            like `words`, when a back end gives no times.
        voice_id: which voice spoke.
        language: BCP 47 tag it spoke.
        notes: what was left out or done differently, as `ErrorCode` values.
    """

    samples: NDArray[np.float32]
    sample_rate_hz: int
    words: tuple[TimedWord, ...]
    phonemes: tuple[TimedPhoneme, ...]
    voice_id: str
    language: str
    notes: tuple[str, ...] = ()

    @property
    def duration_s(self) -> float:
        """Length of the sound in seconds."""
        return len(self.samples) / self.sample_rate_hz


class SpeechEngine(Protocol):
    """One back end with one or more voices.

    Attributes:
        name: first part of its voices' ids.
        reads_also: scripts that its voices read beside those of their own language.
    """

    name: str
    reads_also: frozenset[str]

    def voices(self) -> Sequence[VoiceInfo]:
        """The voices it offers, without loading a model."""
        ...

    def speak(self, text: str, voice_id: str, language: str, speed: float) -> SpokenClip:
        """Speak one sentence or short paragraph of cleaned text.

        Raises:
            EngineError: VOICE_UNAVAILABLE when the back end cannot run here.
        """
        ...

    def reset(self) -> None:
        """Forget what earlier texts left behind, so that a text always sounds the same."""
        ...

    def unload(self) -> None:
        """Give back memory that is worth loading anew for the next text."""
        ...


@runtime_checkable
class LoadedEngine(Protocol):
    """A back end that has something to load."""

    def get_ready(self, voice_id: str) -> None:
        """Load what the voice needs, before anybody waits for it."""
        ...


@runtime_checkable
class SlowEngine(LoadedEngine, Protocol):
    """A back end whose whole sentences take longer to come than people like to wait.

    Attributes:
        first_characters: of a first piece that is heard within two seconds.
        next_characters: of the pieces behind it, whose speaking others listen through.
    """

    first_characters: int
    next_characters: int

    def interrupt(self) -> None:
        """Have the text that is spoken, in another thread, end with `Canceled`; until `reset`."""
        ...


@runtime_checkable
class StyledEngine(Protocol):
    """A back end that can be told how to say something."""

    def speak_styled(
        self, text: str, voice_id: str, language: str, speed: float, style: str
    ) -> SpokenClip:
        """As `SpeechEngine.speak`, in a style: one of the voice's own or any words."""
        ...


@runtime_checkable
class AbsentEngine(Protocol):
    """A back end that may be away for now, and then says why."""

    def fault(self) -> EngineError | None:
        """Why its voices are not listed; None when they are, or nobody asked for them."""
        ...


@runtime_checkable
class CardEngine(Protocol):
    """A back end whose networks lie on the graphics card, which videos need for themselves."""

    def free_card(self) -> None:
        """Give the card back."""
        ...
