"""The sound of each section: spoken, cut out of a recording, or silent; whole frames long."""

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import soundfile as sf

from engine.contracts import SpeechOptions
from engine.lecture.cache import SectionCache, digest_of, key_of
from engine.lecture.options import LectureSection, LectureSpec
from engine.media.atomic import replace_when_done
from engine.media.audio import SPEECH_RATE_HZ, read_samples, write_wav
from engine.media.video import frames_for
from engine.pipeline.speak import Timings, load_timings, save_timings, speak_to_file
from engine.pipeline.tools import Tools
from engine.speech.lexicon import Lexicon

RECIPE = 1
"""Counted up when the same words would sound differently."""

COPY_BLOCK = 1 << 16


@dataclass(frozen=True)
class Voiced:
    """A section that can be heard.

    Attributes:
        section: whose sound it is.
        key: of the sound; the same sound has the same key.
        wav: mono, 48 kHz, exactly `num_frames` long.
        num_frames: of the section's video.
        timings: of the spoken text; empty for recordings and silence.
    """

    section: LectureSection
    key: str
    wav: Path
    num_frames: int
    timings: Timings


class Voicing:
    """Makes the sound of the sections of one lecture.

    Args:
        spec: of the lecture.
        job_dir: with its recordings.
        cache: keeps what was made.
        tools: models of this process.
        lexicon: the person's own pronunciations.
    """

    def __init__(
        self,
        spec: LectureSpec,
        job_dir: Path,
        cache: SectionCache,
        tools: Tools,
        lexicon: Lexicon | None,
    ) -> None:
        self._spec = spec
        self._job_dir = job_dir
        self._cache = cache
        self._tools = tools
        self._lexicon = lexicon
        self._fps = Fraction(spec.options.fps)
        self._digests: dict[str, str] = {}

    def voice(
        self, section: LectureSection, canceled: Event, on_share: Callable[[float], None]
    ) -> Voiced:
        """Make the sound of one section, or take what was made before.

        Raises:
            Canceled: soon after `canceled` was set.
            EngineError: the text could not be spoken.
        """
        key = key_of({"recipe": RECIPE, "fps": self._spec.options.fps, **self._recipe(section)})
        wav, told = self._cache.place(key, ".wav"), self._cache.place(key, ".json")
        if not (wav.exists() and told.exists()):
            timings = self._make(section, wav, canceled, on_share)
            with replace_when_done(told) as part:
                part.write_text(timings, "utf-8")
        info = sf.info(str(wav))
        num_frames = round(info.frames * self._fps / SPEECH_RATE_HZ)
        return Voiced(section, key, wav, num_frames, load_timings(told))

    def _recipe(self, section: LectureSection) -> dict[str, Any]:
        """Everything the sound depends on."""
        if section.silence_s is not None:
            return {"silence_s": section.silence_s}
        if section.audio_name is not None:
            return {
                "recording": self._digest(section.audio_name),
                "span_s": [section.start_s, section.end_s],
            }
        return {
            "text": section.text,
            "voice": self._spec.voice.model_dump(mode="json"),
            "pause_s": self._spec.options.pause_s,
            "lexicon": repr(self._lexicon),
        }

    def _digest(self, name: str) -> str:
        if name not in self._digests:
            self._digests[name] = digest_of(self._job_dir / name)
        return self._digests[name]

    def _make(
        self,
        section: LectureSection,
        wav: Path,
        canceled: Event,
        on_share: Callable[[float], None],
    ) -> str:
        """Write the WAV.

        Returns:
            The timings as JSON.
        """
        if section.silence_s is not None:
            num_samples = self._whole_frames(section.silence_s)
            write_wav(wav, np.zeros(num_samples, np.float32), SPEECH_RATE_HZ)
            return _NO_TIMINGS
        if section.audio_name is not None:
            self._cut(section, self._job_dir / section.audio_name, wav)
            return _NO_TIMINGS
        return self._speak(section, wav, canceled, on_share)

    def _whole_frames(self, duration_s: float) -> int:
        """Samples of the frames that cover a time."""
        return math.ceil(frames_for(duration_s, self._fps) * SPEECH_RATE_HZ / self._fps)

    def _speak(
        self,
        section: LectureSection,
        wav: Path,
        canceled: Event,
        on_share: Callable[[float], None],
    ) -> str:
        voice = self._spec.voice.model_dump()
        spoken, told = wav.with_suffix(".spoken.wav"), wav.with_suffix(".spoken.json")
        try:
            clip = speak_to_file(
                SpeechOptions(text=section.text, **voice),
                spoken,
                self._tools.voices,
                canceled,
                lambda done, total: on_share(done / total),
                self._lexicon,
            )
            save_timings(clip, told)
            samples = read_samples(spoken, SPEECH_RATE_HZ)
            wanted = self._whole_frames(samples.size / SPEECH_RATE_HZ + self._spec.options.pause_s)
            write_wav(wav, np.pad(samples, (0, wanted - samples.size)), SPEECH_RATE_HZ)
            return told.read_text("utf-8")
        finally:
            spoken.unlink(missing_ok=True)
            told.unlink(missing_ok=True)

    def _cut(self, section: LectureSection, source: Path, wav: Path) -> None:
        """Copy a part of a recording from frame to frame, block by block."""
        frame_samples = Fraction(SPEECH_RATE_HZ) / self._fps
        start = round(round(section.start_s * self._fps) * frame_samples)
        with sf.SoundFile(str(source)) as recording:
            if section.end_s is None:
                left_s = (recording.frames - start) / SPEECH_RATE_HZ
                count = self._whole_frames(left_s)
            else:
                count = round(round(section.end_s * self._fps) * frame_samples) - start
            recording.seek(min(start, recording.frames))
            with (
                replace_when_done(wav) as part,
                sf.SoundFile(
                    str(part), "w", SPEECH_RATE_HZ, 1, subtype="PCM_16", format="WAV"
                ) as cut,
            ):
                while count > 0:
                    block = recording.read(min(count, COPY_BLOCK), dtype="int16")
                    if not len(block):
                        block = np.zeros(min(count, COPY_BLOCK), np.int16)
                    cut.write(block)
                    count -= len(block)


_NO_TIMINGS = json.dumps({"words": [], "phonemes": [], "notes": []})
