"""The listen stage of a recording: what the mouth does, and when the given words are spoken."""

from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event

from engine.contracts import SpeechOptions
from engine.errors import Canceled, EngineError, ErrorCode
from engine.lipsync.align import align
from engine.lipsync.curves import CURVE_RATE_HZ, MouthCurves
from engine.lipsync.from_script import curves_from_script
from engine.pipeline.tools import Tools
from engine.speech.common_words import language_of
from engine.speech.espeak import ENGINE_NAME
from engine.speech.lexicon import Lexicon
from engine.speech.recognise import Recogniser
from engine.speech.voice import SpokenClip, TimedPhoneme, TimedWord

# Nobody says more in a second; what is longer is not worth reading.
_MAX_CHARACTERS_PER_S = 40
_SPARE_CHARACTERS = 200


@dataclass(frozen=True)
class Heard:
    """What a recording gave.

    Attributes:
        curves: what the mouth does.
        words, phonemes: of the given text, empty without one or when it does not fit.
        notes: why the text was not used, as `ErrorCode` values.
    """

    curves: MouthCurves
    words: tuple[TimedWord, ...] = ()
    phonemes: tuple[TimedPhoneme, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Script:
    """The known words of a recording.

    Attributes:
        text: as typed.
        language: BCP 47 tag; None = found out from the text.
    """

    text: str
    language: str | None = None

    @classmethod
    def of(cls, text: str | None, language: str | None) -> "Script | None":
        """The words, or None when there are none."""
        return cls(text, language) if text and text.strip() else None


def hear(
    wav: Path,
    script: Script | None,
    tools: Tools,
    canceled: Event,
    lexicon: Lexicon | None = None,
    recogniser: Recogniser | None = None,
) -> Heard:
    """Listen to a recording, with its words where they are known.

    A text that cannot be read, or that is not what is said, is left aside with a note.

    Args:
        wav: a sound file.
        script: the known words, if any.
        tools: models of this process.
        canceled: looked at while the text is read.
        lexicon: the person's own pronunciations.
        recogniser: writes down the words that are not known; None = they stay unknown.

    Raises:
        Canceled: when the user asked to stop.
    """
    curves = tools.listener.listen_wav(wav)
    if script is None:
        if recogniser is None:
            return Heard(curves)
        return _recognised(wav, curves, recogniser, (tools, canceled, lexicon))
    return _with_script(script, curves, (tools, canceled, lexicon))


_Means = tuple[Tools, Event, Lexicon | None]
"""What reading a text takes."""


def _recognised(wav: Path, curves: MouthCurves, recogniser: Recogniser, means: _Means) -> Heard:
    """With the words that the recogniser understood, timed by their sounds where they fit."""
    understood = recogniser.listen(wav, means[1])
    if not understood.words:
        return Heard(curves, notes=(ErrorCode.NOTHING_UNDERSTOOD.value,))
    script = Script(understood.text, understood.language)
    heard = _with_script(script, curves, means)
    notes = (ErrorCode.CAPTIONS_RECOGNISED.value,)
    return replace(heard, words=heard.words or understood.words, notes=notes)


def _with_script(script: Script, curves: MouthCurves, means: _Means) -> Heard:
    limit = round(len(curves) / CURVE_RATE_HZ * _MAX_CHARACTERS_PER_S) + _SPARE_CHARACTERS
    if len(script.text) > limit:
        return Heard(curves, notes=(ErrorCode.SCRIPT_MISMATCH.value,))
    try:
        spoken = _read(script, *means)
    except Canceled:
        raise
    except EngineError:
        return Heard(curves, notes=(ErrorCode.SCRIPT_UNREADABLE.value,))
    found = align(spoken, curves)
    if found is None or not found.belongs:
        return Heard(curves, notes=(ErrorCode.SCRIPT_MISMATCH.value,))
    notes = (ErrorCode.SCRIPT_PARTLY_SAID.value,) if found.has_unsaid_words else ()
    return Heard(curves_from_script(found, curves), found.words, found.phonemes, notes)


def _read(script: Script, tools: Tools, canceled: Event, lexicon: Lexicon | None) -> SpokenClip:
    """The text from the fastest voice, of which only sounds and lengths are used."""
    language = script.language or language_of(script.text)
    listed = tools.voices.voices(language)
    voice = next((voice.voice_id for voice in listed if voice.engine == ENGINE_NAME), None)
    speech = SpeechOptions(text=script.text, language=language, voice=voice)
    spoken = tools.voices.speak(speech, canceled, lexicon=lexicon)
    tools.voices.unload()
    return replace(spoken, samples=spoken.samples[:0])
