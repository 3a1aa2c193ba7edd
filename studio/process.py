"""The web process before Gradio is imported: its options, folders, environment, and end."""

import argparse
import os
import shutil
import signal
import threading
from collections.abc import MutableMapping
from types import FrameType

from engine.settings import EngineSettings
from studio.locales import say

NEVER_IN_EVENTS = 10**12


def parse_arguments() -> argparse.Namespace:
    """The options of the command line; None where nothing was said."""
    parser = argparse.ArgumentParser(description=say("page.tagline"))
    parser.add_argument("--share", action="store_true", help=say("option.share"))
    parser.add_argument("--host", help=say("option.host"))
    parser.add_argument("--port", type=int, help=say("option.port"))
    parser.add_argument("--data-dir", help=say("option.data_dir"))
    return parser.parse_args()


def prepare_process(settings: EngineSettings, environment: MutableMapping[str, str]) -> None:
    """Keep uploads under the data folder, work in an empty folder, send nothing home.

    Gradio serves files a handler returns from the working directory, so that is an empty one.

    Args:
        settings: of a running engine; their data folder is absolute.
        environment: of this process; changed.
    """
    uploads = settings.uploads_path
    shutil.rmtree(uploads, ignore_errors=True)
    uploads.mkdir(parents=True)
    empty = settings.data_dir / "empty"
    empty.mkdir(exist_ok=True)
    os.chdir(empty)
    environment["GRADIO_TEMP_DIR"] = str(uploads)
    environment["GRADIO_ANALYTICS_ENABLED"] = "False"
    environment["HF_HUB_DISABLE_TELEMETRY"] = "1"
    # After each event Gradio draws up statistics of the last 10,000, for a page that is off here.
    environment["GRADIO_ANALYTICS_MAX_EVENTS"] = "1"
    environment["GRADIO_ANALYTICS_CACHE_FREQUENCY"] = str(NEVER_IN_EVENTS)


class StopRequest:
    """Waits for Ctrl-C or a polite kill; a second one does not wait for anything any more.

    Attributes:
        is_patient: whoever asked can wait for the video in the making: a service manager can,
            a person at the keyboard need not, for the video goes on at the next start.
    """

    def __init__(self) -> None:
        self.is_patient = False
        self._asked = threading.Event()
        for name in ("SIGINT", "SIGTERM", "SIGHUP"):
            if hasattr(signal, name):  # Windows has no SIGHUP
                signal.signal(getattr(signal, name), self._take)

    def wait(self) -> None:
        """Until it is asked for."""
        # A wait without a limit would not let the signal through on Windows.
        while not self._asked.wait(0.5):
            pass

    def _take(self, number: int, _frame: FrameType | None) -> None:
        if self._asked.is_set():
            raise KeyboardInterrupt
        self.is_patient = number != signal.SIGINT
        self._asked.set()
