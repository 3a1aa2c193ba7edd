"""What Gradio remembers of each open page, kept small.

Gradio copies the configuration of every component for each new session, so that a link can hold the
state of a page. The studio makes no such links, and a program that polls over plain HTTP opens a
session with every call: the copies cost 0.1 s of processor time and 0.6 MB each (gradio 6.31). Here
a session starts without them; Gradio adds those of the components that a call touches. Nor does it
forget the names of sessions that ended; that is done here, too.
"""

from itertools import islice
from types import SimpleNamespace
from typing import Any

import gradio as gr
from gradio.state_holder import SessionState, StateHolder

MAX_SESSIONS = 1000
"""Of the latest sessions something is remembered. A page keeps nothing there that it would miss."""

LOOKED_AT = 20
"""Of the oldest names, each time a session opens; those of which something still runs stay."""


class LightSessions(StateHolder):
    """Sessions that start without a copy of the page.

    Args:
        blocks: the page.
    """

    def __init__(self, blocks: gr.Blocks) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.set_blocks(blocks)

    def __getitem__(self, session_id: str) -> SessionState:
        if session_id not in self.session_data:
            page: Any = SimpleNamespace(default_config=self.blocks.default_config, blocks={})
            self.session_data[session_id] = SessionState(page)
            self._forget_old_names()
        return super().__getitem__(session_id)

    def _forget_old_names(self) -> None:
        """Let go of the oldest sessions' lists of running calls once they are empty."""
        running = self.blocks._queue.pending_event_ids_session
        if len(running) > MAX_SESSIONS:
            oldest = list(islice(running.items(), LOOKED_AT))
            for name in [name for name, calls in oldest if not calls]:
                del running[name]


def lighten_sessions(blocks: gr.Blocks) -> None:
    """Let a launched page keep its sessions small."""
    blocks.app.state_holder = LightSessions(blocks)
