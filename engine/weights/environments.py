"""Environments of Python beside the product's own, for models that need other libraries."""

import os
import subprocess
import sys
import venv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.errors import EngineError, ErrorCode, InputError

_TAIL_CHARACTERS = 300  # of what the installer says, in an error


@dataclass(frozen=True)
class Environment:
    """What is installed, in this order.

    Attributes:
        name: what people type.
        title: what messages call it.
        packages: with all that they need.
        bare_packages: without, because what they ask for is not needed or does not fit.
        size_words: about what the download takes.
    """

    name: str
    title: str
    packages: tuple[str, ...]
    bare_packages: tuple[str, ...]
    size_words: str


# The package asks for gradio and for torchaudio as well; what is used of it needs neither.
QWEN = Environment(
    name="qwen",
    title="Qwen3-TTS",
    packages=(
        "torch>=2.6,<3",
        "transformers==4.57.3",
        "accelerate==1.12.0",
        "librosa>=0.10,<1",
        "soundfile>=0.12,<1",
        "onnxruntime>=1.18,<2",
        "einops>=0.8,<1",
        "sox>=1.5,<2",
    ),
    bare_packages=("qwen-tts==0.1.1",),
    size_words="about 3 GB with the libraries for an NVIDIA card",
)
ENVIRONMENTS = (QWEN,)


def find_environment(name: str) -> Environment:
    """The environment called `name`.

    Raises:
        InputError: BAD_OPTION.
    """
    for known in ENVIRONMENTS:
        if known.name == name:
            return known
    names = ", ".join(known.name for known in ENVIRONMENTS)
    raise InputError(ErrorCode.BAD_OPTION, option="name", reason=f"known are: {names}")


def environment_python(folder: Path) -> Path:
    """The Python of an environment; need not be there."""
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def make_environment(environment: Environment, folder: Path, extra: Sequence[str] = ()) -> None:
    """Make it, or bring it up to date; what pip says goes to standard error.

    Args:
        environment: what to install.
        folder: where to.
        extra: options for pip, such as another index.

    Raises:
        EngineError: VOICE_SETUP_FAILED with the last words of the installer.
    """
    try:
        if not environment_python(folder).is_file():
            folder.parent.mkdir(parents=True, exist_ok=True)
            venv.EnvBuilder(with_pip=True, clear=True).create(folder)
    except (OSError, subprocess.SubprocessError) as error:
        raise _failed(environment, str(error)) from error
    _install(environment, folder, [*extra, *environment.packages])
    _install(environment, folder, [*extra, "--no-deps", *environment.bare_packages])


def _install(environment: Environment, folder: Path, arguments: Sequence[str]) -> None:
    command = [str(environment_python(folder)), "-m", "pip", "install", "--upgrade", *arguments]
    try:
        done = subprocess.run(
            command, stdout=sys.stderr, stderr=subprocess.PIPE, text=True, check=False
        )
    except OSError as error:
        raise _failed(environment, str(error)) from error
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if line.strip()] or ["pip failed"]
        raise _failed(environment, lines[-1])


def _failed(environment: Environment, reason: str) -> EngineError:
    shown = reason.strip()[-_TAIL_CHARACTERS:]
    return EngineError(ErrorCode.VOICE_SETUP_FAILED, voice=environment.title, reason=shown)
