"""Voices through the real doors: fetched by a command, previewed while a video is made, asked of a
speech server of the local network, and counted in the estimate."""

import hashlib
import io
import json
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import soundfile

from engine.api import StudioEngine
from engine.contracts import AnimateRequest, JobStatus, RenderOptions, SpeechOptions
from engine.errors import EngineError, ErrorCode, InputError
from engine.settings import EngineSettings
from engine.speech.hibari import HibariEngine
from engine.weights.voices import PIPER_REPO, PIPER_REVISION
from tests.tiny_voices import make_piper

ROOT = Path(__file__).resolve().parents[2]
PORTRAIT = ROOT / "tests" / "data" / "portraits" / "astronaut_collins.jpg"
KEY = "de_DE-thorsten-medium"


def serve(handler, **attributes):
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    for name, value in attributes.items():
        setattr(server, name, value)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    return server


class Hub(BaseHTTPRequestHandler):
    """One repository with the hub's addresses and headers."""

    def do_HEAD(self):
        self.answer(with_body=False)

    def do_GET(self):
        self.answer(with_body=True)

    def answer(self, *, with_body):
        path = self.path.removeprefix(f"/{PIPER_REPO}/resolve/{PIPER_REVISION}/")
        folder, _, name = path.rpartition("/")
        file = self.server.folder / name
        if folder != "de/de_DE/thorsten/medium" or not file.is_file():
            self.send_response(404)
            self.end_headers()
            return
        content = file.read_bytes()
        blob = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
        large = hashlib.sha256(content).hexdigest()
        self.send_response(200)
        self.send_header("X-Repo-Commit", "0" * 40)
        self.send_header("ETag", f'"{large if name.endswith(".onnx") else blob}"')
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if with_body:
            self.wfile.write(content)

    def log_message(self, *_arguments):
        return None


class SpeechServer(BaseHTTPRequestHandler):
    """Speaks with hibari and tells no times."""

    def do_GET(self):
        self.send(json.dumps({"voices": ["anna"]}).encode())

    def do_POST(self):
        question = json.loads(self.rfile.read(int(self.headers["content-length"])))
        clip = self.server.voice.speak(question["input"], "hibari:heart", "en", 1.0)
        stream = io.BytesIO()
        soundfile.write(stream, clip.samples, clip.sample_rate_hz, format="WAV")
        self.send(stream.getvalue())

    def send(self, body):
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_arguments):
        return None


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    server = serve(SpeechServer, voice=HibariEngine())
    settings = EngineSettings(
        data_dir=tmp_path_factory.mktemp("data"),
        speech_server_url=f"http://127.0.0.1:{server.server_port}",
    )
    with StudioEngine(settings) as found:
        yield found
    server.shutdown()


@pytest.mark.timeout(300)  # three processes start
def test_voice_is_fetched_by_a_command_and_then_speaks(tmp_path):
    files, data_dir = tmp_path / "published", tmp_path / "data"
    make_piper(files, KEY, voice="de")
    hub = serve(Hub, folder=files)
    got = subprocess.run(
        [sys.executable, "-m", "engine", "voices", "get", f"piper:{KEY}", "--json"],
        cwd=ROOT,
        env={
            **os.environ,
            "STUDIO_DATA_DIR": str(data_dir),
            "STUDIO_HUB_ENDPOINT": f"http://127.0.0.1:{hub.server_port}",
            "PYTHONUTF8": "1",
        },
        capture_output=True,
        encoding="utf-8",
        timeout=280,
        check=False,
    )
    hub.shutdown()

    assert got.returncode == 0, got.stderr
    assert "CC0-1.0" in got.stderr
    assert json.loads(got.stdout) == {"voice": f"piper:{KEY}", "installed": True}
    with StudioEngine(EngineSettings(data_dir=data_dir)) as engine:
        german = SpeechOptions(text="Guten Abend.", language="de")
        spoken = engine.speak(german, tmp_path / "a.wav")
    assert spoken["voice"] == f"piper:{KEY}"
    assert [word["text"] for word in spoken["timings"]["words"]] == ["Guten", "Abend."]
    assert soundfile.info(tmp_path / "a.wav").duration == pytest.approx(
        spoken["duration_s"], abs=0.1
    )


def test_speech_server_gets_times_from_our_aligner(engine, tmp_path):
    text = "Please bring the big box of maps before Monday."

    seen = []

    result = engine.speak(
        SpeechOptions(text=text, voice="server:anna"), tmp_path / "a.wav", seen.append
    )

    assert [(progress.done, progress.total) for progress in seen] == [(1, 1)]
    times = result["timings"]
    assert " ".join(word["text"] for word in times["words"]) == text
    assert len(times["phonemes"]) > 20
    assert times["phonemes"][-1]["end_s"] <= result["duration_s"]


def test_offered_voices_say_what_they_need(engine):
    offered = engine.voices("de", with_missing=True)
    installed = engine.voices("de")

    assert [voice.voice_id for voice in offered[: len(installed)]] == [
        voice.voice_id for voice in installed
    ]
    missing = offered[len(installed) :]
    assert {voice.engine for voice in missing} == {"piper", "supertonic", "qwen"}
    assert all(not voice.installed and voice.size_mb > 10 for voice in missing)
    assert engine.fetch_voice("hibari:heart") == ""
    with pytest.raises(InputError) as caught:
        engine.fetch_voice("nobody:here")
    assert caught.value.code is ErrorCode.VOICE_UNKNOWN


def test_downloads_are_offered_by_language_and_tell_their_size(engine):
    german = {each.files.name: each for each in engine.voice_downloads("de")}

    thorsten = german[f"piper-{KEY}"]
    assert [voice.name for voice in thorsten.voices] == ["Thorsten"]
    assert 60 < thorsten.files.missing_mb < 70
    assert len(german["supertonic"].voices) == 10
    assert "piper-ru_RU-dmitri-medium" not in german
    assert not any(name.startswith("qwen") for name in german), "needs more than a download"


@pytest.mark.parametrize(
    ("address", "code"),
    [
        ("http://8.8.8.8:8880", ErrorCode.SPEECH_ADDRESS_OUTSIDE),
        ("http://127.0.0.1:1", ErrorCode.SPEECH_SERVER_AWAY),
    ],
)
def test_a_speech_server_is_tried_before_its_address_is_kept(engine, address, code):
    assert engine.try_speech_server(str(engine.settings.speech_server_url)) == ("anna",)
    with pytest.raises(EngineError) as caught:
        engine.try_speech_server(address)

    assert caught.value.code is code
    assert caught.value.values["other"] == "hibari:heart"


def test_an_address_outside_is_not_kept(engine):
    with pytest.raises(EngineError):
        engine.choose({"speech_server_url": "http://8.8.8.8:8880"})
    engine.choose({"speech_server_url": "http://127.0.0.1:1", "speech_server_languages": "de"})

    kept = EngineSettings(data_dir=engine.settings.data_dir)
    assert kept.speech_server_url == "http://127.0.0.1:1", "it may be away just now"
    assert kept.speech_server_languages == "de"


def test_text_over_the_cap_is_refused_by_speak_too(engine, tmp_path):
    with pytest.raises(EngineError) as caught:
        engine.speak(SpeechOptions(text="a" * 5001, voice="espeak:en-us"), tmp_path / "a.wav")

    assert caught.value.code is ErrorCode.TEXT_TOO_LONG
    assert not (tmp_path / "a.wav").exists()


def test_estimate_counts_the_time_a_voice_speaks(engine):
    text = "The quick studio turns one portrait and a short script into a video. " * 10

    def seconds(voice):
        report = engine.check(PORTRAIT, speech=SpeechOptions(text=text, voice=voice))
        return report.estimate["lite"].seconds

    assert seconds("kokoro:af_heart") > seconds("espeak:en-us") + 15


def test_voice_is_previewed_while_a_video_is_made(engine):
    job = engine.submit(
        AnimateRequest(
            portrait=str(PORTRAIT),
            speech=SpeechOptions(text="One two three four. " * 60, voice="espeak:en-us"),
            options=RenderOptions(animator="lite", size_px=256),
            consent=True,
        )
    )
    running = engine.wait(job.job_id, timeout_s=0.5)
    while running.status is JobStatus.QUEUED:
        running = engine.wait(job.job_id, timeout_s=0.2)

    heard = engine.preview_voice(SpeechOptions(text="Hello, this is my voice."))

    assert soundfile.info(heard).duration > 1.0
    assert engine.get(job.job_id).status is JobStatus.RUNNING
    engine.cancel(job.job_id)
    assert engine.wait(job.job_id, timeout_s=60).status is JobStatus.CANCELED
