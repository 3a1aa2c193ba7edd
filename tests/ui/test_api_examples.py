"""The examples of docs/api.md make videos against a real studio, as they stand there."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from engine.media.video import probe_video
from tests.ui.test_ui_create import PORTRAIT, SHORT_SPEECH

pytestmark = [pytest.mark.ui, pytest.mark.timeout(300)]

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "api.md"
WRITTEN_ADDRESS = "http://127.0.0.1:7860"
LIMIT_S = 120


def example(language: str, words: str) -> str:
    """The code block of a language with these words in it."""
    blocks = re.findall(rf"```{language}\n(.*?)```", DOCUMENT.read_text("utf-8"), re.S)
    return next(block for block in blocks if words in block)


def run(command: list[str], folder: Path) -> str:
    shutil.copyfile(PORTRAIT, folder / "portrait.jpg")
    shutil.copyfile(SHORT_SPEECH, folder / "speech.wav")
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=LIMIT_S, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def run_python(words: str, address: str, folder: Path) -> str:
    code = example("python", words).replace(WRITTEN_ADDRESS, address)
    return run([sys.executable, "-c", code], folder)


def test_a_program_makes_a_video_with_gradio_client(studio_address, tmp_path):
    run_python('"/submit"', studio_address, tmp_path)

    assert probe_video(tmp_path / "video.mp4").duration_s == pytest.approx(2.99, abs=0.1)


def test_a_program_asks_what_a_video_would_cost(studio_address, tmp_path):
    told = run_python('"/check"', studio_address, tmp_path)

    assert re.match(r"True \d+\.\d+ seconds\n\['", told)


def test_a_program_makes_a_video_over_mcp(studio_address, tmp_path):
    run_python("ClientSession", studio_address, tmp_path)

    assert probe_video(tmp_path / "spoken.mp4").duration_s > 0.5


def test_a_shell_asks_for_a_video(studio_address, tmp_path):
    code = example("sh", "curl").replace(WRITTEN_ADDRESS, studio_address)

    assert re.search(r'"job_id": "[0-9a-f]{32}"', run(["bash", "-c", code], tmp_path))
