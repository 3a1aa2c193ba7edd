"""Becomes LibreOffice, behind limits: `python -m engine.worker.office_child PROGRAM ARGUMENTS...`.

Memory, processor time and file sizes are bounded by the kernel where it can; where it knows how,
it also ends the program together with whoever started it. Nothing else is imported.
"""

import ctypes
import os
import signal
import sys

MEMORY_BYTES = 3 * 2**30
CPU_S = 240
FILE_BYTES = 2 * 2**30
_SET_PARENT_DEATH_SIGNAL = 1


def main() -> None:
    """Put up the limits, then run the program in this process."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)
    if sys.platform != "win32":
        import resource  # noqa: PLC0415 - absent on Windows

        for kind, limit in (
            (resource.RLIMIT_DATA, MEMORY_BYTES),
            (resource.RLIMIT_CPU, CPU_S),
            (resource.RLIMIT_FSIZE, FILE_BYTES),
            (resource.RLIMIT_CORE, 0),
        ):
            resource.setrlimit(kind, (limit, limit))
    os.execv(sys.argv[1], sys.argv[1:])  # noqa: S606 - no shell, the program was looked up by us


if __name__ == "__main__":
    main()
