"""Questions that are answered at once: will these inputs do, how does this sound, what is here."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from engine.contracts import (
    PRESETS,
    CheckReport,
    LabelCheck,
    Progress,
    RenderOptions,
    SpeechOptions,
    VoiceDownload,
    VoiceInfo,
)
from engine.errors import ErrorCode, InputError
from engine.facade.parts import LEDGER_ENTRIES, EngineParts
from engine.jobs.limits import PACE, rate_for
from engine.jobs.requests import can_recognise
from engine.weights.translator import translator_folder
from engine.weights.voices import set_of_voice
from engine.worker.previews import VoicePreview
from engine.worker.supervisor import ignore_progress


class Questions(EngineParts):
    """What is asked about files, texts and voices; nothing is queued."""

    def warm_up(self) -> None:
        """Begin to start what the first question about a photo needs; returns at once."""
        self._lane.warm_up()

    def check(
        self,
        portrait: str | Path | None,
        audio: str | Path | None = None,
        speech: SpeechOptions | None = None,
        options: RenderOptions | None = None,
        script: str | None = None,
    ) -> CheckReport:
        """Say whether these inputs will do, and what the video would cost here.

        Args:
            portrait: the picture, None = not given yet.
            audio: the recording.
            speech: the text, in place of a recording.
            options: choices about the picture.
            script: the known words of `audio`.

        Raises:
            EngineError: PROBE_TIMEOUT when a file could not be looked at in time.
        """
        options = options or RenderOptions()
        sizes = {options.output_size_px, *(preset.size_px for preset in PRESETS.values())}
        report = self._lane.check(portrait, audio, speech, options, self._rates(sizes), script)
        if report.ok:
            self._backend.expect()
        return report

    def voices(
        self,
        language: str | None = None,
        *,
        refresh: bool = False,
        with_missing: bool = False,
    ) -> list[VoiceInfo]:
        """The voices that speak `language` (None = all); kept until `refresh`.

        Args:
            language: BCP 47 tag.
            refresh: ask anew, after a voice was fetched.
            with_missing: list those too that `fetch_voice` would bring, behind the others.
        """
        return self._lane.voices(language, refresh=refresh, with_missing=with_missing)

    def fetch_voice(self, voice_id: str) -> str:
        """Download what a voice needs in the background.

        Returns:
            The name under which `weights` tells how far it is; empty when it needs nothing.

        Raises:
            InputError: VOICE_UNKNOWN.
        """
        needed = set_of_voice(voice_id)
        if needed is None:
            known = self.voices(with_missing=True)
            if voice_id not in {voice.voice_id for voice in known}:
                raise InputError(ErrorCode.VOICE_UNKNOWN, voice=voice_id)
            return ""
        self._weights.start(needed.name)
        return needed.name

    def voice_downloads(self, language: str | None = None) -> list[VoiceDownload]:
        """What a download would bring, or is bringing, to a language (None = to all).

        Voices that need more than a download are left out.

        Args:
            language: BCP 47 tag.
        """
        states = {state.name: state for state in self._weights.states(everything=True)}
        found: dict[str, list[VoiceInfo]] = {}
        for voice in self.voices(language, with_missing=True):
            needed = set_of_voice(voice.voice_id) if voice.needs == "download" else None
            if needed is not None:
                found.setdefault(needed.name, []).append(voice)
        return [
            VoiceDownload(files=states[name], voices=tuple(voices))
            for name, voices in found.items()
        ]

    def try_speech_server(self, address: str) -> tuple[str, ...]:
        """Ask a speech server of the local network for its voices; nothing is kept.

        Args:
            address: such as `http://192.168.1.20:8880`.

        Raises:
            EngineError: why it cannot be used.
        """
        return self._lane.try_speech_server(address)

    def preview_portrait(self, portrait: str | Path, options: RenderOptions | None = None) -> Path:
        """The picture as `check` sees it, upright, as a temporary JPEG; boxes of `check` fit it.

        Raises:
            InputError: what is wrong with the picture.
            EngineError: PROBE_TIMEOUT when it could not be decoded in time.
        """
        return self._lane.preview_portrait(portrait, options or RenderOptions())

    def preview_voice(self, speech: SpeechOptions) -> Path:
        """Speak a short text into a temporary WAV that lives for an hour at least."""
        return self._lane.preview(speech)

    def preview_voice_pieces(self, speech: SpeechOptions, asker: str | None = None) -> VoicePreview:
        """As `preview_voice`, piece by piece: the first is there while the rest is spoken.

        What was spoken before is given at once.

        Args:
            speech: text and voice.
            asker: who listens, to one preview at a time: the one before is stopped.

        Returns:
            WAVs, all together the whole; `close` stops it.
        """
        return self._lane.preview_pieces(speech, asker)

    def warm_voice(self, language: str | None, voice: str | None) -> None:
        """Begin to load a slow voice that was chosen, so that its first words come sooner.

        Args:
            language: BCP 47 tag; None = the voice's.
            voice: its id; None = the best one.
        """
        self._lane.warm_voice(language, voice)

    def speak(
        self,
        speech: SpeechOptions,
        target: str | Path,
        on_progress: Callable[[Progress], None] = ignore_progress,
    ) -> dict[str, Any]:
        """Speak a text into a WAV file.

        Args:
            speech: text and voice.
            target: the file.
            on_progress: told how many pieces of the text are spoken.

        Returns:
            `duration_s`, `voice`, `language`, `timings`, `notes`.
        """
        return self._lane.speak(speech, target, on_progress)

    def listen(
        self,
        audio: str | Path,
        script: str | None,
        target_json: str | Path,
        script_language: str | None = None,
    ) -> dict[str, Any]:
        """Write the mouth curves of a recording as JSON, with its words where they are known.

        Returns:
            `num_samples`, `rate_hz`, `num_words` of the script that were found, `notes`.
        """
        return self._lane.listen(audio, script, target_json, script_language)

    def verify(self, video: str | Path) -> LabelCheck:
        """Read the labels of a finished video, ours or not: what is there, what was changed.

        Raises:
            InputError: NOT_A_VIDEO or what else is wrong with the file.
            EngineError: PROBE_TIMEOUT when it could not be looked at in time.
        """
        return self._lane.verify(video)

    @property
    def can_recognise(self) -> bool:
        """Whether the words of a recording can be found out here, for its captions."""
        return can_recognise(self.settings)

    @property
    def can_translate(self) -> bool:
        """Whether drafts of translations can be made here."""
        return translator_folder(self.settings) is not None

    def translate(self, text: str, source: str, targets: Sequence[str]) -> dict[str, str]:
        """Drafts of a text for people to read and correct; nothing is spoken or kept.

        Args:
            text: up to the limit of typed texts.
            source: BCP 47 tag of the text.
            targets: BCP 47 tags wanted.

        Returns:
            A draft for each target that the translator knows.

        Raises:
            InputError: TRANSLATOR_MISSING, TRANSLATION_UNSUPPORTED, TEXT_TOO_LONG.
        """
        limit = self.settings.max_text_characters
        if len(text) > limit:
            raise InputError(ErrorCode.TEXT_TOO_LONG, count=len(text), limit=limit)
        return self._lane.translate(text, source, targets)

    def doctor(self) -> dict[str, Any]:
        """What this machine can do: `ok`, `checks`, and `memory` of the last jobs."""
        entries = self._store.ledger.newest(LEDGER_ENTRIES)
        told = [entry.model_dump(mode="json") for entry in entries]
        return {**self._lane.doctor(), "memory": told}

    def _rates(self, sizes: Iterable[int]) -> dict[str, float]:
        """What was measured here as the check task knows it: see `check_inputs`."""
        measured = self._store.rates()
        rates = {f"{name}:{size}": rate for (name, size), rate in measured.items()}
        for animator in {name for name, _ in measured}:
            for size_px in sizes:
                rate = rate_for(measured, animator, size_px)
                if rate is not None:
                    rates[f"{animator}:{size_px}"] = rate
        paces = {f"{PACE}:{stage}": pace for stage, pace in self._store.paces().items()}
        return {**rates, **paces}
