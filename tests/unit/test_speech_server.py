"""A speech server on the local network: a real HTTP server in this process."""

import io
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event

import numpy as np
import pytest
import soundfile

from engine.contracts import SpeechOptions
from engine.errors import EngineError, ErrorCode
from engine.messages import describe
from engine.settings import EngineSettings
from engine.speech.catalog import VoiceCatalog
from engine.speech.hibari import HibariEngine
from engine.speech.private_address import private_server
from engine.speech.server import SpeechServerEngine


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.asked.append((self.path, dict(self.headers), None))
        if self.server.mode == "no list":
            return self._send(404, b"{}")
        return self._send(200, json.dumps({"voices": ["anna", {"id": "ben"}]}).encode())

    def do_POST(self):
        length = int(self.headers["content-length"])
        question = json.loads(self.rfile.read(length))
        self.server.asked.append((self.path, dict(self.headers), question))
        mode = self.server.mode
        if mode == "redirect":
            self.send_response(302)
            self.send_header("location", "http://127.0.0.1:9/elsewhere")
            self.end_headers()
            return None
        if mode == "fails at boom" and "boom" in question["input"]:
            return self._send(500, b"no")
        if mode == "refuses":
            return self._send(403, b"no")
        if mode == "web page":
            return self._send(200, b"<html>hello</html>")
        return self._send(200, tone(len(question["input"]) * 0.05 / question["speed"]))

    def _send(self, status, body):
        self.send_response(status)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_arguments):
        return None


def tone(seconds):
    stream = io.BytesIO()
    samples = 0.2 * np.sin(np.arange(int(seconds * 24000)) * 0.05)
    soundfile.write(stream, samples, 24000, format="WAV", subtype="PCM_16")
    return stream.getvalue()


@pytest.fixture
def server():
    found = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    found.daemon_threads = True
    found.asked, found.mode = [], ""
    thread = threading.Thread(target=found.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield found
    found.shutdown()
    found.server_close()


def engine_of(server, tmp_path, **settings):
    url = f"http://localhost:{server.server_port}/v1"
    return SpeechServerEngine(EngineSettings(data_dir=tmp_path, speech_server_url=url, **settings))


def test_off_without_an_address(tmp_path):
    assert SpeechServerEngine(EngineSettings(data_dir=tmp_path)).voices() == ()


def test_lists_and_speaks(server, tmp_path):
    engine = engine_of(
        server, tmp_path, speech_server_languages="en, de", speech_server_key="secret"
    )

    assert [voice.voice_id for voice in engine.voices()] == ["server:anna", "server:ben"]
    clip = VoiceCatalog([engine]).speak(
        SpeechOptions(text="Guten Abend.", language="de", voice="server:ben", speed=1.25), Event()
    )

    assert (clip.voice_id, clip.language, clip.sample_rate_hz) == ("server:ben", "de", 24000)
    path, headers, question = server.asked[-1]
    assert path == "/v1/audio/speech"
    assert headers["host"] == f"localhost:{server.server_port}"
    assert headers["authorization"] == "Bearer secret"
    assert question == {
        "model": "tts-1",
        "voice": "ben",
        "input": "Guten Abend.",
        "speed": 1.25,
        "response_format": "wav",
    }


def test_server_without_a_list_still_speaks(server, tmp_path):
    server.mode = "no list"

    assert [voice.voice_id for voice in engine_of(server, tmp_path).voices()] == ["server:alloy"]


@pytest.mark.parametrize(
    ("mode", "code", "told"),
    [
        ("refuses", ErrorCode.SPEECH_SERVER_FAILED, "it answered 403"),
        ("redirect", ErrorCode.SPEECH_SERVER_FAILED, "it answered 302"),
        ("web page", ErrorCode.SPEECH_SERVER_NO_SOUND, "something that is not a WAV file"),
    ],
)
def test_failure_names_its_cause_and_a_voice_of_this_computer(server, tmp_path, mode, code, told):
    engine = engine_of(server, tmp_path)
    catalog = VoiceCatalog([HibariEngine(), engine])
    server.mode = mode

    with pytest.raises(EngineError) as caught:
        catalog.speak(SpeechOptions(text="Hello.", voice="server:anna"), Event())

    assert caught.value.code is code
    message = describe(caught.value.code, caught.value.values)
    assert told in message.sentence
    assert "hibari:heart" in message.hint


def test_server_that_went_away_is_named(server, tmp_path):
    engine = engine_of(server, tmp_path)
    engine.voices()
    server.shutdown()
    server.server_close()

    with pytest.raises(EngineError) as caught:
        engine.speak("Hello.", "server:anna", "en", 1.0)

    assert caught.value.code is ErrorCode.SPEECH_SERVER_AWAY
    late = engine_of(server, tmp_path)
    assert late.voices() == ()
    with pytest.raises(EngineError) as caught:
        VoiceCatalog([HibariEngine(), late]).choose("Hello there.", None, "server:anna")
    assert caught.value.code is ErrorCode.SPEECH_SERVER_AWAY
    assert caught.value.values["other"] == "hibari:heart"


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("http://8.8.8.8:80", ErrorCode.SPEECH_ADDRESS_OUTSIDE),
        ("http://[2001:4860:4860::8888]:80", ErrorCode.SPEECH_ADDRESS_OUTSIDE),
        ("http://169.254.169.254", ErrorCode.SPEECH_ADDRESS_OUTSIDE),
        ("http://0.0.0.0:80", ErrorCode.SPEECH_ADDRESS_OUTSIDE),
        ("http://[::ffff:8.8.8.8]", ErrorCode.SPEECH_ADDRESS_OUTSIDE),
        ("ftp://127.0.0.1", ErrorCode.SPEECH_ADDRESS_WRONG),
        ("file:///etc/passwd", ErrorCode.SPEECH_ADDRESS_WRONG),
        ("http://me:secret@127.0.0.1", ErrorCode.SPEECH_ADDRESS_WRONG),
        ("http://no-such-name.invalid", ErrorCode.SPEECH_ADDRESS_UNKNOWN),
        ("127.0.0.1:80", ErrorCode.SPEECH_ADDRESS_WRONG),
        ("http://127.0.0.1:99999", ErrorCode.SPEECH_ADDRESS_WRONG),
    ],
)
def test_address_outside_is_refused(url, code):
    with pytest.raises(EngineError) as caught:
        private_server(url)

    assert caught.value.code is code


@pytest.mark.parametrize(
    ("url", "base"),
    [
        ("http://127.0.0.1:8880/v1/", "http://127.0.0.1:8880"),
        ("http://192.168.1.20", "http://192.168.1.20:80"),
        ("https://10.1.2.3:8443", "https://10.1.2.3:8443"),
        ("http://[fd00::1]:8000", "http://[fd00::1]:8000"),
    ],
)
def test_address_inside_is_taken(url, base):
    assert private_server(url).base_url == base
