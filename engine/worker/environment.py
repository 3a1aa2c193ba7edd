"""The environment of a child process."""

import os
from collections.abc import Mapping
from pathlib import Path

from engine.contracts import Lane
from engine.machine import usable_cores
from engine.settings import EngineSettings

PROJECT_ROOT = Path(__file__).resolve().parents[2]

_THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)

_NOT_FOR_CHILDREN = ("AWS_", "STUDIO_BROKER_", "STUDIO_STORAGE_")
"""How names of variables begin that hold the keys of the broker and of the shared storage."""

_GLIBC_RENDER = {
    "MALLOC_ARENA_MAX": "2",
    "MALLOC_MMAP_THRESHOLD_": str(2 * 2**20),
    "MALLOC_TRIM_THRESHOLD_": str(32 * 2**20),
}
"""Frames come and go in several threads; glibc would keep their memory for each. At 1024 x 1816
pixels the peak falls from 625 to 585 MB at the same speed; other systems ignore this."""

_MAX_NATIVE_THREADS = 4
"""Beyond four, small matrices gain nothing and every pool costs memory."""


def native_threads(lane: Lane, settings: EngineSettings, num_cores: int) -> int:
    """Threads each native pool of a child may use.

    The quick lane gets half the cores, so that it answers while a render runs. Decoders get
    one: each pool sets memory aside, and theirs is limited.
    """
    if lane == "decode":
        return 1
    if lane == "quick":
        return max(1, min(_MAX_NATIVE_THREADS, num_cores // 2))
    return settings.render_threads or max(1, min(_MAX_NATIVE_THREADS, num_cores))


def child_environment(
    lane: Lane, settings: EngineSettings, temp_dir: Path, base: Mapping[str, str]
) -> dict[str, str]:
    """What a child of `lane` sees.

    Args:
        lane: which one.
        settings: of the engine.
        temp_dir: where its temporary files go.
        base: the environment of the parent; what a person set there is kept.
    """
    paths = [str(PROJECT_ROOT), *filter(None, [base.get("PYTHONPATH")])]
    threads = str(native_threads(lane, settings, usable_cores()))
    is_limited = lane == "decode"
    return {
        **({} if is_limited else dict.fromkeys(_THREAD_VARIABLES, threads)),
        **(_GLIBC_RENDER if lane == "render" else {}),
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "CUDA_DEVICE_ORDER": "PCI_BUS_ID",  # the order in which the gauge counts the cards
        # Without it torch's allocator leaves holes: the memory plan would not hold on a full card.
        "PYTORCH_ALLOC_CONF": "expandable_segments:True",
        **{name: value for name, value in base.items() if not name.startswith(_NOT_FOR_CHILDREN)},
        **(dict.fromkeys(_THREAD_VARIABLES, threads) if is_limited else {}),
        # Since 1.29 its builds tell Microsoft about every model loaded unless they are told not to.
        "ORT_DISABLE_TELEMETRY": "1",
        "PYTHONPATH": os.pathsep.join(paths),
        "PYTHONSAFEPATH": "1",  # the working directory holds data, never code
        "PYTHONUTF8": "1",
        "PYTHONUNBUFFERED": "1",
        **dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(temp_dir)),
    }
