"""The three lanes of an engine: what their children may do and when they are replaced."""

from collections.abc import Callable
from pathlib import Path

from engine.contracts import MemoryReading
from engine.errors import ErrorCode
from engine.settings import EngineSettings
from engine.worker.decode import DecodeLane
from engine.worker.plan import BREAKING_CODES, LanePlan
from engine.worker.pool import ChildPool
from engine.worker.supervisor import Supervisor

PRODUCT_TASKS = "engine.pipeline.tasks:TASKS"
PRODUCT_DECODE_TASKS = "engine.pipeline.decode:TASKS"

QUICK_TASKS_PER_CHILD = 200
"""Quick tasks hold little; a new child costs more than the leak of two hundred checks."""

FILES_PER_DECODER = 100
"""A decoder is replaced after this many files, even if all were healthy; one that refused a file
or has grown is replaced at once. A start takes 1.3 s of a processor: with twenty files, five busy
people had one starting a tenth of the time."""

PATIENCE = 2
"""A child goes on while no other could take its tasks, up to twice its share of them."""

SPARE_DECODERS = 1
"""Kept warm, so that nobody waits when one is replaced or was broken by a file: 92 MB resident, of
which 46 are its own and its share of what all decoders have loaded."""

DECODER_KEPT_MB = 350.0
"""A decoder at rest has about 92 MB; one that keeps more than this has grown."""

SUSPICIOUS_CODES = BREAKING_CODES | {
    ErrorCode.DAMAGED_IMAGE,
    ErrorCode.DAMAGED_AUDIO,
    ErrorCode.IMAGE_TOO_HEAVY,
    ErrorCode.NO_AUDIO_TRACK,
}
"""Refusals that a decoder gave only after it had worked on the file; its memory is not trusted."""

PID_FILE_NAME = "render.pid"


def render_lane(
    settings: EngineSettings,
    tasks: str,
    temp_dir: Path,
    read_card: Callable[[], MemoryReading | None],
) -> Supervisor:
    """The lane that makes videos; one child on the whole computer."""
    plan = LanePlan(
        lane="render",
        tasks=tasks,
        temp_dir=temp_dir,
        tasks_per_child=settings.recycle_after_jobs,
        pid_file=settings.data_dir / PID_FILE_NAME,
    )
    return Supervisor(plan, settings, read_card)


def quick_pool(settings: EngineSettings, tasks: str, temp_dir: Path) -> ChildPool:
    """The children that answer questions."""
    plan = LanePlan(
        lane="quick",
        tasks=tasks,
        temp_dir=temp_dir,
        tasks_per_child=QUICK_TASKS_PER_CHILD,
        patience=PATIENCE,
        ends_aside=True,
    )
    return ChildPool([Supervisor(plan, settings) for _ in range(settings.quick_processes)])


def decode_lane(settings: EngineSettings, tasks: str, temp_dir: Path) -> DecodeLane:
    """The lane that opens files of strangers."""
    plan = LanePlan(
        lane="decode",
        tasks=tasks,
        temp_dir=temp_dir,
        tasks_per_child=FILES_PER_DECODER,
        breaking_codes=SUSPICIOUS_CODES,
        memory_mb=settings.decode_memory_mb,
        kept_mb=DECODER_KEPT_MB,
        expects_deaths=True,
        patience=PATIENCE,
        ends_aside=True,
    )
    at_once = settings.decode_processes
    supervisors = [Supervisor(plan, settings) for _ in range(at_once + SPARE_DECODERS)]
    return DecodeLane(ChildPool(supervisors, at_once), settings)
