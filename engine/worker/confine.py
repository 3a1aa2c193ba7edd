"""Walls around a process that decodes files of strangers: memory, files, network, programs.

The memory limit is the kernel's, where it has one. The guard is an audit hook of the
interpreter: it stops what a decoder written in Python would do, and it proves in tests that
nothing else is opened. Native code is held by the decoders' own walls (`engine.media.container`)
and by the limits the parent watches.
"""

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

BYTES_PER_MB = 2**20

_FORBIDDEN = (
    "socket.", "subprocess.", "os.exec", "os.fork", "os.posix_spawn", "os.spawn", "os.system",
    "os.startfile", "pty.spawn", "ftplib.", "http.client.", "urllib.", "smtplib.", "winreg.",
    "webbrowser.",
)  # fmt: skip
"""Events that no decoder has a reason for."""

_CHANGES = {
    "os.remove": 1, "os.rmdir": 1, "os.mkdir": 1, "os.rename": 2, "os.link": 2, "os.symlink": 2,
    "os.truncate": 1, "os.chmod": 1, "os.chown": 1, "os.utime": 1, "shutil.rmtree": 1,
    "shutil.move": 2, "shutil.copyfile": 2,
}  # fmt: skip
"""Events that change the file system, with how many paths they name first."""

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_READABLE_DEVICES = ("/dev/null", "/dev/urandom", "/dev/random")


class Forbidden(PermissionError):
    """A decoder asked for something that is none of its business."""


def limit_memory(max_mb: float) -> None:
    """Let allocations beyond `max_mb` fail; nothing happens where there is no such limit.

    What is mapped from files does not count: with a limit of the address space, the libraries
    alone would need most of it. Of what counts, a process with the decoders loaded leaves about
    120 MB untouched and has 70 MB of code beside it, so its resident memory stays below.
    """
    if sys.platform == "win32":
        return
    import resource  # noqa: PLC0415 - absent on Windows

    size_bytes = int(max_mb * BYTES_PER_MB)
    resource.setrlimit(resource.RLIMIT_DATA, (size_bytes, size_bytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


class FileGuard:
    """Watches every file, program and connection that Python code of this process asks for.

    Outside of `during` it lets everything pass. A hook cannot be taken out of an interpreter
    again, so this belongs into processes that do nothing else.
    """

    def __init__(self) -> None:
        self._code = _roots([sys.prefix, sys.base_prefix, *filter(None, sys.path)])
        self._readable: frozenset[str] = frozenset()
        self._writable: tuple[str, ...] = ()
        self._is_active = False
        self._violations: list[str] = []
        self._is_installed = False

    @contextmanager
    def during(self, read: Iterable[Path], write_under: Iterable[Path]) -> Iterator[list[str]]:
        """Allow only these files while the block runs.

        Args:
            read: files that may be read.
            write_under: folders in which anything may be done.

        Yields:
            The events that were stopped, filled while the block runs.
        """
        if not self._is_installed:
            self._is_installed = True
            sys.addaudithook(self._hook)
        self._violations = []
        self._readable = frozenset(_real(path) for path in read)
        self._writable = _roots(write_under)
        self._is_active = True
        try:
            yield self._violations
        finally:
            self._is_active = False

    def _hook(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self._is_active:
            return
        if event == "open":
            path, mode, flags = arguments
            self._check_open(path, is_writing=_is_writing(mode, flags))
        elif event.startswith(_FORBIDDEN):
            self._refuse(event)
        elif event in _CHANGES:
            for path in arguments[: _CHANGES[event]]:
                self._check_path(event, path, self._writable)
        elif event in ("os.listdir", "os.scandir"):
            self._check_path(event, arguments[0] or ".", (*self._writable, *self._code))

    def _check_open(self, path: object, *, is_writing: bool) -> None:
        if isinstance(path, int):
            return  # a descriptor that is open already
        if is_writing:
            self._check_path("write", path, self._writable)
        elif _real(path) not in self._readable:
            self._check_path("read", path, (*self._writable, *self._code, *_READABLE_DEVICES))

    def _check_path(self, event: str, path: object, roots: tuple[str, ...]) -> None:
        if isinstance(path, int):
            return
        real = _real(path)
        if not any(real == root or real.startswith(root + os.sep) for root in roots):
            self._refuse(event)

    def _refuse(self, event: str) -> None:
        self._violations.append(event)
        raise Forbidden(event)


def _roots(folders: Iterable[str | Path]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_real(folder).rstrip(os.sep) for folder in folders))


def _real(path: object) -> str:
    return os.path.realpath(os.fsdecode(path))  # type: ignore[arg-type]


def _is_writing(mode: object, flags: object) -> bool:
    if isinstance(mode, str):
        return not set(mode).isdisjoint("wax+")
    return isinstance(flags, int) and bool(flags & _WRITING)
