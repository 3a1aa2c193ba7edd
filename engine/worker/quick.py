"""The quick lane: short questions about files, voices and this machine, answered by children.

They never see a file of a stranger: the decode lane turns it into pixels or a WAV first.
"""

import contextlib
import errno
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from engine.contracts import (
    AnimateRequest,
    AudioVerdict,
    CheckReport,
    LabelCheck,
    PortraitVerdict,
    Progress,
    RenderOptions,
    SpeechOptions,
    VoiceInfo,
)
from engine.errors import EngineError, ErrorCode, InputError
from engine.settings import EngineSettings
from engine.worker.attend import TaskLimits
from engine.worker.content import ContentNames
from engine.worker.decode import SOUND_BYTES_PER_S, DecodeLane
from engine.worker.kept_files import KeptFiles
from engine.worker.known_verdicts import KnownVerdicts
from engine.worker.pool import ChildPool
from engine.worker.previews import Previews, VoicePreview
from engine.worker.supervisor import ignore_progress

SPEECH_NAME = "speech.wav"
"""What a job's recording is called."""

PREVIEW_AGE_S = 3600.0
"""A page has fetched a preview within seconds; after an hour it is litter."""


class QuickLane:
    """Asks the quick children.

    Args:
        pool: of the quick lane.
        decode: opens the files of strangers.
        settings: of the engine.
        temp_dir: makes the folder for previews and returns it.
    """

    def __init__(
        self,
        pool: ChildPool,
        decode: DecodeLane,
        settings: EngineSettings,
        temp_dir: Callable[[], Path],
    ) -> None:
        self._pool = pool
        self._decode = decode
        self._settings = settings
        self._temp_dir = temp_dir
        self._voices: dict[tuple[str | None, bool], list[VoiceInfo]] = {}
        self._known_sounds = KnownVerdicts[AudioVerdict]()
        self._known_portraits = KnownVerdicts[PortraitVerdict]()
        self._previews = Previews(pool, settings, lambda: self._new_preview(".wav"))
        self._names = ContentNames()
        self._kept = KeptFiles(temp_dir)

    def forget_files(self) -> None:
        """Keep nothing of the files that were looked at."""
        self._known_sounds.clear()
        self._known_portraits.clear()
        self._kept.clear()

    def warm_up(self) -> None:
        """Begin to start what the first question about a photo needs, and after it the rest."""
        self._pool.wake()
        self._pool.keep_spares()
        self._decode.pool.warm_up()

    def check(
        self,
        portrait: str | Path | None,
        audio: str | Path | None,
        speech: SpeechOptions | None,
        options: RenderOptions,
        rates: Mapping[str, float],
        script: str | None = None,
    ) -> CheckReport:
        """Judge the inputs of a video.

        Args:
            portrait: picture, None = not given yet.
            audio: recording, None = not given.
            speech: text, None = not given.
            options: choices about the picture.
            rates: measured here; see `check_inputs`.
            script: the known words of `audio`.

        Raises:
            EngineError: PROBE_TIMEOUT, WORKER_LOST.
        """
        recording = self._name(audio)
        known = self._known_sounds.find(recording)
        photo = self._photo_name(portrait, options)
        known_photo = self._known_portraits.find(photo)
        with self._scratch() as folder, ThreadPoolExecutor(1, "hear") as beside:
            hearing = beside.submit(
                _or_refusal, lambda: self._heard(audio, folder / SPEECH_NAME, known)
            )
            payload: dict[str, Any] = {
                "portrait": _judged(known_photo)
                or _or_refusal(lambda: self._seen(portrait, options, folder)),
                "audio": hearing.result(),
                "speech": _speech(speech),
                "options": options.model_dump(mode="json"),
                "rates": dict(rates),
                "script": script,
            }
            report = CheckReport.model_validate(self._probe("check", payload, audio, portrait))
        # Kept is only what could be read, and what nobody wrote to meanwhile.
        if _was_read(payload["audio"]) and report.audio and report.audio.duration_s is not None:
            self._known_sounds.keep(_if_same(recording, self._name(audio)), report.audio)
        if _was_read(payload["portrait"]) and report.portrait and report.portrait.width_px:
            name = _if_same(photo, self._photo_name(portrait, options))
            self._known_portraits.keep(name, report.portrait)
        return report

    def take_in(self, request: AnimateRequest, folder: Path) -> dict[str, Any]:
        """Re-encode the inputs of a job into its folder.

        Returns:
            `portrait_name`, `audio_name`, `duration_s`; the last two None for a text.

        Raises:
            InputError: what is wrong with the inputs.
            EngineError: PROBE_TIMEOUT, WORKER_LOST.
        """
        with self._scratch() as scratch:
            before = self._photo_name(request.portrait, request.options)
            seen = self._seen(request.portrait, request.options, scratch)
            photo = _if_same(before, self._photo_name(request.portrait, request.options))
            known = _judged(self._known_portraits.find(photo))
            return self._take_in(request, folder, seen and {**seen, **(known or {})})

    def take_in_portrait(
        self, portrait: str | Path, options: RenderOptions, folder: Path
    ) -> dict[str, Any]:
        """Judge a picture and re-encode it into a folder, for several jobs.

        Returns:
            `portrait_name`.

        Raises:
            InputError: what is wrong with the picture.
            EngineError: PROBE_TIMEOUT, WORKER_LOST.
        """
        request = AnimateRequest(portrait=str(portrait), options=options)
        return self.take_in(request, folder)

    def take_in_speech(self, request: AnimateRequest, folder: Path) -> dict[str, Any]:
        """As `take_in`, for a job whose portrait lies in its folder already.

        Raises:
            InputError: what is wrong with the text or the recording.
            EngineError: PROBE_TIMEOUT, WORKER_LOST.
        """
        return self._take_in(request, folder, None)

    def _take_in(
        self, request: AnimateRequest, folder: Path, portrait: dict[str, Any] | None
    ) -> dict[str, Any]:
        payload = {
            "portrait": portrait,
            "audio": self._heard(request.audio, folder / SPEECH_NAME),
            "speech": _speech(request.speech),
            "script": request.script,
            "options": request.options.model_dump(mode="json"),
            "job_dir": str(folder),
        }
        return self._probe("intake", payload, request.audio, request.portrait)

    def voices(
        self, language: str | None, *, refresh: bool, with_missing: bool = False
    ) -> list[VoiceInfo]:
        """The voices of a language; asked once, then kept until `refresh`.

        Those that a download would bring are listed `with_missing`.
        """
        if refresh:
            self.forget_voices()
        known = self._voices.get((language, with_missing))
        if known is None:
            question = {"language": language, "with_missing": with_missing}
            answer = self._ask("voices", question)
            known = [VoiceInfo.model_validate(voice) for voice in answer["voices"]]
            self._voices[language, with_missing] = known
        return list(known)

    def forget_voices(self) -> None:
        """Ask for the voices anew the next time, after some came."""
        self._voices.clear()
        self._previews.forget()  # the best voice may be another one now

    def try_speech_server(self, address: str) -> tuple[str, ...]:
        """The voices of a speech server that may not be the one in the settings.

        Raises:
            EngineError: why it cannot be used.
        """
        return tuple(self._ask("try_speech_server", {"address": address})["voices"])

    def require_private(self, address: str) -> None:
        """Refuse the address of a speech server that is not on the local network.

        Raises:
            EngineError: why it cannot be used.
        """
        self._ask("try_speech_server", {"address": address, "only_address": True})

    def preview(self, speech: SpeechOptions) -> Path:
        """Speak into a temporary WAV."""
        target = self._new_preview(".wav")
        self._ask("preview", {"speech": _speech(speech), "target": str(target)})
        return target

    def preview_pieces(self, speech: SpeechOptions, asker: str | None) -> VoicePreview:
        """Speak a preview of which each piece is given as soon as it is there."""
        return self._previews.begin(speech, asker)

    def forget_previews(self) -> None:
        """Forget what was spoken for previews."""
        self._previews.forget()

    def warm_voice(self, language: str | None, voice: str | None) -> None:
        """Begin to load what a slow voice needs; returns at once."""
        self._previews.warm_up(language, voice)

    def preview_portrait(self, portrait: str | Path, options: RenderOptions) -> Path:
        """Decode a picture into a temporary JPEG.

        Raises:
            InputError: what is wrong with the picture.
            EngineError: PROBE_TIMEOUT, WORKER_LOST.
        """
        target = self._new_preview(".jpg")
        with self._scratch() as folder:
            payload = {
                "portrait": self._seen(portrait, options, folder),
                "options": options.model_dump(mode="json"),
                "target": str(target),
            }
            self._probe("preview_portrait", payload, portrait=portrait)
        return target

    def speak(
        self,
        speech: SpeechOptions,
        target: str | Path,
        on_progress: Callable[[Progress], None] = ignore_progress,
    ) -> dict[str, Any]:
        """Speak a text of any allowed length into a WAV."""
        payload = {"speech": _speech(speech), "target": absolute(target)}
        return self._ask("speak", payload, self._settings.job_timeout_min_s, on_progress)

    def listen(
        self,
        audio: str | Path,
        script: str | None,
        target_json: str | Path,
        script_language: str | None = None,
    ) -> dict[str, Any]:
        """Write the mouth curves of a recording as JSON."""
        with self._scratch() as folder:
            heard = self._heard(audio, folder / SPEECH_NAME)
            payload = {
                "audio": heard,
                "script": script,
                "language": script_language,
                "target": absolute(target_json),
            }
            timeout_s = self._settings.job_timeout_min_s + self._read_limit_s(audio)
            return self._ask("lipsync", payload, timeout_s)

    def verify(self, video: str | Path) -> LabelCheck:
        """Read the labels of a video.

        Raises:
            InputError: NOT_A_VIDEO or what else is wrong with the file.
            EngineError: PROBE_TIMEOUT, WORKER_LOST.
        """
        return LabelCheck.model_validate(self._decode.labels(str(absolute(video))))

    def translate(self, text: str, source: str, targets: Sequence[str]) -> dict[str, str]:
        """Drafts of a text by language; those that the translator does not know are left out."""
        payload = {"text": text, "source": source, "targets": list(targets)}
        answer = self._ask("translate", payload, self._settings.job_timeout_min_s)
        return dict(answer["drafts"])

    def doctor(self) -> dict[str, Any]:
        """What this machine can do."""
        return self._ask("doctor", {})

    def _new_preview(self, suffix: str) -> Path:
        """A path for a new preview; those that nobody can look at any more are removed."""
        folder = self._temp_dir()
        oldest = time.time() - PREVIEW_AGE_S
        for old in folder.glob("preview-*"):
            with contextlib.suppress(OSError):  # open in a player on Windows, or just removed
                if old.stat().st_mtime < oldest:
                    old.unlink()
        return folder / f"preview-{uuid.uuid4().hex}{suffix}"

    @contextlib.contextmanager
    def _scratch(self) -> Iterator[Path]:
        """A folder for decoded files that nobody needs after the question is answered.

        Raises:
            EngineError: DISK_FULL or OUTPUT_NOT_WRITABLE.
        """
        try:
            folder = tempfile.TemporaryDirectory(dir=self._temp_dir(), ignore_cleanup_errors=True)
        except OSError as error:
            raise no_room(error) from error
        with folder as name:
            yield Path(name)

    def _seen(
        self, portrait: str | Path | None, options: RenderOptions, folder: Path
    ) -> dict[str, Any] | None:
        """The decoded picture; None when there is none."""
        if portrait is None:
            return None
        self._pool.wake()
        source, target = str(absolute(portrait)), folder / "pixels"

        def decode() -> dict[str, Any]:
            return self._decode.picture(source, options.background, target)

        return self._decoded(source, ("pixels", options.background), target, decode)

    def _name(self, file: str | Path | None) -> str | None:
        """The same for the same content only; None for what cannot be read."""
        return None if file is None else self._names.of(Path(str(absolute(file))))

    def _photo_name(self, portrait: str | Path | None, options: RenderOptions) -> str | None:
        """The same for the same picture and wishes only; None for what cannot be read."""
        name = self._name(portrait)
        return None if name is None else f"{name} {options.model_dump_json()}"

    def _heard(
        self, audio: str | Path | None, target: Path, known: AudioVerdict | None = None
    ) -> dict[str, Any] | None:
        """The decoded recording, or what is `known` of it; None when there is none."""
        if audio is None:
            return None
        if known is not None:
            return _judged(known)
        self._pool.wake()
        source = str(absolute(audio))
        return self._decoded(source, ("wav",), target, lambda: self._decode.sound(source, target))

    def _decoded(
        self,
        source: str,
        what: tuple[str, ...],
        target: Path,
        decode: Callable[[], dict[str, Any]],
    ) -> dict[str, Any]:
        """What a decoder answers about a file, from before when its content was decoded just now.

        Args:
            source: absolute path of a file of unknown origin.
            what: the name under which the answer holds the path of the decoded file, and all
                else that the outcome depends on beside the content.
            target: the decoded file.
            decode: has it decoded.
        """
        name = self._names.of(Path(source))
        if name is None:
            return decode()
        facts = self._kept.take((*what, name), target)
        if facts is not None:
            return {**facts, what[0]: str(target)}
        facts = decode()
        if self._names.of(Path(source)) == name:  # nobody wrote to it meanwhile
            self._kept.keep((*what, name), target, facts)
        return facts

    def _probe(
        self,
        kind: str,
        payload: dict[str, Any],
        audio: str | Path | None = None,
        portrait: str | Path | None = None,
    ) -> dict[str, Any]:
        """Ask about decoded files; late means "could not be checked"."""
        limits = TaskLimits(total_s=self._read_limit_s(audio))
        subject = None if portrait is None else str(portrait)
        try:
            return self._pool.run(kind, payload, limits, subject=subject)
        except EngineError as error:
            if error.code is ErrorCode.TIMED_OUT:
                raise EngineError(ErrorCode.PROBE_TIMEOUT) from None
            raise

    def _ask(
        self,
        kind: str,
        payload: dict[str, Any],
        timeout_s: float | None = None,
        on_progress: Callable[[Progress], None] = ignore_progress,
    ) -> dict[str, Any]:
        """Have a child do a task."""
        limits = TaskLimits(total_s=timeout_s or self._settings.quick_timeout_s)
        return self._pool.run(kind, payload, limits, on_progress)

    def _read_limit_s(self, audio: str | Path | None) -> float:
        """How long a question about a recording of this size may take."""
        size_bytes = 0
        with contextlib.suppress(OSError):
            size_bytes = Path(audio).stat().st_size if audio is not None else 0
        return self._settings.quick_timeout_s + size_bytes / SOUND_BYTES_PER_S


def absolute(path: str | Path | None) -> str | None:
    """A path as the child can use it, whose working directory is another."""
    return None if path is None else str(Path(path).expanduser().absolute())


def no_room(error: OSError) -> EngineError:
    """What to say when a folder or file of ours cannot be made."""
    is_full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    return EngineError(ErrorCode.DISK_FULL if is_full else ErrorCode.OUTPUT_NOT_WRITABLE)


def _speech(speech: SpeechOptions | None) -> dict[str, Any] | None:
    return None if speech is None else speech.model_dump(mode="json")


def _was_read(told: Mapping[str, Any] | None) -> bool:
    """Whether a child was given a decoded file."""
    return told is not None and "refused" not in told


def _if_same(before: str | None, after: str | None) -> str | None:
    """The name of a file that is still what it was."""
    return before if before == after else None


def _judged(known: PortraitVerdict | AudioVerdict | None) -> dict[str, Any] | None:
    """What a child is told of a file that was judged before; None when it was not."""
    return None if known is None else {"judged": known.model_dump(mode="json")}


def _or_refusal(decode: Callable[[], dict[str, Any] | None]) -> dict[str, Any] | None:
    """What was decoded, or why it was refused, for a child that judges both."""
    try:
        return decode()
    except InputError as error:
        return {"refused": error.code.value, "values": error.values}
