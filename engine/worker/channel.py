"""The wire between a parent and its child: one JSON object a line, tagged by `type`.

Only the standard library, because the child opens its channel before anything else is loaded.

Parent to child: `configure` {settings}, `run` {id, kind, payload}, `cancel` {id}, `ping`, `stop`.
Child to parent: `ready` {pid}, `heartbeat` {rss_mb}, `pong`, `progress` {id, progress},
`result` {id, values, ...} and `error` {id, code, values, stage, is_input, ...}, both with
rss_before_mb, rss_peak_mb, rss_after_mb and vram_peak_mb.
Inside the parent a reader adds `gone` {exit_code} when the child has ended.
"""

import json
import logging
import threading
from collections.abc import Iterator, Mapping
from typing import IO, Any

Message = dict[str, Any]

_log = logging.getLogger(__name__)


def encode(message: Mapping[str, Any]) -> bytes:
    """One message as a line of ASCII; what JSON does not know becomes its text."""
    return json.dumps(message, separators=(",", ":"), default=str).encode("ascii") + b"\n"


def decode(line: bytes) -> Message | None:
    """The message of a line; None, with a log entry, when it is none."""
    try:
        message = json.loads(line)
    except ValueError:
        message = None
    if isinstance(message, dict) and isinstance(message.get("type"), str):
        return message
    _log.warning("ignored a line that is no message (%d bytes)", len(line))
    return None


class ChannelClosed(Exception):
    """The other side is gone; nothing can be sent any more."""


class Channel:
    """Both directions of one connection. Any thread may send, one thread receives.

    Args:
        reader: lines from the other side.
        writer: lines to the other side; unbuffered.
    """

    def __init__(self, reader: IO[bytes], writer: IO[bytes]) -> None:
        self._reader = reader
        self._writer = writer
        self._lock = threading.Lock()

    def send(self, **message: object) -> None:
        """Send one message; needs a `type`.

        Raises:
            ChannelClosed: the other side does not read any more.
        """
        line = encode(message)
        with self._lock:
            try:
                self._writer.write(line)
                self._writer.flush()
            except (OSError, ValueError) as error:  # ValueError: the file object is closed
                raise ChannelClosed from error

    def messages(self) -> Iterator[Message]:
        """Every message until the other side closes."""
        try:
            for line in self._reader:
                message = decode(line)
                if message is not None:
                    yield message
        except (OSError, ValueError):
            return
