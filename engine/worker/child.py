"""The program of a child process: ``python -m engine.worker.child --lane render --tasks M:NAME``.

This module prepares the process and loads nothing heavy: it takes the channel away from
standard input and output, and starts the thread that ends the process when its parent is gone.
The work itself is in `engine.worker.loop`, imported after that.
"""

import argparse
import contextlib
import faulthandler
import os
import queue
import signal
import sys
import threading

from engine.worker.channel import Channel, ChannelClosed, Message
from engine.worker.confine import limit_memory

EXIT_PARENT_GONE = 3


def main() -> None:
    """Run until the parent closes the channel or says stop."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--lane", choices=("render", "quick", "decode"), required=True)
    parser.add_argument("--tasks", required=True)
    parser.add_argument("--heartbeat-s", type=float, default=2.0)
    parser.add_argument("--watchdog-s", type=float, default=60.0)
    parser.add_argument("--memory-mb", type=float)
    arguments = parser.parse_args()

    channel = take_channel()
    if arguments.memory_mb is not None:
        limit_memory(arguments.memory_mb)
    faulthandler.enable()
    inbox: queue.SimpleQueue[Message] = queue.SimpleQueue()
    threading.Thread(
        target=_watch_parent, args=(channel, inbox), name="death-pipe", daemon=True
    ).start()
    threading.Thread(
        target=_beat,
        args=(channel, arguments.heartbeat_s, arguments.watchdog_s),
        name="heartbeat",
        daemon=True,
    ).start()

    # Imported only now: a parent that dies while this loads must not leave us behind.
    from engine.worker.loop import ChildLoop  # noqa: PLC0415

    ChildLoop(channel, inbox, arguments.lane, arguments.tasks).run()
    sys.stderr.flush()
    os._exit(0)  # threads of native libraries could hold a normal end for long


def take_channel() -> Channel:
    """Make descriptors 0 and 1 private to the channel.

    Whatever prints afterwards, in Python, in native code or in a grandchild, prints to the
    log (descriptor 2); whatever reads standard input reads nothing.
    """
    reader = os.fdopen(os.dup(0), "rb")
    writer = os.fdopen(os.dup(1), "wb", buffering=0)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    return Channel(reader, writer)


def _watch_parent(channel: Channel, inbox: "queue.SimpleQueue[Message]") -> None:
    """Hand messages on; the end of the channel means that the parent is gone."""
    for message in channel.messages():
        inbox.put(message)
    end_process()


def end_process() -> None:
    """End this process and all it started, at once."""
    if sys.platform != "win32" and os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(EXIT_PARENT_GONE)


def _beat(channel: Channel, interval_s: float, watchdog_s: float) -> None:
    """Tell the parent that this process lives, and re-arm the watchdog.

    The watchdog is a native thread of `faulthandler`: when native code keeps the interpreter
    locked for longer than `watchdog_s`, it writes where every thread stands and ends the
    process, although no Python code can run. Not on macOS, where its clock goes on while the
    computer sleeps and it would end a healthy child at every wake-up.
    """
    wait = threading.Event()
    with contextlib.suppress(ChannelClosed):
        while True:
            if sys.platform != "darwin":
                faulthandler.dump_traceback_later(watchdog_s, exit=True)
            channel.send(type="heartbeat")
            wait.wait(interval_s)


if __name__ == "__main__":
    main()
