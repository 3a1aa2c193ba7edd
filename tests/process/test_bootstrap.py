"""The one command of the README, on a folder that is set up already."""

import hashlib
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from polling import wait_until

from engine.worker.ending import is_alive

ROOT = Path(__file__).resolve().parents[2]
REQUIREMENTS = ("requirements.txt", "requirements-cpu.txt", "requirements-dev.txt")

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the environment here is a link")


@pytest.fixture
def studio(tmp_path: Path) -> Path:
    """A clone whose environment is there; its programs only say what they were given."""
    clone = tmp_path / "studio"
    (clone / ".venv/bin").mkdir(parents=True)
    (clone / ".venv/bin/python").symlink_to(sys.executable)
    for name in ("bootstrap.py", *REQUIREMENTS):
        shutil.copy(ROOT / name, clone)
    text = b"".join((clone / name).read_bytes() for name in ["requirements-cpu.txt"] * 2)
    (clone / ".venv" / f"installed-{hashlib.sha256(text).hexdigest()[:16]}").touch()
    (clone / "engine").mkdir()
    told = "import os, sys; print(os.getcwd(), *sys.argv[1:], flush=True)\n"
    (clone / "engine/__main__.py").write_text(told)
    (clone / "app.py").write_text(f"{told}import time; time.sleep(60)\n")
    return clone


def start(studio: Path, where: Path, *arguments: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, str(studio / "bootstrap.py"), "--cpu", *arguments],
        cwd=where,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("given", [["cli", "animate", "me.jpg"], ["animate", "me.jpg"]])
def test_a_command_finds_the_files_of_where_it_is_typed(
    studio: Path, tmp_path: Path, given: list[str]
) -> None:
    (tmp_path / "engine").mkdir()  # of somebody else

    said, fault = start(studio, tmp_path, *given).communicate(timeout=60)

    assert (said, fault) == (f"{tmp_path} animate me.jpg\n", "")


def test_a_polite_kill_ends_the_studio_too(studio: Path, tmp_path: Path) -> None:
    program = start(studio, tmp_path, "--port", "8000")
    assert program.stdout is not None
    assert program.stdout.readline() == f"{tmp_path} --port 8000\n"
    children = psutil.Process(program.pid).children()

    program.send_signal(signal.SIGTERM)

    wait_until(lambda: not any(is_alive(child) for child in children))
    program.communicate(timeout=60)


def test_what_cannot_be_added_is_said_in_a_sentence(studio: Path, tmp_path: Path) -> None:
    program = start(studio, tmp_path, "add", "wings")

    assert program.communicate(timeout=60)[1] == "Say what to add: captions, translate, scale.\n"
    assert program.returncode == 2
