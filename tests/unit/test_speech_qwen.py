"""Qwen3-TTS in its own environment.

The program and its protocol are run with stand-ins for torch and the model's package; where
STUDIO_TEST_QWEN_PYTHON names the Python of a real environment, a tiny random model speaks too.
"""

import os
import stat
import subprocess
import sys
import time
from pathlib import Path
from threading import Event

import numpy as np
import psutil
import pytest

from engine.contracts import SpeechOptions
from engine.errors import EngineError, ErrorCode, InputError
from engine.pipeline.tasks import task_table
from engine.pipeline.tools import Tools
from engine.settings import EngineSettings
from engine.speech.catalog import VoiceCatalog
from engine.speech.qwen import QwenEngine
from engine.weights.catalog import find_set
from engine.weights.environments import (
    Environment,
    environment_python,
    find_environment,
    make_environment,
)
from engine.weights.voices import QWEN_LARGE, QWEN_SMALL, set_of_voice
from engine.worker.task import TaskContext

REAL_PYTHON = os.environ.get("STUDIO_TEST_QWEN_PYTHON")
PROGRAM = Path(__file__).resolve().parents[2] / "engine" / "speech" / "qwen_process.py"
TINY = Path(__file__).resolve().parents[1] / "tiny_qwen.py"

TORCH = """
import contextlib, numpy
bfloat16 = float32 = "f"
int16 = numpy.int16
seeds = []
class cuda:
    @staticmethod
    def is_available(): return False
def manual_seed(seed): seeds.append(seed)
inference_mode = contextlib.nullcontext
class Tensor:
    def __init__(self, array): self.array = numpy.asarray(array)
    def float(self): return self
    def flatten(self): return Tensor(self.array.ravel())
    def clamp(self, low, high): return Tensor(self.array.clip(low, high))
    def __mul__(self, factor): return Tensor(self.array * factor)
    def to(self, kind): return Tensor(self.array.astype(kind))
    def cpu(self): return self
    def numpy(self): return self.array
as_tensor = Tensor
"""
PACKAGE = """
import json, numpy, pathlib, sys
class Qwen3TTSModel:
    @classmethod
    def from_pretrained(cls, folder, **options):
        print("a library that talks on standard output")
        json.loads((pathlib.Path(folder) / "config.json").read_text())
        return cls()
    def get_supported_speakers(self): return ["vivian"]
    def get_supported_languages(self): return ["english"]
    def generate_custom_voice(self, text, speaker, language, instruct, max_new_tokens):
        if "memory" in text: raise RuntimeError("CUDA out of memory. Tried to allocate")
        if "die" in text: sys.exit(3)
        if "sleep" in text:
            import time
            pathlib.Path(__file__).with_name("asleep.txt").write_text("")
            time.sleep(60)
        heard = f"{text}|{speaker}|{language}|{instruct}"
        tone = 0.25 * numpy.sin(numpy.arange(24000) * (0.05 if instruct else 0.1))
        pathlib.Path(__file__).with_name("heard.txt").write_text(heard)
        return [tone], 24000
"""


PARENT = """
import json, subprocess, sys
child = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE)
question = {"type": "speak", "text": "sleep", "speaker": "x", "language": "y", "instruct": "",
    "seed": 0}
child.stdin.write(json.dumps(question).encode() + b"\\n")
child.stdin.flush()
print(child.pid, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def folders(tmp_path):
    """The weights of both models, and an environment whose packages are stand-ins."""
    for weights in (QWEN_LARGE, QWEN_SMALL):
        for file in weights.files:
            path = tmp_path / "weights" / weights.name / file.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("{}")
    packages = tmp_path / "packages"
    packages.mkdir()
    (packages / "torch.py").write_text(TORCH)
    (packages / "transformers.py").write_text("")
    (packages / "qwen_tts.py").write_text(PACKAGE)
    python = tmp_path / "env" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\nPYTHONPATH={packages} exec {sys.executable} "$@"\n')
    python.chmod(python.stat().st_mode | stat.S_IXUSR)
    return tmp_path


@pytest.fixture
def engine(folders):
    found = QwenEngine(folders / "weights", folders / "env")
    yield found
    found.unload()


def heard(folders):
    return (folders / "packages" / "heard.txt").read_text()


def test_people_and_languages_are_listed(engine):
    voices = engine.voices()

    assert len(voices) == 18
    assert all(voice.installed and voice.needs == "gpu" for voice in voices)
    vivian = next(voice for voice in voices if voice.voice_id == "qwen:1.7b-Vivian")
    assert vivian.languages[0] == "cmn"
    assert "happy" in vivian.styles
    assert next(voice for voice in voices if "0.6b" in voice.voice_id).styles == ()


def test_speaks_in_the_wanted_language_and_style(engine, folders):
    options = SpeechOptions(
        text="Good evening.", voice="qwen:1.7b-Vivian", language="en-GB", style="happy"
    )

    clip = VoiceCatalog([engine]).speak(options, Event())

    assert heard(folders) == "Good evening.|Vivian|English|Speak happily, with a smile."
    assert (clip.voice_id, clip.language, clip.notes) == ("qwen:1.7b-Vivian", "en", ())
    assert clip.duration_s == pytest.approx(1.3, abs=0.2)


def test_style_in_own_words_is_passed_on_and_the_small_model_gets_none(engine, folders):
    engine.speak_styled("Hello.", "qwen:1.7b-Ryan", "en", 1.0, "Like a pirate.")
    assert heard(folders).endswith("|Like a pirate.")

    engine.speak_styled("Hello.", "qwen:0.6b-Ryan", "en", 1.0, "Like a pirate.")
    assert heard(folders).endswith("|None")


def test_speed_stretches_the_sound(engine):
    slow = engine.speak("Hello.", "qwen:1.7b-Ryan", "en", 0.5)

    assert slow.duration_s == pytest.approx(2.0, rel=0.05)


def test_full_card_is_told_and_the_next_sentence_works(engine):
    with pytest.raises(EngineError) as caught:
        engine.speak("No memory.", "qwen:1.7b-Ryan", "en", 1.0)
    assert caught.value.code is ErrorCode.GPU_MEMORY

    assert engine.speak("Hello.", "qwen:1.7b-Ryan", "en", 1.0).duration_s == pytest.approx(1.0)


def test_lost_process_is_an_unavailable_voice(engine):
    with pytest.raises(EngineError) as caught:
        engine.speak("Now die.", "qwen:1.7b-Ryan", "en", 1.0)

    assert caught.value.code is ErrorCode.VOICE_UNAVAILABLE


def test_damaged_model_is_an_unavailable_voice(engine, folders):
    (folders / "weights" / QWEN_LARGE.name / "config.json").write_text("{")

    with pytest.raises(EngineError) as caught:
        engine.speak("Hello.", "qwen:1.7b-Ryan", "en", 1.0)

    assert caught.value.code is ErrorCode.VOICE_UNAVAILABLE


def test_process_ends_with_its_parent_even_while_it_speaks(folders):
    program = folders / "parent.py"
    program.write_text(PARENT)
    python, model = folders / "env" / "bin" / "python", folders / "weights" / QWEN_LARGE.name
    parent = subprocess.Popen(
        [sys.executable, program, python, PROGRAM, model],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    child = psutil.Process(int(parent.stdout.readline()))
    while not (folders / "packages" / "asleep.txt").exists():
        time.sleep(0.05)

    parent.kill()
    parent.wait()

    child.wait(timeout=30)
    parent.stdout.close()
    parent.stdin.close()


def test_card_is_free_at_once_when_a_video_needs_it(engine):
    engine.speak("Hello.", "qwen:1.7b-Ryan", "en", 1.0)
    pid = engine._child.pid
    assert psutil.pid_exists(pid)

    VoiceCatalog([engine]).free_card()

    assert not psutil.pid_exists(pid)


def test_speaking_task_gives_the_card_back(folders):
    data_dir = folders / "data"
    (data_dir / "environments").mkdir(parents=True)
    (data_dir / "weights").symlink_to(folders / "weights")
    (data_dir / "environments" / "qwen").symlink_to(folders / "env")
    tools = Tools()
    context = TaskContext(EngineSettings(data_dir=data_dir), Event(), lambda _progress: None)
    speech = SpeechOptions(text="Good evening.", voice="qwen:1.7b-Ryan", style="calm")

    done = task_table(tools)["speak"](
        {"speech": speech.model_dump(), "target": str(folders / "a.wav")}, context
    )

    assert done["voice"] == "qwen:1.7b-Ryan"
    assert [word["text"] for word in done["timings"]["words"]] == ["Good", "evening."]
    assert heard(folders).endswith("|English|Speak calmly and slowly.")
    assert tools.voices._engines["qwen"]._child is None


def test_missing_weights_or_environment_leave_the_voices_to_be_fetched(folders):
    no_weights = QwenEngine(folders / "nothing", folders / "env")
    no_environment = QwenEngine(folders / "weights", folders / "nothing")

    for engine in (no_weights, no_environment):
        assert not any(voice.installed for voice in engine.voices())
    with pytest.raises(InputError) as caught:
        VoiceCatalog([no_weights]).choose("Hi", "en", "qwen:1.7b-Vivian")
    assert caught.value.code is ErrorCode.VOICE_NOT_INSTALLED


def test_unknown_person_is_refused(engine):
    with pytest.raises(InputError) as caught:
        engine.speak("Hello.", "qwen:1.7b-Nobody", "en", 1.0)

    assert caught.value.code is ErrorCode.VOICE_UNKNOWN


def test_each_model_has_its_set_of_files():
    assert set_of_voice("qwen:0.6b-Ryan") == find_set("qwen-0.6b") == QWEN_SMALL
    assert set_of_voice("qwen:1.7b-Vivian") == QWEN_LARGE
    assert {file.path for file in QWEN_LARGE.files} >= {
        "config.json",
        "model.safetensors",
        "speech_tokenizer/model.safetensors",
    }


def test_failed_install_is_one_sentence(tmp_path):
    python = tmp_path / "env" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text("#!/bin/sh\necho first >&2\necho ERROR: no room for $6 >&2\nexit 1\n")
    python.chmod(python.stat().st_mode | stat.S_IXUSR)
    own = Environment("own", "Own", ("big-package==9",), (), "nothing")

    with pytest.raises(EngineError) as caught:
        make_environment(own, tmp_path / "env", ["--no-index"])

    assert caught.value.code is ErrorCode.VOICE_SETUP_FAILED
    assert caught.value.values["reason"] == "ERROR: no room for big-package==9"
    with pytest.raises(InputError):
        find_environment("nobody")


@pytest.mark.slow
def test_environment_is_made_with_a_python_of_its_own(tmp_path):
    own = Environment("own", "Own", ("no-such-package-of-ours==9",), (), "nothing")

    with pytest.raises(EngineError) as caught:
        make_environment(own, tmp_path / "env", ["--no-index", "--no-cache-dir"])

    assert "no-such-package-of-ours" in caught.value.values["reason"]
    assert environment_python(tmp_path / "env").is_file()


@pytest.mark.slow
@pytest.mark.skipif(REAL_PYTHON is None, reason="STUDIO_TEST_QWEN_PYTHON names no environment")
def test_tiny_random_model_speaks_through_the_real_package(tmp_path):
    folder = tmp_path / "weights" / QWEN_LARGE.name
    subprocess.run([REAL_PYTHON, str(TINY), str(folder)], check=True, capture_output=True)
    for file in QWEN_LARGE.files:
        assert (folder / file.path).is_file(), file.path
    engine = QwenEngine(tmp_path / "weights", Path(REAL_PYTHON).parents[1])

    first, second = (
        engine.speak_styled("Hello there.", "qwen:1.7b-Vivian", "en", 1.0, "happy")
        for _ in range(2)
    )
    engine.unload()

    assert first.sample_rate_hz == 24000
    assert 0.3 < first.duration_s < 60
    assert np.isfinite(first.samples).all()
    assert np.array_equal(first.samples, second.samples)
