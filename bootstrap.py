#!/usr/bin/env python3
"""Set up Sonic Studio in its own environment and start it. Needs only Python.

    python3 bootstrap.py               set up and start the studio
    python3 bootstrap.py --port 8000   the same with an option (`start --help` lists them)
    python3 bootstrap.py test          set up and run the tests
    python3 bootstrap.py animate ...   set up and run a command (`cli --help` lists them)
    python3 bootstrap.py add captions  install an extra: captions, translate or scale

Options before the rest: --gpu installs the GPU engine (chosen by itself where an NVIDIA card
is found), --cpu the small install. Everything goes into the folder .venv beside this file.
"""

import hashlib
import os
import shutil
import signal
import subprocess
import sys
import venv
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parent
VENV_DIR = ROOT / ".venv"
PYTHON = VENV_DIR / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
OLDEST, TOO_NEW = (3, 11), (3, 15)
EXTRAS = {name: f"requirements-{name}.txt" for name in ("captions", "translate", "scale")}


def fail(sentence: str) -> NoReturn:
    """Say one sentence and leave."""
    print(sentence, file=sys.stderr)
    raise SystemExit(2)


def make_venv() -> None:
    """Create .venv once; explain the one thing that is often missing."""
    if PYTHON.exists():
        return
    print("Setting up (about two minutes the first time) ...", flush=True)
    try:
        import ensurepip  # noqa: F401, PLC0415 - Debian and Ubuntu leave it out
    except ImportError:
        fail(
            "This Python cannot make environments yet. On Debian or Ubuntu run: "
            "sudo apt install python3-venv - then run this command again."
        )
    shutil.rmtree(VENV_DIR, ignore_errors=True)
    try:
        venv.create(VENV_DIR, with_pip=True)
    except (OSError, subprocess.CalledProcessError):
        shutil.rmtree(VENV_DIR, ignore_errors=True)
        fail(
            "The environment could not be made in the folder .venv: check that the disk has "
            "3 GB free and that you may write here, then run this command again."
        )


def has_nvidia_card() -> bool:
    """Whether the NVIDIA driver answers."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return False
    try:
        listing = subprocess.run([program, "-L"], capture_output=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return listing.returncode == 0 and b"GPU" in listing.stdout


def install(names: list) -> None:
    """Install requirement files whose content was not installed yet."""
    text = b"".join((ROOT / name).read_bytes() for name in ["requirements-cpu.txt", *names])
    digest = hashlib.sha256(text).hexdigest()[:16]
    stamp = VENV_DIR / f"installed-{digest}"
    if stamp.exists():
        return
    print("Installing packages: " + ", ".join(names) + " ...", flush=True)
    command = [str(PYTHON), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    for name in names:
        command += ["-r", str(ROOT / name)]
    if subprocess.run(command, check=False).returncode != 0:
        fail(
            "Some packages could not be installed (see above). Check the internet connection "
            "and run this command again; what was downloaded is kept."
        )
    stamp.touch()


def run(arguments: list, **options: object) -> NoReturn:
    """Run Python of the environment and leave with its exit code."""
    process = subprocess.Popen([str(PYTHON), *arguments], **options)
    signal.signal(signal.SIGTERM, lambda *_: process.terminate())
    while True:
        try:
            raise SystemExit(process.wait())
        except KeyboardInterrupt:
            continue  # the child got the same Ctrl-C and ends by itself


def main() -> None:
    """Set up what is missing, then start what was asked for."""
    if not OLDEST <= sys.version_info[:2] < TOO_NEW:
        fail(
            "Sonic Studio needs Python 3.11, 3.12, 3.13 or 3.14; this is "
            f"{sys.version_info[0]}.{sys.version_info[1]}."
        )
    arguments = sys.argv[1:]
    if arguments[:1] in (["--help"], ["-h"]):
        print(__doc__.strip())
        return
    wants_gpu = "--gpu" in arguments or ("--cpu" not in arguments and has_nvidia_card())
    arguments = [a for a in arguments if a not in ("--gpu", "--cpu")]
    command = arguments.pop(0) if arguments and not arguments[0].startswith("-") else "start"
    make_venv()
    files = ["requirements.txt" if wants_gpu else "requirements-cpu.txt"]
    install([*files, "requirements-dev.txt"] if command == "test" else files)
    if command == "add":
        if not arguments or not set(arguments) <= set(EXTRAS):
            fail(f"Say what to add: {', '.join(EXTRAS)}.")
        install([EXTRAS[name] for name in arguments])
        return
    if command == "start":
        run([str(ROOT / "app.py"), *arguments])
    if command == "test":
        run(["-m", "pytest", *arguments], cwd=ROOT)
    paths = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    commands = arguments if command == "cli" else [command, *arguments]
    run(["-P", "-m", "engine", *commands], env={**os.environ, "PYTHONPATH": paths})


if __name__ == "__main__":
    main()
