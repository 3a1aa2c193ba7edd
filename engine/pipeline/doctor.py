"""What `doctor` tells: the machine, its memory and card, the encoders, the data files, voices."""

import hashlib
import importlib.metadata
import importlib.util
import os
import platform
import shutil
import sys
from pathlib import Path
from typing import Any

import av
import psutil

from engine.errors import EngineError
from engine.gpu.gauge import read_cards
from engine.machine import usable_cores
from engine.pipeline.tools import Tools
from engine.settings import EngineSettings
from engine.weights.service import list_weights

ROOT = Path(__file__).resolve().parents[2]
MIN_FREE_DISK_GB = 2.0
TORCH_INSTALL_PAGE = "https://pytorch.org/get-started/locally/"


def examine(settings: EngineSettings, tools: Tools) -> dict[str, Any]:
    """Look at everything the product needs.

    Returns:
        `ok`: whether a video can be made here; `checks`: rows of `name`, `ok`, `needed`
        (whether a video needs it) and `detail`, a plain sentence each.
    """
    checks = [
        _machine(),
        _memory(),
        _disk(settings),
        _encoders(),
        *_data_files(),
        _voices(tools),
        *_cards(),
        *_weights(settings),
    ]
    return {"ok": all(row["ok"] for row in checks if row["needed"]), "checks": checks}


def _row(name: str, detail: str, *, ok: bool = True, needed: bool = True) -> dict[str, Any]:
    return {"name": name, "ok": ok, "needed": needed, "detail": detail}


def _machine() -> dict[str, Any]:
    version = importlib.metadata.version("gradio") if _is_installed("gradio") else "not installed"
    cores = usable_cores()
    return _row(
        "Machine",
        f"{platform.system()} {platform.machine()}, {cores} cores, "
        f"Python {sys.version_info.major}.{sys.version_info.minor}, Gradio {version}",
    )


def _is_installed(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


def _memory() -> dict[str, Any]:
    memory = psutil.virtual_memory()
    free_gb = memory.available / 1e9
    return _row("Memory", f"{free_gb:.1f} of {memory.total / 1e9:.1f} GB free", ok=free_gb > 1.0)


def _disk(settings: EngineSettings) -> dict[str, Any]:
    place = settings.data_dir
    while not place.exists():
        place = place.parent
    free_gb = shutil.disk_usage(place).free / 1e9
    detail = f"{free_gb:.0f} GB free for videos in {settings.data_dir}"
    return _row("Disk", detail, ok=free_gb > MIN_FREE_DISK_GB and os.access(place, os.W_OK))


def _encoders() -> dict[str, Any]:
    missing = [name for name in ("libx264", "aac") if name not in av.codecs_available]
    detail = f"PyAV {av.__version__} with H.264 and AAC"
    if missing:
        detail = f"PyAV lacks {', '.join(missing)}: run `pip install --force-reinstall av`"
    return _row("Video encoder", detail, ok=not missing)


def _data_files() -> list[dict[str, Any]]:
    """Each model file of assets/ against the size and hash the table in its README states."""
    rows = []
    for line in (ROOT / "assets" / "README.md").read_text("utf-8").splitlines():
        cells = [cell.strip(" `") for cell in line.strip("|").split("|")]
        if not cells[0].endswith((".onnx", ".npz")):
            continue
        path = ROOT / "assets" / cells[0]
        is_good = path.is_file() and _sha256(path) == cells[-1]
        problem = "is missing" if not path.is_file() else "is damaged"
        detail = (
            f"{path.name}, {path.stat().st_size / 1e6:.1f} MB"
            if is_good
            else f"assets/{cells[0]} {problem}: get a fresh copy with `git checkout -- assets`"
        )
        rows.append(_row("Model file", detail, ok=is_good))
    return rows


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _voices(tools: Tools) -> dict[str, Any]:
    try:
        voices = tools.voices.voices(None)
    except EngineError:
        return _row("Voices", "no built-in voice works here", ok=False, needed=False)
    languages = {language for voice in voices for language in voice.languages}
    return _row(
        "Voices",
        f"{len(voices)} voices, {len(languages)} language tags",
        ok=bool(voices),
        needed=False,
    )


def _cards() -> list[dict[str, Any]]:
    cards = read_cards()
    if not cards:
        return [_row("Graphics card", "none found; the lite animator needs none", needed=False)]
    rows = [
        _row("Graphics card", f"{card.device}, {(card.total_mb or 0) / 1024:.0f} GB", needed=False)
        for card in cards
    ]
    return [*rows, _torch()]


def _weights(settings: EngineSettings) -> list[dict[str, Any]]:
    """A row for each set that can be downloaded; its faulty files each get one, unless all lack."""
    rows = []
    for name, statuses in list_weights(settings).items():
        usable = [status for status in statuses if status.is_usable]
        title = f"Weights, {name}"
        if len(usable) == len(statuses):
            rows.append(_row(title, f"all {len(statuses)} files are here", needed=False))
            continue
        detail = f"{len(usable)} of {len(statuses)} files are here; "
        rows.append(
            _row(title, f"{detail}get them with `{statuses[0].command}`", ok=False, needed=False)
        )
        if any(status.state != "missing" for status in statuses):
            rows += [
                _row(title, status.sentence, ok=False, needed=False)
                for status in statuses
                if not status.is_usable
            ]
    return rows


def _torch() -> dict[str, Any]:
    """Whether the GPU engine can use the card that was found."""
    if not _is_installed("torch"):
        detail = "not installed: run `python3 bootstrap.py --gpu`"
        return _row("PyTorch", detail, ok=False, needed=False)
    import torch  # noqa: PLC0415 - heavy, and absent from the small install

    if torch.cuda.is_available():
        return _row("PyTorch", f"{torch.__version__} with CUDA", needed=False)
    detail = f"{torch.__version__} cannot use the card; install a CUDA build: {TORCH_INSTALL_PAGE}"
    return _row("PyTorch", detail, ok=False, needed=False)
