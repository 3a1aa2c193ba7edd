"""The quick lane: short questions about files, voices and this machine, answered by a child."""

import contextlib
import time
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from engine.contracts import AnimateRequest, CheckReport, RenderOptions, SpeechOptions, VoiceInfo
from engine.errors import EngineError, ErrorCode, WorkerLost
from engine.settings import EngineSettings
from engine.worker.attend import TaskLimits
from engine.worker.supervisor import Supervisor

READ_BYTES_PER_S = 500_000
"""A slow laptop with a hard disk decodes at least this much of a recording in a second."""

PREVIEW_AGE_S = 3600.0
"""A page has fetched a preview within seconds; after an hour it is litter."""


class QuickLane:
    """Asks the quick child, one question at a time.

    Args:
        supervisor: of the quick lane.
        settings: of the engine.
        temp_dir: makes the folder for previews and returns it.
    """

    def __init__(
        self, supervisor: Supervisor, settings: EngineSettings, temp_dir: Callable[[], Path]
    ) -> None:
        self._supervisor = supervisor
        self._settings = settings
        self._temp_dir = temp_dir
        self._voices: dict[str | None, list[VoiceInfo]] = {}

    def check(
        self,
        portrait: str | Path | None,
        audio: str | Path | None,
        speech: SpeechOptions | None,
        options: RenderOptions,
        rates: Mapping[str, float],
    ) -> CheckReport:
        """Judge the inputs of a video.

        Args:
            portrait: picture, None = not given yet.
            audio: recording, None = not given.
            speech: text, None = not given.
            options: choices about the picture.
            rates: measured seconds per second of video, by ``animator:size``.

        Raises:
            EngineError: PROBE_TIMEOUT, WORKER_LOST.
        """
        payload = {
            "portrait": absolute(portrait),
            "audio": absolute(audio),
            "speech": _speech(speech),
            "options": options.model_dump(mode="json"),
            "rates": dict(rates),
        }
        return CheckReport.model_validate(self._probe("check", payload))

    def take_in(self, request: AnimateRequest, folder: Path) -> dict[str, Any]:
        """Re-encode the inputs of a job into its folder.

        Returns:
            `portrait_name`, `audio_name`, `duration_s`; the last two None for a text.

        Raises:
            InputError: what is wrong with the inputs.
            EngineError: PROBE_TIMEOUT, WORKER_LOST.
        """
        payload = {
            "portrait": absolute(request.portrait),
            "audio": absolute(request.audio),
            "speech": _speech(request.speech),
            "options": request.options.model_dump(mode="json"),
            "job_dir": str(folder),
        }
        return self._probe("intake", payload)

    def voices(self, language: str | None, *, refresh: bool) -> list[VoiceInfo]:
        """The voices of a language; asked once, then kept until `refresh`."""
        if refresh:
            self._voices.clear()
        known = self._voices.get(language)
        if known is None:
            answer = self._ask("voices", {"language": language})
            known = [VoiceInfo.model_validate(voice) for voice in answer["voices"]]
            self._voices[language] = known
        return list(known)

    def preview(self, speech: SpeechOptions) -> Path:
        """Speak into a temporary WAV."""
        target = self._new_preview(".wav")
        self._ask("preview", {"speech": _speech(speech), "target": str(target)})
        return target

    def preview_portrait(self, portrait: str | Path, options: RenderOptions) -> Path:
        """Decode a picture into a temporary JPEG.

        Raises:
            InputError: what is wrong with the picture.
            EngineError: PROBE_TIMEOUT, WORKER_LOST.
        """
        target = self._new_preview(".jpg")
        payload = {
            "portrait": absolute(portrait),
            "audio": None,
            "options": options.model_dump(mode="json"),
            "target": str(target),
        }
        self._probe("preview_portrait", payload)
        return target

    def speak(self, speech: SpeechOptions, target: str | Path) -> dict[str, Any]:
        """Speak a text of any allowed length into a WAV."""
        payload = {"speech": _speech(speech), "target": absolute(target)}
        return self._ask("speak", payload, self._settings.job_timeout_min_s)

    def listen(
        self, audio: str | Path, script: str | None, target_json: str | Path
    ) -> dict[str, Any]:
        """Write the mouth curves of a recording as JSON."""
        payload = {"audio": absolute(audio), "script": script, "target": absolute(target_json)}
        timeout_s = self._settings.job_timeout_min_s + self._read_limit_s(audio)
        return self._ask("lipsync", payload, timeout_s)

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

    def _probe(self, kind: str, payload: dict[str, Any]) -> dict[str, Any]:
        """Ask about files of a stranger; late means "could not be checked"."""
        try:
            limit_s = self._read_limit_s(payload["portrait"], payload["audio"])
            return self._ask(kind, payload, limit_s)
        except EngineError as error:
            if error.code is ErrorCode.TIMED_OUT:
                raise EngineError(ErrorCode.PROBE_TIMEOUT) from None
            raise

    def _ask(
        self, kind: str, payload: dict[str, Any], timeout_s: float | None = None
    ) -> dict[str, Any]:
        """Have the child do a task; the child may be lost once."""
        limits = TaskLimits(total_s=timeout_s or self._settings.quick_timeout_s)
        try:
            return self._supervisor.run(kind, payload, limits).values
        except WorkerLost:
            return self._supervisor.run(kind, payload, limits).values

    def _read_limit_s(self, *paths: str | Path | None) -> float:
        """How long files of this size may take to be read."""
        size_bytes = sum(_size_bytes(path) for path in paths if path is not None)
        return self._settings.quick_timeout_s + size_bytes / READ_BYTES_PER_S


def absolute(path: str | Path | None) -> str | None:
    """A path as the child can use it, whose working directory is another."""
    return None if path is None else str(Path(path).expanduser().absolute())


def _speech(speech: SpeechOptions | None) -> dict[str, Any] | None:
    return None if speech is None else speech.model_dump(mode="json")


def _size_bytes(path: str | Path) -> int:
    try:
        return Path(path).stat().st_size
    except OSError:
        return 0
