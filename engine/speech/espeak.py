"""The voices of espeak-ng: robotic, but over a hundred languages with exact times.

The library itself runs in its own process (`engine.speech.espeak_process`); here are the list of
voices and the way from its events to words and phonemes.
"""

import base64
import functools
import sys
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from engine.contracts import VoiceInfo
from engine.errors import EngineError, ErrorCode, InputError
from engine.speech.closures import give_closures
from engine.speech.ipa import clean_ipa
from engine.speech.japanese import JapaneseReader
from engine.speech.json_child import ChildLost, JsonChild
from engine.speech.voice import SpokenClip, TimedPhoneme
from engine.speech.words import split_words, time_words

ENGINE_NAME = "espeak"
_CHILD_MODULE = "engine.speech.espeak_process"
_SAMPLE_RATE_HZ = 22050
_NORMAL_RATE_WPM = 175  # espeak-ng's own default
_TIMEOUT_S = 30.0  # about 80 x real time: 5,000 characters need 1 s on one core
_NOT_SPOKEN = frozenset({"fo", "kaa", "xex"})
"""Listed by the library, but the wheel has no dictionary for them."""


_Event = tuple[str, Any, int]
"""`w` and where a word begins in the text, or `p` and a sound's name; then the sample."""


@dataclass(frozen=True)
class EspeakStyle:
    """How espeak-ng speaks, beyond what the studio offers; training data varies it.

    Attributes:
        language: BCP 47 tag of a voice, such as `de` or `en-us`.
        variant: colour of the voice such as `f3`, `m7`, `klatt4`; None = the plain one.
        rate_wpm: words a minute, 80-450.
        pitch: 0 low .. 99 high, 50 = normal.
        pitch_range: 0 monotone .. 99 lively, 50 = normal.
    """

    language: str
    variant: str | None = None
    rate_wpm: int = _NORMAL_RATE_WPM
    pitch: int = 50
    pitch_range: int = 50


@dataclass(frozen=True)
class _Listed:
    info: VoiceInfo
    identifier: str


class EspeakEngine:
    """Speaks through one espeak-ng process; safe to call from several threads."""

    name = ENGINE_NAME
    reads_also = frozenset({"LATIN"})

    def __init__(self, timeout_s: float = _TIMEOUT_S) -> None:
        """Prepare; the process starts with the first question.

        Args:
            timeout_s: longest wait for one text.
        """
        self._child = JsonChild(_CHILD_MODULE, timeout_s)
        self._japanese = JapaneseReader()

    @property
    def pid(self) -> int | None:
        """Process id of espeak-ng, None while it is not running."""
        return self._child.pid

    def voices(self) -> tuple[VoiceInfo, ...]:
        """Every language that has a dictionary; empty when espeak-ng cannot run here."""
        try:
            return tuple(listed.info for listed in self._listed.values())
        except EngineError:
            return ()

    def speak(self, text: str, voice_id: str, language: str, speed: float) -> SpokenClip:
        """Speak one sentence or paragraph.

        Args:
            text: cleaned text.
            voice_id: `espeak:<tag>`, optionally with a variant: `espeak:de+f3`.
            language: unused, each voice has one language.
            speed: 0.5-2, 1 = 175 words a minute.

        Raises:
            InputError: VOICE_UNKNOWN.
            EngineError: VOICE_UNAVAILABLE when espeak-ng, or the dictionary of Japanese, cannot
                run here.
        """
        tag, _, variant = voice_id.removeprefix(f"{ENGINE_NAME}:").partition("+")
        style = EspeakStyle(tag, variant or None, rate_wpm=round(_NORMAL_RATE_WPM * speed))
        return self.speak_in_style(text, style)

    def speak_in_style(self, text: str, style: EspeakStyle) -> SpokenClip:
        """Speak with every parameter free; raises as `speak` does."""
        voice_id = f"{ENGINE_NAME}:{style.language}"
        listed = self._listed.get(voice_id)
        if listed is None:
            raise InputError(ErrorCode.VOICE_UNKNOWN, voice=voice_id)
        text = unicodedata.normalize("NFC", text)
        read, origins = self._japanese.in_kana(text) if style.language == "ja" else (text, None)
        answer = self._ask(
            type="speak",
            text=read,
            voice=listed.identifier + (f"+{style.variant}" if style.variant else ""),
            rate_wpm=style.rate_wpm,
            pitch=style.pitch,
            pitch_range=style.pitch_range,
        )
        samples = np.frombuffer(base64.b64decode(answer["pcm"]), "<i2").astype(np.float32) / 32768.0
        clip = SpokenClip(
            samples=samples,
            sample_rate_hz=answer["sample_rate_hz"],
            words=(),
            phonemes=(),
            voice_id=voice_id + (f"+{style.variant}" if style.variant else ""),
            language=style.language,
        )
        events: list[_Event] = answer["events"]
        if origins is not None:
            last = len(origins) - 1
            events = [
                (kind, origins[min(value, last)] if kind == "w" else value, sample)
                for kind, value, sample in events
            ]
        return _with_times(clip, text, events)

    def read(self, texts: Sequence[str], tag: str) -> list[str]:
        """Tell how texts sound, for voices that have no rules of their own.

        Args:
            texts: stretches without a pause in them.
            tag: language of a listed voice, such as `it`.

        Returns:
            IPA of each text: words parted by spaces, `^` between the letters of one sound.

        Raises:
            EngineError: VOICE_UNAVAILABLE when espeak-ng cannot run here.
        """
        listed = self._listed.get(f"{ENGINE_NAME}:{tag}")
        if listed is None:
            raise EngineError(ErrorCode.VOICE_UNAVAILABLE, voice="espeak-ng")
        answer = self._ask(type="read", texts=list(texts), voice=listed.identifier)
        sounds: list[str] = answer["sounds"]
        return sounds

    def reset(self) -> None:
        """Go on with a new process: pitch flutter goes on from text to text, there it starts at 0.

        On Linux the running program makes the new one itself, out of a copy that never spoke.
        """
        if sys.platform != "linux":
            self._child.close()
        elif self._child.pid is not None:
            self._ask(type="fresh")

    def unload(self) -> None:
        """End the process; the next text starts a new one."""
        self._child.close()

    @functools.cached_property
    def _listed(self) -> dict[str, _Listed]:
        """Voice id -> what the library lists, asked once."""
        found: dict[str, _Listed] = {}
        for voice in self._ask(type="voices")["voices"]:
            tag = voice["language"].lower()
            if tag in _NOT_SPOKEN:
                continue
            if f"{ENGINE_NAME}:{tag}" in found:  # a second way to write the same language
                tag = voice["identifier"].rpartition("/")[2].lower()
            info = VoiceInfo(
                voice_id=f"{ENGINE_NAME}:{tag}",
                engine=ENGINE_NAME,
                name=voice["name"].strip(),
                languages=(voice["language"].lower(),),
                gender=voice["gender"],
                sample_rate_hz=_SAMPLE_RATE_HZ,
                licence="GPL-3.0-or-later",
                natural=False,
            )
            found[info.voice_id] = _Listed(info, voice["identifier"])
        return found

    def _ask(self, **request: str | int | list[str]) -> dict[str, Any]:
        try:
            answer = self._child.ask(request)
        except ChildLost as error:
            raise EngineError(ErrorCode.VOICE_UNAVAILABLE, voice="espeak-ng") from error
        if answer["type"] == "failed":
            raise EngineError(ErrorCode.VOICE_UNAVAILABLE, voice=request.get("voice", "espeak-ng"))
        return answer


def _with_times(clip: SpokenClip, text: str, events: Sequence[_Event]) -> SpokenClip:
    """Add words and phonemes from the events; a sound lasts until the next sound or pause."""
    spans = split_words(text, (position for kind, position, _ in events if kind == "w"))
    begins = [sample for kind, _, sample in events if kind == "p"]
    ends = iter([*begins[1:], len(clip.samples)])
    owned: list[tuple[int, TimedPhoneme]] = []
    span = 0
    rate_hz = clip.sample_rate_hz
    for kind, value, sample in events:
        if kind == "w":
            while span + 1 < len(spans) and spans[span].end <= value:
                span += 1
            continue
        ipa, end = clean_ipa(value), next(ends)
        if not ipa:
            # A tone or a length mark is more of the sound before; "(en)" switches the language.
            if value and owned and not value.startswith("("):
                index, before = owned[-1]
                owned[-1] = (index, replace(before, end_s=max(before.end_s, end / rate_hz)))
            continue
        sound = TimedPhoneme(ipa, sample / rate_hz, end / rate_hz)
        if end == sample and owned:
            owned[-1], sound = _share(*owned[-1], sound)
        owned.append((span, sound))
    owned = give_closures(owned, clip.samples, rate_hz)
    return replace(
        clip,
        words=time_words(spans, owned) if spans else (),
        phonemes=tuple(phoneme for _, phoneme in owned),
    )


def _share(
    span: int, before: TimedPhoneme, sound: TimedPhoneme
) -> tuple[tuple[int, TimedPhoneme], TimedPhoneme]:
    """Give a sound without time of its own the last third of the sound it melts into.

    English l after a vowel (`school`) is drawn by espeak-ng as the end of that vowel.
    """
    cut_s = before.end_s - (before.end_s - before.start_s) / 3
    return (span, replace(before, end_s=cut_s)), replace(sound, start_s=cut_s, end_s=before.end_s)
