#!/usr/bin/env python3
"""Lay the files of a Hugging Face Space into a folder, ready to be pushed. Needs only Python.

    python3 deploy/space/lay.py cpu FOLDER       free hardware: the lite animator, no torch
    python3 deploy/space/lay.py gpu FOLDER       a Space with an NVIDIA card of its own: Sonic
    python3 deploy/space/lay.py zerogpu FOLDER   a card that is lent for each video
    python3 deploy/space/lay.py --sync           bring requirements.txt up to date

A Space installs requirements.txt alone, without any file that it names, so requirements.txt
repeats the lines of requirements-cpu.txt.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]

VARIANTS = ("cpu", "gpu", "zerogpu")

PRODUCT = ("engine", "studio", "assets", "app.py", "LICENSE", "NOTICE")
"""What a Space needs of the product; tests, training and docs stay away."""

GPU_MARK = "# The GPU engine."
"""The line of requirements.txt after which the lines begin that it has of its own."""

ZERO_GPU_TORCH = "torch==2.11.0"
"""The newest that ZeroGPU takes; the product elsewhere uses a newer one."""

ZERO_GPU_ONLY = ("spaces>=0.51,<1",)


def fail(sentence: str) -> NoReturn:
    """Say one sentence and leave."""
    print(sentence, file=sys.stderr)
    raise SystemExit(2)


def lines_of(path: Path) -> list[str]:
    """The packages a requirement file names, without comments."""
    lines = (line.split(" #")[0].strip() for line in path.read_text("utf-8").splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def synced(full: str, small: str) -> str:
    """The text of requirements.txt with the lines of the small install as they are now."""
    head, mark, own = full.partition(GPU_MARK)
    comment = head.splitlines()[0]
    packages = [line for line in small.splitlines() if line and not line.startswith("#")]
    return "\n".join([comment, *packages, mark + own])


def requirements_of(variant: str) -> str:
    """What a Space of this variant installs."""
    if variant == "cpu":
        return "\n".join(lines_of(ROOT / "requirements-cpu.txt")) + "\n"
    packages = lines_of(ROOT / "requirements.txt")
    if variant == "zerogpu":
        packages = [re.sub(r"^torch==.*", ZERO_GPU_TORCH, line) for line in packages]
        packages += ZERO_GPU_ONLY
    return "\n".join(packages) + "\n"


def product_files() -> list[Path]:
    """Files of the product, relative to the repository: tracked ones, or all where git is not."""
    command = ["git", "-C", str(ROOT), "ls-files", "-z", "--", *PRODUCT]
    try:
        listed = subprocess.run(command, capture_output=True, check=True).stdout
        names = [name for name in listed.decode().split("\0") if name]
        return [Path(name) for name in names if (ROOT / name).is_file()]
    except (OSError, subprocess.CalledProcessError):
        found = [path for name in PRODUCT for path in [ROOT / name, *(ROOT / name).rglob("*")]]
        return [
            path.relative_to(ROOT)
            for path in found
            if path.is_file() and "__pycache__" not in path.parts
        ]


def lay(variant: str, target: Path) -> None:
    """Fill an empty or new folder, or a checkout of a Space, with a variant."""
    strangers = [entry.name for entry in target.iterdir()] if target.is_dir() else []
    if strangers and ".git" not in strangers:
        fail(f"{target} is not empty and no checkout of a Space; give another folder.")
    for name in (*PRODUCT, "requirements.txt", "README.md", "space_app.py"):
        place = target / name
        if place.is_dir():
            shutil.rmtree(place)
        else:
            place.unlink(missing_ok=True)
    for path in product_files():
        place = target / path
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / path, place)
    for path in sorted((HERE / variant).iterdir()):
        if path.is_file():
            shutil.copyfile(path, target / path.name)
    (target / "requirements.txt").write_text(requirements_of(variant), "utf-8")


def main() -> None:
    """Do what was asked for."""
    arguments = sys.argv[1:]
    if arguments == ["--sync"]:
        full = ROOT / "requirements.txt"
        small = (ROOT / "requirements-cpu.txt").read_text("utf-8")
        full.write_text(synced(full.read_text("utf-8"), small), "utf-8")
    elif len(arguments) == 2 and arguments[0] in VARIANTS:
        lay(arguments[0], Path(arguments[1]).absolute())
        print(f"{arguments[1]} is ready to be pushed to a Space.")
    else:
        fail((__doc__ or "").strip())


if __name__ == "__main__":
    main()
