"""The files of Hugging Face Spaces: front matter, requirements, and the tree that is pushed."""

import importlib.metadata
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from huggingface_hub import RepoCard, SpaceHardware
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).resolve().parents[2]
SPACE = ROOT / "deploy" / "space"
READMES = [ROOT / "README.md", *sorted(SPACE.glob("*/README.md"))]
IDS = ["root", "cpu", "gpu", "zerogpu"]
COLOURS = {"red", "yellow", "green", "blue", "indigo", "purple", "pink", "gray"}
KEYS = {
    "title", "emoji", "colorFrom", "colorTo", "sdk", "sdk_version", "python_version", "app_file",
    "short_description", "license", "suggested_hardware", "startup_duration_timeout",
}  # fmt: skip
ZERO_GPU_TORCH = {"2.8.0", "2.9.1", "2.10.0", "2.11.0"}


def front_matter(path: Path) -> dict[str, Any]:
    text = path.read_text("utf-8")
    assert text.startswith("---\n")
    found: dict[str, Any] = yaml.safe_load(text.split("---\n")[1])
    return found


def requirements(path: Path) -> list[Requirement]:
    lines = [line.strip() for line in path.read_text("utf-8").splitlines()]
    return [Requirement(line) for line in lines if line and not line.startswith("#")]


def lay(variant: str, target: Path) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, str(SPACE / "lay.py"), variant, str(target)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("path", READMES, ids=IDS)
def test_the_front_matter_is_what_a_space_reads(path: Path) -> None:
    found = front_matter(path)

    assert set(found) <= KEYS
    assert (found["sdk"], found["python_version"]) == ("gradio", "3.12")
    assert isinstance(found["sdk_version"], str)
    gradio = next(r for r in requirements(ROOT / "requirements-cpu.txt") if r.name == "gradio")
    assert gradio.specifier.contains(found["sdk_version"])
    assert {found.get("colorFrom", "red"), found.get("colorTo", "red")} <= COLOURS
    assert len(found.get("short_description", "")) <= 60
    hardware = found.get("suggested_hardware", "cpu-basic")
    assert hardware in {known.value for known in SpaceHardware}
    folder = path.parent
    assert (folder / found["app_file"]).is_file() or (ROOT / found["app_file"]).is_file()
    assert RepoCard(path.read_text("utf-8")).data.to_dict()["title"] == "Sonic Studio"


def test_the_first_screen_of_the_readme_begins_with_the_product() -> None:
    after = (ROOT / "README.md").read_text("utf-8").split("---\n", 2)[2]

    assert after.lstrip().startswith("# Sonic Studio\n")
    assert len(front_matter(ROOT / "README.md")) <= 6


def test_a_space_installs_the_root_requirements_without_another_file() -> None:
    """It reads requirements.txt alone; `python3 deploy/space/lay.py --sync` puts it right."""
    full = {str(line) for line in requirements(ROOT / "requirements.txt")}
    small = {str(line) for line in requirements(ROOT / "requirements-cpu.txt")}

    assert small <= full
    assert {Requirement(line).name for line in full - small} == {
        "torch", "diffusers", "transformers", "accelerate", "safetensors",
    }  # fmt: skip


@pytest.mark.parametrize("variant", ["cpu", "gpu", "zerogpu"])
def test_the_tree_of_a_variant_holds_what_it_needs_and_no_more(
    variant: str, tmp_path: Path
) -> None:
    done = lay(variant, tmp_path / "space")
    again = lay(variant, tmp_path / "space")
    tree = tmp_path / "space"
    names = {entry.name for entry in tree.iterdir()}
    installed = {line.name: line for line in requirements(tree / "requirements.txt")}

    assert done.returncode == 0
    assert again.returncode == 2
    assert "not empty" in again.stderr
    assert {"app.py", "engine", "studio", "assets", "LICENSE", "NOTICE"} <= names
    assert not names & {"tests", "training", "docs", "deploy", ".git"}
    assert (tree / front_matter(tree / "README.md")["app_file"]).is_file()
    assert ("torch" in installed) == (variant != "cpu")
    assert ("spaces" in installed) == (variant == "zerogpu")
    if variant == "zerogpu":
        assert str(installed["torch"].specifier).removeprefix("==") in ZERO_GPU_TORCH
    largest = max(path.stat().st_size for path in tree.rglob("*") if path.is_file())
    assert largest < 10_000_000  # larger files need Git LFS there


def test_a_checkout_of_a_space_is_laid_anew_and_keeps_its_history(tmp_path: Path) -> None:
    for name in (".git", "engine"):
        (tmp_path / name).mkdir()
    (tmp_path / ".git" / "HEAD").write_text("ref")
    (tmp_path / "engine" / "old.py").write_text("gone in this version")

    done = lay("cpu", tmp_path)

    assert done.returncode == 0
    assert (tmp_path / ".git" / "HEAD").read_text() == "ref"
    assert not (tmp_path / "engine" / "old.py").exists()
    assert (tmp_path / "engine" / "api.py").is_file()


@pytest.mark.parametrize("variant", ["gpu", "zerogpu"])
def test_the_start_of_a_variant_prepares_the_studio_and_goes_on_without_weights(
    variant: str, tmp_path: Path
) -> None:
    """The program up to where the page would start, with an address that nobody answers."""
    code = (
        "import os, space_app; space_app.prepare(); "
        "print(os.environ.get('STUDIO_EXECUTOR'), 'torch' in __import__('sys').modules)"
    )
    stand_in = ROOT / "tests" / "contract" / "stand_in"
    path = os.pathsep.join(map(str, (SPACE / variant, ROOT, stand_in)))
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": path,
        "STUDIO_DATA_DIR": str(tmp_path),
        "STUDIO_HUB_ENDPOINT": "http://127.0.0.1:9",
        "SPACE_FETCH_WEIGHTS": "sonic",
        "SPACES_STAND_IN_LOG": str(tmp_path / "log"),
    }

    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    expected = "zerogpu" if variant == "zerogpu" else "None"
    assert done.stdout.split() == [expected, "False"]
    assert "Traceback" not in done.stderr
    assert len(done.stderr) > 20  # one sentence why there are no weights


def test_gradio_here_is_the_one_of_the_space() -> None:
    here = importlib.metadata.version("gradio")

    assert SpecifierSet(f">={front_matter(READMES[0])['sdk_version']}").contains(here)
    assert re.fullmatch(r"\d+\.\d+\.\d+", front_matter(READMES[0])["sdk_version"])
