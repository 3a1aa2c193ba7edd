"""The decode lane: files of strangers are opened in limited children only, two at once at most.

What comes back is ours: raw pixels and a plain WAV, with a few numbers about the source.
"""

import logging
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from engine.errors import EngineError, ErrorCode, InputError, WorkerLost
from engine.settings import EngineSettings
from engine.worker.attend import TaskLimits
from engine.worker.supervisor import ChildNotStarted, ChildState, Supervisor

PICTURE_BYTES_PER_CPU_S = 5_000_000
"""A large transparent PNG, the slowest kind, is decoded at 6 MB a second on two old cores."""

SOUND_BYTES_PER_S = 500_000
"""A slow laptop with a hard disk decodes at least this much of a recording in a second."""

WALL_FACTOR = 4.0
"""A busy computer gives a process at least a quarter of a core."""

SPARE_FROM = 8
"""A child that will be replaced after this many more files gets a successor beside it: a start
takes half a second, on a busy computer two."""

_log = logging.getLogger(__name__)


class DecodeLane:
    """Decodes pictures and recordings; safe from any thread.

    Args:
        supervisors: one for each file that may be decoded at the same time.
        settings: of the engine.
    """

    def __init__(self, supervisors: Sequence[Supervisor], settings: EngineSettings) -> None:
        self._supervisors = supervisors
        self._settings = settings
        self._free = list(supervisors)
        self._is_free = threading.Condition()

    @property
    def supervisors(self) -> Sequence[Supervisor]:
        """Of the children, in the order in which they are used."""
        return self._supervisors

    @property
    def pids(self) -> list[int]:
        """Process ids of the children that run."""
        return [one.pid for one in self._supervisors if one.pid is not None]

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
        try:
            return self._decode("decode_picture", payload, limits)
        except ChildNotStarted:
            raise
        except WorkerLost:
            raise InputError(ErrorCode.DAMAGED_IMAGE) from None
        except EngineError as error:
            if error.code is ErrorCode.OUT_OF_MEMORY:
                limit_mb = self._settings.decode_memory_mb
                raise InputError(ErrorCode.IMAGE_TOO_HEAVY, limit_mb=limit_mb) from None
            raise

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
        try:
            return self._decode("decode_sound", {"source": source, "target": str(target)}, limits)
        except ChildNotStarted:
            raise
        except WorkerLost:
            raise InputError(ErrorCode.DAMAGED_AUDIO) from None
        except EngineError as error:
            if error.code is ErrorCode.OUT_OF_MEMORY:
                # Sound is decoded in flat memory, so a file that needs more lies about itself.
                raise InputError(ErrorCode.DAMAGED_AUDIO) from None
            raise

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
        try:
            return self._decode("check_labels", {"source": source}, limits)
        except ChildNotStarted:
            raise
        except WorkerLost:
            raise InputError(ErrorCode.NOT_A_VIDEO) from None
        except EngineError as error:
            if error.code is ErrorCode.OUT_OF_MEMORY:
                raise InputError(ErrorCode.NOT_A_VIDEO) from None
            raise

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
        try:
            return self._decode(kind, payload, limits)
        except ChildNotStarted:
            raise
        except WorkerLost:
            raise InputError(ErrorCode.SLIDES_DAMAGED) from None
        except EngineError as error:
            if error.code is ErrorCode.OUT_OF_MEMORY:
                limit_mb = self._settings.decode_memory_mb
                raise InputError(ErrorCode.SLIDES_TOO_HEAVY, limit_mb=limit_mb) from None
            raise

    def warm_up(self) -> None:
        """Begin to start a child when none runs."""
        if not self.pids:
            self._supervisors[0].warm_up()

    def close(self) -> None:
        """End the children; a file that is being decoded is refused."""
        for supervisor in self._supervisors:
            supervisor.close()

    def _decode(self, kind: str, payload: dict[str, Any], limits: TaskLimits) -> dict[str, Any]:
        """Have a file decoded; a child that dies over it is given one more try."""
        with self._supervisor(limits) as supervisor:
            try:
                try:
                    return supervisor.run(kind, payload, limits).values
                except WorkerLost:
                    _log.warning("a decoder died over a file; trying once more")
                return supervisor.run(kind, payload, limits).values
            except EngineError as error:
                if error.code is ErrorCode.TIMED_OUT:
                    raise EngineError(ErrorCode.PROBE_TIMEOUT) from None
                raise
            finally:
                self._prepare_next(supervisor)

    def _prepare_next(self, used: Supervisor) -> None:
        """Begin to start the child that the next file needs, so that nobody waits for it."""
        used.warm_up()
        if used.tasks_left <= SPARE_FROM:
            for other in self._supervisors:
                if other is not used:
                    other.warm_up()

    @contextmanager
    def _supervisor(self, limits: TaskLimits) -> Iterator[Supervisor]:
        """A free supervisor, one whose child is ready if possible."""
        with self._is_free:
            if not self._is_free.wait_for(lambda: self._free, limits.total_s):
                raise EngineError(ErrorCode.PROBE_TIMEOUT)
            ready = (one for one in self._free if one.state is ChildState.READY)
            chosen = next(ready, self._free[0])
            self._free.remove(chosen)
        try:
            yield chosen
        finally:
            with self._is_free:
                self._free.append(chosen)
                self._free.sort(key=self._supervisors.index)
                self._is_free.notify()


def _size_bytes(path: str) -> int:
    try:
        return Path(path).stat().st_size
    except OSError:
        return 0
