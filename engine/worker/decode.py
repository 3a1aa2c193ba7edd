"""The decode lane: files of strangers are opened in limited children only, two at once at most.

What comes back is ours: raw pixels and a plain WAV, with a few numbers about the source.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.errors import EngineError, ErrorCode, InputError, WorkerLost
from engine.settings import EngineSettings
from engine.worker.attend import TaskLimits
from engine.worker.pool import ChildPool
from engine.worker.supervisor import ChildNotStarted

PICTURE_BYTES_PER_CPU_S = 5_000_000
"""A large transparent PNG, the slowest kind, is decoded at 6 MB a second on two old cores."""

SOUND_BYTES_PER_S = 500_000
"""A slow laptop with a hard disk decodes at least this much of a recording in a second."""

WALL_FACTOR = 4.0
"""A busy computer gives a process at least a quarter of a core."""


class DecodeLane:
    """Decodes pictures and recordings; safe from any thread.

    Attributes:
        pool: as many children as files may be decoded at the same time.

    Args:
        pool: see above.
        settings: of the engine.
    """

    def __init__(self, pool: ChildPool, settings: EngineSettings) -> None:
        self.pool = pool
        self._settings = settings

    def picture(self, source: str, background: str, target: Path) -> dict[str, Any]:
        """Decode a picture into raw pixels.

        Args:
            source: absolute path of a file of unknown origin.
            background: colour behind transparent parts.
            target: file for the pixels, in a folder of its own.

        Returns:
            See `engine.pipeline.decode`.

        Raises:
            InputError: what is wrong with the file.
            EngineError: PROBE_TIMEOUT, WORKER_LOST.
        """
        cpu_s = self._settings.decode_timeout_s + _size_bytes(source) / PICTURE_BYTES_PER_CPU_S
        limits = TaskLimits(
            total_s=WALL_FACTOR * cpu_s, cpu_s=cpu_s, memory_mb=self._settings.decode_memory_mb
        )
        payload = {"source": source, "background": background, "target": str(target)}
        return self._decode("decode_picture", payload, limits, _PICTURE)

    def sound(self, source: str, target: Path) -> dict[str, Any]:
        """Decode a recording into a WAV of ours.

        Args:
            source: absolute path of a file of unknown origin.
            target: the WAV, in a folder of its own or in the job's.

        Returns:
            See `engine.pipeline.decode`.

        Raises:
            InputError: what is wrong with the file.
            EngineError: PROBE_TIMEOUT, DISK_FULL, WORKER_LOST.
        """
        limits = TaskLimits(
            total_s=self._settings.quick_timeout_s + _size_bytes(source) / SOUND_BYTES_PER_S,
            stall_s=self._settings.decode_timeout_s,
            memory_mb=self._settings.decode_memory_mb,
        )
        payload = {"source": source, "target": str(target)}
        return self._decode("decode_sound", payload, limits, _SOUND)

    def labels(self, source: str) -> dict[str, Any]:
        """Read the labels of a video.

        Args:
            source: absolute path of a file of unknown origin.

        Returns:
            A `LabelCheck` as JSON.

        Raises:
            InputError: NOT_A_VIDEO or what else is wrong with the file.
            EngineError: PROBE_TIMEOUT, WORKER_LOST.
        """
        limits = TaskLimits(
            total_s=self._settings.quick_timeout_s + _size_bytes(source) / SOUND_BYTES_PER_S,
            memory_mb=self._settings.decode_memory_mb,
        )
        return self._decode("check_labels", {"source": source}, limits, _VIDEO)

    def pages(self, source: str, folder: Path, first: int, count: int) -> dict[str, Any]:
        """Draw some pages of a PDF.

        Args:
            source: absolute path of a file of unknown origin.
            folder: empty, for the raw pixels.
            first: index of the first page wanted.
            count: how many are wanted at most.

        Returns:
            See `engine.lecture.pages.draw_pages`.

        Raises:
            InputError: what is wrong with the file.
            EngineError: PROBE_TIMEOUT, WORKER_LOST.
        """
        payload = {"source": source, "folder": str(folder), "first": first, "count": count}
        return self._slides("decode_pages", payload, count)

    def notes(self, source: str) -> dict[str, Any]:
        """Read the notes of a PowerPoint file.

        Args:
            source: absolute path of a file of unknown origin.

        Returns:
            `notes` and `titles` of the slides that are shown.

        Raises:
            InputError: what is wrong with the file.
            EngineError: PROBE_TIMEOUT, WORKER_LOST.
        """
        return self._slides("decode_notes", {"source": source}, 1)

    def _slides(self, kind: str, payload: dict[str, Any], count: int) -> dict[str, Any]:
        """Have slides opened; a page gets as much time as a picture."""
        cpu_s = self._settings.decode_timeout_s * count
        limits = TaskLimits(
            total_s=WALL_FACTOR * cpu_s,
            stall_s=WALL_FACTOR * self._settings.decode_timeout_s,
            cpu_s=cpu_s,
            memory_mb=self._settings.decode_memory_mb,
        )
        return self._decode(kind, payload, limits, _SLIDES)

    def _decode(
        self, kind: str, payload: dict[str, Any], limits: TaskLimits, refusals: "_Refusals"
    ) -> dict[str, Any]:
        """Have a file decoded, and say of whatever stopped that what it means of the file.

        Raises:
            InputError: what is wrong with the file.
            EngineError: PROBE_TIMEOUT, WORKER_LOST when no child could be started.
        """
        try:
            return self.pool.run(kind, payload, limits)
        except ChildNotStarted:
            raise
        except WorkerLost:
            raise InputError(refusals.deadly) from None
        except EngineError as error:
            if error.code is ErrorCode.TIMED_OUT:
                raise EngineError(ErrorCode.PROBE_TIMEOUT) from None
            if error.code is ErrorCode.OUT_OF_MEMORY:
                limit_mb = self._settings.decode_memory_mb
                raise InputError(refusals.hungry, limit_mb=limit_mb) from None
            raise


@dataclass(frozen=True)
class _Refusals:
    """What is said of a file that broke its decoder.

    Attributes:
        deadly: it ended two children.
        hungry: it needed more memory than a decoder may take.
    """

    deadly: ErrorCode
    hungry: ErrorCode


_PICTURE = _Refusals(ErrorCode.DAMAGED_IMAGE, ErrorCode.IMAGE_TOO_HEAVY)
# Sound is decoded in flat memory, so a file that needs more lies about itself.
_SOUND = _Refusals(ErrorCode.DAMAGED_AUDIO, ErrorCode.DAMAGED_AUDIO)
_VIDEO = _Refusals(ErrorCode.NOT_A_VIDEO, ErrorCode.NOT_A_VIDEO)
_SLIDES = _Refusals(ErrorCode.SLIDES_DAMAGED, ErrorCode.SLIDES_TOO_HEAVY)


def _size_bytes(path: str) -> int:
    try:
        return Path(path).stat().st_size
    except OSError:
        return 0
