"""All voices in one list, and a whole text from them: choose, split, speak, join.

A text is spoken by one voice; stretches in a writing system it cannot read go to a voice that
can, with a note. Nothing is ever spoken in another language without saying so.
"""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from threading import Event

from engine.contracts import SpeechOptions, VoiceInfo
from engine.errors import Canceled, EngineError, ErrorCode, InputError
from engine.speech.common_words import language_of
from engine.speech.engines import built_in_engines
from engine.speech.interrupting import interrupting
from engine.speech.joining import Part, as_typed, join, newest, trim
from engine.speech.languages import speaking, voice_distance
from engine.speech.lexicon import Lexicon
from engine.speech.mapped_text import MappedText
from engine.speech.scripts import guess_language, scripts_of
from engine.speech.sentences import Piece, by_script, soon_heard, split_sentences
from engine.speech.text import clean, is_speakable, make_speakable
from engine.speech.voice import (
    AbsentEngine,
    CardEngine,
    LoadedEngine,
    SlowEngine,
    SpeechEngine,
    SpokenClip,
    StyledEngine,
)

_MAX_CHARACTERS = 5000
_PIECE_CHARACTERS = 300
"""Longest piece given to a back end: about 20 s of speech, which keeps cancelling and progress
quick and stays under every back end's own limit."""
_DENSITY = 3  # an ideograph is a syllable
_PIECE_IDEOGRAPHS = _PIECE_CHARACTERS // _DENSITY
_SHOWN_CHARACTERS = 80  # of a sentence in an error

Timer = Callable[[SpokenClip, str], SpokenClip]
"""Finds the words and sounds of a text in a clip that has no times."""


@dataclass(frozen=True)
class _Task:
    """One piece and who speaks it."""

    piece: Piece
    voice: VoiceInfo


class VoiceCatalog:
    """Every voice of every back end that can run here."""

    def __init__(
        self,
        engines: Sequence[SpeechEngine] | None = None,
        max_characters: int = _MAX_CHARACTERS,
        timer: Timer | None = None,
    ) -> None:
        """Prepare; models are loaded with the first text.

        Args:
            engines: back ends, best first; None = all that come with the product.
            max_characters: longest text taken.
            timer: for voices that give no times; None = their clips have none.
        """
        found = built_in_engines() if engines is None else engines
        self._engines = {engine.name: engine for engine in found}
        self._max_characters = max_characters
        self._timer = timer

    def voices(self, language: str | None = None, *, with_missing: bool = False) -> list[VoiceInfo]:
        """Voices that speak a language, natural ones first, then the closest region.

        Args:
            language: BCP 47 tag; `en` finds `en-us` too. None = every voice.
            with_missing: list those too that a download would bring, behind the others.
        """
        everything = [voice for engine in self._engines.values() for voice in engine.voices()]
        listed = [voice for voice in everything if voice.installed]
        if with_missing:
            return self._ranked(language, listed) + self._ranked(
                language, [voice for voice in everything if not voice.installed]
            )
        return self._ranked(language, listed)

    @staticmethod
    def _ranked(language: str | None, listed: Sequence[VoiceInfo]) -> list[VoiceInfo]:
        if language is None:
            return sorted(listed, key=lambda voice: not voice.natural)
        ranked = [
            (not voice.natural, distance, index, speaking(voice, language))
            for index, voice in enumerate(listed)
            if (distance := voice_distance(language, voice)) is not None
        ]
        return [voice for *_, voice in sorted(ranked, key=lambda entry: entry[:3])]

    def choose(self, text: str, language: str | None, voice: str | None) -> VoiceInfo:
        """The voice that will speak.

        Args:
            text: cleaned text; its script tells the language when nothing else does.
            language: BCP 47 tag or None.
            voice: voice id or None; espeak takes a variant behind it: `espeak:de+f3`.

        Raises:
            InputError: VOICE_UNKNOWN, VOICE_NOT_INSTALLED, LANGUAGE_UNSUPPORTED or
                VOICE_SPEAKS_OTHER.
            EngineError: why the server of the voice cannot be used, naming another voice.

        Returns:
            The voice, the language it will speak first in its `languages`.
        """
        if voice is None:
            wanted = language or guess_language(text)
            found = self.voices(wanted)
            if not found:
                raise InputError(ErrorCode.LANGUAGE_UNSUPPORTED, language=wanted)
            return found[0]
        name, plus, variant = voice.strip().lower().partition("+")
        for listed in self.voices(with_missing=True):
            if listed.voice_id.lower() == name:
                if language and voice_distance(language, listed) is None:
                    raise InputError(
                        ErrorCode.VOICE_SPEAKS_OTHER, voice=listed.name, language=language
                    )
                if not listed.installed:
                    raise InputError(
                        ErrorCode.VOICE_NOT_INSTALLED,
                        voice=listed.name,
                        voice_id=listed.voice_id,
                        size_mb=round(listed.size_mb),
                    )
                chosen = speaking(listed, language or language_of(text))
                return chosen.model_copy(update={"voice_id": listed.voice_id + plus + variant})
        engine = self._engines.get(name.partition(":")[0])
        fault = engine.fault() if isinstance(engine, AbsentEngine) else None
        if fault is not None:
            language = language or language_of(text)
            raise EngineError(
                fault.code, **{**fault.values, "other": self._other_voice(engine, language)}
            )
        raise InputError(ErrorCode.VOICE_UNKNOWN, voice=voice)

    def speak(
        self,
        options: SpeechOptions,
        canceled: Event,
        on_progress: Callable[[int, int], None] | None = None,
        lexicon: Lexicon | None = None,
        on_piece: Callable[[SpokenClip], None] | None = None,
    ) -> SpokenClip:
        """Speak a whole text.

        Args:
            options: text, language, voice, speed and style.
            canceled: looked at before every sentence; a slow voice stops within one.
            on_progress: called with pieces done and pieces in all.
            lexicon: a person's own pronunciations.
            on_piece: given each piece as it will sound, before `on_progress` hears of it. A slow
                voice then begins with a short one, and none is long; they may be cut where no
                voice would pause.

        Returns:
            One clip at about -18 dB, its first sound within 0.15 s; `notes` says what was left
            out. Words are spelled as typed.

        Raises:
            InputError: TEXT_EMPTY, TEXT_TOO_LONG, TEXT_UNREADABLE, and as `choose`.
            EngineError: VOICE_UNAVAILABLE, VOICE_SILENT, SENTENCE_FAILED naming the sentence, or
                why the server of the voice cannot be used, naming another voice.
            Canceled: when the user asked to stop.
        """
        cleaned = clean(options.text, self._max_characters)
        voice = self.choose(cleaned.mapped.text, options.language, options.voice)
        notes = list(cleaned.notes)
        style = options.style if voice.styles else None
        if options.style and not style:
            notes.append(ErrorCode.STYLE_IGNORED)
        language = voice.languages[0]
        text = lexicon.apply(cleaned.mapped, language) if lexicon else cleaned.mapped
        tasks = self._tasks(make_speakable(text, language), voice, notes)
        if on_piece is not None:
            tasks = self._soon_heard(tasks)
        for name in {task.voice.engine for task in tasks}:
            self._engines[name].reset()
        parts: list[Part] = []
        is_silent = False
        for index, task in enumerate(tasks):
            if canceled.is_set():
                raise Canceled
            own_style = style if task.voice.voice_id == voice.voice_id else None
            with interrupting(self._engines[task.voice.engine], canceled):
                clip = self._speak_one(task, options.speed, own_style, is_first=not parts)
            if clip is None or not len(clip.samples):
                notes.append(ErrorCode.PARTLY_UNSPOKEN)
                is_silent |= clip is not None
            else:
                parts.append(Part(clip, task.piece.pause_s / options.speed))
                if on_piece is not None:
                    is_last = index == len(tasks) - 1
                    on_piece(newest(parts, voice.sample_rate_hz, is_last=is_last))
            if on_progress is not None:
                on_progress(index + 1, len(tasks))
        if not parts:
            raise _unheard(voice, cleaned.mapped.text, is_silent=is_silent)
        return replace(
            join(parts, voice.sample_rate_hz),
            voice_id=voice.voice_id,
            language=language,
            notes=tuple(dict.fromkeys(str(note) for note in notes)),
        )

    def get_ready(self, language: str | None, voice: str | None) -> None:
        """Load what a voice needs, before its first text; some need nothing.

        Args:
            language: BCP 47 tag or None.
            voice: voice id or None.

        Raises:
            EngineError: as `choose` and `speak`.
        """
        chosen = self.choose("", language, voice)
        engine = self._engines[chosen.engine]
        if isinstance(engine, LoadedEngine):
            engine.get_ready(chosen.voice_id)

    def unload(self) -> None:
        """Give the memory of every voice back; the next text loads what it needs."""
        for engine in self._engines.values():
            engine.unload()

    def free_card(self) -> None:
        """Give the graphics card back, for a video."""
        for engine in self._engines.values():
            if isinstance(engine, CardEngine):
                engine.free_card()

    def _tasks(self, text: MappedText, voice: VoiceInfo, notes: list[str]) -> list[_Task]:
        """Every piece with its voice; pieces without a letter or digit only lengthen the pause."""
        scripts = scripts_of(voice.languages[0])
        readable = scripts | self._engines[voice.engine].reads_also
        longest = _PIECE_IDEOGRAPHS if "CJK" in scripts else _PIECE_CHARACTERS
        tasks: list[_Task] = []
        for piece in split_sentences(text, longest):
            if not is_speakable(piece.text.text):
                continue
            for part, is_own in by_script(piece, readable):
                speaker = voice if is_own else self._voice_for(part.text.text)
                if not is_own:
                    notes.append(
                        ErrorCode.OTHER_VOICE_USED if speaker else ErrorCode.PARTLY_UNSPOKEN
                    )
                if speaker:
                    tasks.append(_Task(part, speaker))
        if not tasks:
            raise _unreadable(voice, text.text)
        return tasks

    def _soon_heard(self, tasks: list[_Task]) -> list[_Task]:
        """The same, with a short first piece and none that is long where the voice is slow."""
        voice = tasks[0].voice
        engine = self._engines[voice.engine]
        if not isinstance(engine, SlowEngine):
            return tasks
        own = list(itertools.takewhile(lambda task: task.voice == voice, tasks))
        density = _DENSITY if "CJK" in scripts_of(voice.languages[0]) else 1
        pieces = soon_heard(
            [task.piece for task in own],
            engine.first_characters // density,
            engine.next_characters // density,
        )
        return [*(_Task(piece, voice) for piece in pieces), *tasks[len(own) :]]

    def _other_voice(self, failed: SpeechEngine, language: str) -> str:
        """A voice on this computer for the same language, for when a server fails."""
        found = (
            listed.voice_id
            for listed in (*self.voices(language), *self.voices())
            if listed.engine != failed.name
        )
        return next(found, "")

    def _voice_for(self, text: str) -> VoiceInfo | None:
        return next(iter(self.voices(guess_language(text))), None)

    def _speak_one(
        self, task: _Task, speed: float, style: str | None, *, is_first: bool
    ) -> SpokenClip | None:
        """The trimmed sound of one piece with words as typed.

        None when there is nothing in it that the voice reads, empty when it gave only silence.
        """
        text, voice = task.piece.text, task.voice
        engine = self._engines[voice.engine]
        said = (text.text, voice.voice_id, voice.languages[0], speed)
        try:
            if style and isinstance(engine, StyledEngine):
                clip = engine.speak_styled(*said, style)
            else:
                clip = engine.speak(*said)
            if not clip.phonemes and self._timer is not None:
                clip = self._timer(clip, text.text)
        except InputError as error:
            if error.code is ErrorCode.TEXT_EMPTY:
                return None
            raise
        except Canceled:
            raise
        except EngineError as error:
            if isinstance(engine, AbsentEngine):
                error.values["other"] = self._other_voice(engine, voice.languages[0])
                raise
            if is_first:  # nothing was spoken yet: it is the voice, not this sentence
                raise
            raise EngineError(
                ErrorCode.SENTENCE_FAILED, sentence=text.text[:_SHOWN_CHARACTERS]
            ) from error
        trimmed = trim(clip)
        if trimmed is None:
            return replace(clip, samples=clip.samples[:0], words=(), phonemes=())
        return replace(trimmed, words=as_typed(trimmed.words, text))


def _unheard(voice: VoiceInfo, text: str, *, is_silent: bool) -> EngineError:
    """Why nothing was heard; espeak-ng is silent where it cannot read, others never."""
    if is_silent and voice.natural:
        return EngineError(ErrorCode.VOICE_SILENT, voice=voice.name)
    return _unreadable(voice, text)


def _unreadable(voice: VoiceInfo, text: str) -> InputError:
    return InputError(
        ErrorCode.TEXT_UNREADABLE, voice=voice.name, characters=text[:_SHOWN_CHARACTERS]
    )
