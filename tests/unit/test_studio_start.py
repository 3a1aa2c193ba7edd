"""The start script, run the way a person runs it."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import gradio as gr
import pytest

from engine.settings import EngineSettings
from studio.process import prepare_process

APP = Path(__file__).resolve().parents[2] / "app.py"


def start(folder: Path, *options: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(APP), *options],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "STUDIO_DATA_DIR": str(folder), **variables},
    )


@pytest.mark.parametrize(
    ("options", "variables", "words"),
    [
        (["--share"], {}, "user add NAME"),
        (["--host", "0.0.0.0"], {}, "user add NAME"),
        ([], {"STUDIO_PUBLIC": "accounts"}, "at least one account"),
        ([], {"STUDIO_PUBLIC": "anonymous", "STUDIO_MCP": "1"}, "MCP"),
        ([], {"STUDIO_PUBLIC": "anonymous", "STUDIO_VISIBLE_LABEL": "0"}, "visible label"),
        ([], {"GRADIO_SHARE": "True"}, "GRADIO_SHARE"),
        ([], {"STUDIO_PORT": "many"}, "STUDIO_PORT"),
    ],
)
def test_a_start_that_cannot_be_is_refused_in_one_sentence(tmp_path, options, variables, words):
    finished = start(tmp_path, *options, **variables)

    assert finished.returncode == 2
    assert finished.stdout == ""
    assert finished.stderr.count("\n") == 1
    assert words in finished.stderr


def test_the_process_works_in_an_empty_folder_and_sends_nothing_home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    leftover = tmp_path / "data" / "uploads" / "old" / "photo.jpg"
    leftover.parent.mkdir(parents=True)
    leftover.write_bytes(b"from a run that was killed")
    environment: dict[str, str] = {}

    prepare_process(EngineSettings(data_dir=tmp_path / "data"), environment)

    assert not list(Path.cwd().iterdir())
    assert not leftover.exists()
    assert environment["GRADIO_TEMP_DIR"] == str(tmp_path / "data" / "uploads")
    assert environment["GRADIO_ANALYTICS_ENABLED"] == "False"


def test_gradio_draws_up_no_statistics_of_every_event(tmp_path, monkeypatch):
    """Nobody sees them, and they take a slow computer a tenth of a second for every click."""
    monkeypatch.chdir(tmp_path)
    environment: dict[str, str] = {}
    prepare_process(EngineSettings(data_dir=tmp_path / "data"), environment)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    queue = gr.Blocks().queue()._queue
    queue.events_recorded = 5

    told = queue.compute_analytics_summary(
        [{"function": "tick", "status": "success", "process_time": 0.1}]
    )

    assert told == {"functions": {}}
    assert queue.ANALYTICS_MAX_EVENTS == 1


def test_everything_the_page_reads_from_disk_is_packaged():
    root = APP.parent
    setup = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["setuptools"]
    patterns = setup["package-data"]["studio"]
    packaged = {path for pattern in patterns for path in (root / "studio").glob(pattern)}

    read = {path for path in (root / "studio").rglob("*") if path.suffix in (".css", ".html")}

    assert read
    assert read <= packaged
