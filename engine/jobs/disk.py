"""Whether the disk has room for another job, and how much of it is ours."""

import os
import shutil
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from engine.contracts import DiskReading, RenderOptions
from engine.errors import EngineError, ErrorCode
from engine.lecture.cache import FOLDER_NAME
from engine.settings import EngineSettings

BYTES_PER_GB = 1e9
WARN_SHARE = 0.15
"""Below this share of free space people are told, long before anything is refused."""

FIXED_JOB_BYTES = 30e6
"""A photo of 4096 x 3072 as PNG and the small files of a job."""

SOUND_BYTES_PER_S = 2 * 96_000
"""Two WAVs at 48 kHz: the recording and the sound of the video."""

VIDEO_BYTES_PER_S = 100_000
"""Of 512 px at 25 frames a second; lies above every talking head measured at this quality."""

SAFETY = 3.0
"""Room needed beyond the estimate: the encoder's part file, a retry, and guesses that are off."""

MIN_TO_BEGIN_GB = 0.2
"""Below this no waiting job is begun; it would only fail."""

MEASURED_FOR_S = 30.0
"""Our folders are measured at most this often, beside those who ask: ten thousand jobs take a
second, a page asks every second, and nobody who submits should wait for it."""

FreeBytes = Callable[[Path], "Space"]


@dataclass(frozen=True)
class Space:
    """Of a disk, in bytes."""

    total: int
    free: int


def space_of(path: Path) -> Space:
    """What the system says about the disk `path` lies on."""
    usage = shutil.disk_usage(path)
    return Space(total=usage.total, free=usage.free)


def job_bytes(options: RenderOptions, duration_s: float) -> float:
    """About what one job writes."""
    size_factor = (options.output_size_px / 512) ** 2 * options.fps / 25
    return FIXED_JOB_BYTES + duration_s * (SOUND_BYTES_PER_S + VIDEO_BYTES_PER_S * size_factor)


def folder_bytes(folders: Iterable[Path]) -> int:
    """Bytes in all files under these folders; what vanishes meanwhile does not count."""
    total = 0
    for root in folders:
        for place, _, names in os.walk(root):
            for name in names:
                try:
                    total += os.lstat(os.path.join(place, name)).st_size  # noqa: PTH118 - 10,000 files
                except OSError:
                    continue
    return total


class DiskGate:
    """Refuses jobs for which there is no room.

    Args:
        settings: folders and limits.
        space: tells the space of a disk.
    """

    def __init__(self, settings: EngineSettings, space: FreeBytes = space_of) -> None:
        self._settings = settings
        self._space = space
        self._ours = 0
        self._measured_at: float | None = None
        self._one_measuring = threading.Lock()

    def refusal(self, need_bytes: float) -> EngineError | None:
        """Why a job that writes this much cannot come in; None when it can."""
        need_gb = max(self._settings.min_free_disk_gb, SAFETY * need_bytes / BYTES_PER_GB)
        free_gb = self._space(self._settings.data_dir).free / BYTES_PER_GB
        if free_gb < need_gb:
            return EngineError(ErrorCode.DISK_LOW, free_gb=_short(free_gb), need_gb=_short(need_gb))
        used_gb = (self._our_bytes() + need_bytes) / BYTES_PER_GB
        if used_gb > self._settings.max_data_gb:
            limit_gb = _short(self._settings.max_data_gb)
            return EngineError(ErrorCode.STORAGE_FULL, used_gb=_short(used_gb), limit_gb=limit_gb)
        return None

    def pause(self) -> EngineError | None:
        """Why no waiting job should be begun; None when there is room."""
        need_gb = min(MIN_TO_BEGIN_GB, self._settings.min_free_disk_gb)
        free_gb = self._space(self._settings.data_dir).free / BYTES_PER_GB
        if free_gb >= need_gb:
            return None
        return EngineError(ErrorCode.DISK_LOW, free_gb=_short(free_gb), need_gb=_short(need_gb))

    def read(self) -> DiskReading:
        """What a page shows."""
        space = self._space(self._settings.data_dir)
        return DiskReading(
            total_gb=round(space.total / BYTES_PER_GB, 1),
            free_gb=round(space.free / BYTES_PER_GB, 1),
            ours_gb=round(self._our_bytes() / BYTES_PER_GB, 2),
            limit_gb=self._settings.max_data_gb,
            is_low=space.free < WARN_SHARE * space.total,
        )

    def _our_bytes(self) -> int:
        if self._measured_at is None:
            self._measure()
        elif (
            time.monotonic() - self._measured_at > MEASURED_FOR_S
            and not self._one_measuring.locked()
        ):
            threading.Thread(target=self._measure, name="disk", daemon=True).start()
        return self._ours

    def _measure(self) -> None:
        """Add up our folders; one that comes while another does it leaves it to that one."""
        if not self._one_measuring.acquire(blocking=self._measured_at is None):
            return
        try:
            settings = self._settings
            lectures = settings.data_dir / FOLDER_NAME
            folders = (settings.jobs_dir, settings.temp_dir, settings.uploads_path, lectures)
            self._ours = folder_bytes(folders)
            self._measured_at = time.monotonic()
        finally:
            self._one_measuring.release()


def _short(gigabytes: float) -> float:
    return round(gigabytes, 1 if gigabytes >= 1 else 2)
