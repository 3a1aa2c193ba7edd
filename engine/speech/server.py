"""Voices of a speech server on the local network that speaks OpenAI's `/v1/audio/speech`.

Off unless its address stands in the settings. Only this computer and private networks are
reached, redirects are not followed, and no answer may be larger than a sentence needs.
"""

import io
import threading
import time
from typing import Any

import numpy as np
import soundfile

from engine.contracts import VoiceInfo
from engine.errors import EngineError, ErrorCode
from engine.settings import EngineSettings
from engine.speech.private_address import private_server
from engine.speech.voice import SpokenClip

ENGINE_NAME = "server"
_CONNECT_TIMEOUT_S = 2.0
_LIST_TIMEOUT_S = 3.0
_MAX_LIST_BYTES = 1_000_000
_MAX_SOUND_BYTES = 60_000_000  # ten minutes of 48 kHz
_LIST_AGE_S = 60.0
_SAMPLE_RATE_HZ = 24000
_USUAL_VOICES = ("alloy",)
_MAX_VOICES = 500
# With these there is a server.
_ANSWERED = (ErrorCode.SPEECH_SERVER_FAILED, ErrorCode.SPEECH_SERVER_TOO_MUCH)


class SpeechServerEngine:
    """Asks the server sentence by sentence; its clips have no times.

    Args:
        settings: `speech_server_url` and what belongs to it.
    """

    name = ENGINE_NAME
    reads_also = frozenset({"LATIN"})

    def __init__(self, settings: EngineSettings) -> None:
        self._url = settings.speech_server_url
        self._model = settings.speech_server_model
        tags = settings.speech_server_languages.lower().split(",")
        self._languages = tuple(tag.strip() for tag in tags if tag.strip()) or ("en",)
        self._timeout_s = settings.speech_server_timeout_s
        key = settings.speech_server_key
        self._key = key.get_secret_value() if key else None
        self._lock = threading.Lock()
        self._names: tuple[str, ...] = ()
        self._asked_at = float("-inf")
        self._fault: EngineError | None = None

    def voices(self) -> tuple[VoiceInfo, ...]:
        """What the server offers; empty when there is none or it does not answer."""
        if not self._url:
            return ()
        with self._lock:
            if time.monotonic() - self._asked_at > _LIST_AGE_S:
                self._names = self._ask_names()
                self._asked_at = time.monotonic()
            return tuple(self._info(name) for name in self._names)

    def fault(self) -> EngineError | None:
        """Why the server's voices are not listed; None when they are or it is off."""
        return None if self.voices() else self._fault

    def speak(self, text: str, voice_id: str, language: str, speed: float) -> SpokenClip:
        """Have the server speak one sentence.

        Args:
            text: cleaned text.
            voice_id: such as `server:alloy`.
            language: of the clip.
            speed: 0.5-2, 1 = the voice's own.

        Raises:
            EngineError: why it cannot; see `_fetch`; SPEECH_SERVER_NO_SOUND.
        """
        name = voice_id.removeprefix(f"{ENGINE_NAME}:")
        question = {
            "model": self._model,
            "voice": name,
            "input": text,
            "speed": speed,
            "response_format": "wav",
        }
        sound = self._fetch("POST", "/v1/audio/speech", self._timeout_s, _MAX_SOUND_BYTES, question)
        try:
            samples, rate_hz = soundfile.read(io.BytesIO(sound), dtype="float32", always_2d=True)
        except (soundfile.LibsndfileError, RuntimeError, ValueError) as error:
            raise EngineError(ErrorCode.SPEECH_SERVER_NO_SOUND) from error
        mono = np.nan_to_num(samples.mean(axis=1)).astype(np.float32)
        return SpokenClip(mono, int(rate_hz), (), (), voice_id, language)

    def reset(self) -> None:
        """Nothing to do: the server remembers nothing of us."""

    def unload(self) -> None:
        """Nothing to do: the memory is the server's."""

    def _ask_names(self) -> tuple[str, ...]:
        import httpx  # noqa: PLC0415 - needed only where there is a server

        try:
            answer = self._fetch("GET", "/v1/audio/voices", _LIST_TIMEOUT_S, _MAX_LIST_BYTES)
            names = _names_in(httpx.Response(200, content=answer).json())
        except EngineError as error:
            self._fault = error
            # A server without such a list still speaks; one that is not there does not.
            return _USUAL_VOICES if error.code in _ANSWERED else ()
        except ValueError:
            return _USUAL_VOICES
        return names[:_MAX_VOICES] or _USUAL_VOICES

    def _fetch(
        self,
        method: str,
        path: str,
        timeout_s: float,
        max_bytes: int,
        question: dict[str, Any] | None = None,
    ) -> bytes:
        """The body of an answer.

        Raises:
            EngineError: SPEECH_SERVER_FAILED with the status, SPEECH_SERVER_AWAY or
                SPEECH_SERVER_TOO_MUCH, and as `private_server`.
        """
        import httpx  # noqa: PLC0415 - needed only where there is a server

        server = private_server(self._url or "")
        headers = {"host": server.host, "accept-encoding": "identity"}
        if self._key:
            headers["authorization"] = f"Bearer {self._key}"
        timeout = httpx.Timeout(timeout_s, connect=_CONNECT_TIMEOUT_S)
        extensions = {"sni_hostname": server.host.rpartition(":")[0] or server.host}
        body = bytearray()
        try:
            # No proxy and no cookie jar of the environment: straight to the number found above.
            with (
                httpx.Client(timeout=timeout, trust_env=False, follow_redirects=False) as client,
                client.stream(
                    method,
                    server.base_url + path,
                    headers=headers,
                    json=question,
                    extensions=extensions,
                ) as response,
            ):
                if response.status_code != httpx.codes.OK:
                    status = response.status_code
                    raise EngineError(ErrorCode.SPEECH_SERVER_FAILED, status=status)
                for block in response.iter_raw():
                    body += block
                    if len(body) > max_bytes:
                        raise EngineError(ErrorCode.SPEECH_SERVER_TOO_MUCH)
        except httpx.HTTPError as error:
            raise EngineError(ErrorCode.SPEECH_SERVER_AWAY) from error
        return bytes(body)

    def _info(self, name: str) -> VoiceInfo:
        return VoiceInfo(
            voice_id=f"{ENGINE_NAME}:{name}",
            engine=ENGINE_NAME,
            name=f"{name} (speech server)",
            languages=self._languages,
            sample_rate_hz=_SAMPLE_RATE_HZ,
            licence="as the server's owner says",
        )


def _names_in(answer: Any) -> tuple[str, ...]:  # noqa: ANN401 - JSON of a stranger
    """Names of voices in the lists that such servers give: of words or of objects with an id."""
    if isinstance(answer, dict):
        answer = answer.get("voices") or answer.get("data") or []
    if not isinstance(answer, list):
        return ()
    found = [
        entry.get("id") or entry.get("name") if isinstance(entry, dict) else entry
        for entry in answer
    ]
    return tuple(name for name in found if isinstance(name, str) and 0 < len(name) <= 100)
