"""What the Dub and the Lecture page share: numbered steps, make once, and a panel kept fresh."""

import html
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gradio as gr

from studio.context import Studio
from studio.failures import guarded
from studio.language import in_visitors_language
from studio.parts.action_html import action_data, create_action_html
from studio.parts.quiet import QUIET

_log = logging.getLogger(__name__)

LIVE_TICK_S = 1.0
IDLE_TICK_S = 5.0

# Made in the browser: the same form pressed twice has the same one, another form another.
NEW_FORM_ID = """() => [...crypto.getRandomValues(new Uint8Array(16))]
  .map((byte) => byte.toString(16).padStart(2, '0')).join('')"""


@dataclass(frozen=True)
class Submission:
    """What was asked for.

    Attributes:
        given: values of the form's controls by name.
        owner, address: who asks, and from where.
        key: the same for the same form pressed twice.
    """

    given: dict[str, Any]
    owner: str
    address: str | None
    key: str | None


@dataclass(frozen=True)
class Panel:
    """Where the things in the making are shown.

    Attributes:
        place: for HTML whose buttons act.
        timer: keeps it fresh; needs to run only while the page is seen.
        draw: what an owner sees, and whether anything of it is live.
    """

    place: gr.HTML
    timer: gr.Timer
    draw: Callable[[str], tuple[str, bool]]

    @property
    def outputs(self) -> list[Any]:
        """What `picture` fills."""
        return [self.place, self.timer]

    def picture(self, owner: str) -> tuple[Any, ...]:
        """What one person sees, and how soon to look again."""
        shown, is_live = self.draw(owner)
        return shown, gr.update(value=LIVE_TICK_S if is_live else IDLE_TICK_S)


def create_heading(number: str, title: str) -> None:
    """Build the heading of a step."""
    gr.HTML(
        f'<h2 class="step-title"><span aria-hidden="true">{number}</span>{html.escape(title)}</h2>',
        apply_default_css=False,
    )


def create_panel(elem_id: str, draw: Callable[[str], tuple[str, bool]]) -> Panel:
    """Build the panel, still empty."""
    return Panel(create_action_html(elem_id), gr.Timer(IDLE_TICK_S, active=False), draw)


def keep_fresh(
    studio: Studio, panel: Panel, act: Callable[[str, str, str], None], own_tab: gr.Tab
) -> None:
    """Keep a panel fresh while its page is seen, and do what its buttons say.

    Args:
        studio: who is asking.
        panel: to keep.
        act: does an action to something of an owner.
        own_tab: of the page; it is read anew when that is opened.
    """

    @in_visitors_language
    def refresh(request: gr.Request) -> tuple[Any, ...]:
        """Everything that changes by itself. A failure leaves the page as it is."""
        try:
            return panel.picture(studio.visitors.owner_of(request))
        except Exception:  # noqa: BLE001 - a toast every second would help nobody
            _log.exception("a panel could not be refreshed")
            return tuple(gr.skip() for _ in panel.outputs)

    @guarded
    def pressed(event: gr.EventData, request: gr.Request) -> tuple[Any, ...]:
        owner, data = studio.visitors.owner_of(request), action_data(event)
        act(data.get("action", ""), data.get("job", ""), owner)
        return panel.picture(owner)

    panel.place.action(pressed, None, panel.outputs, **QUIET)
    panel.timer.tick(refresh, None, panel.outputs, trigger_mode="once", **QUIET)
    own_tab.select(refresh, None, panel.outputs, **QUIET)


def connect_make(
    studio: Studio,
    panel: Panel,
    fields: dict[str, Any],
    button: tuple[gr.Button, str],
    submit: Callable[[Submission], None],
) -> None:
    """Let a button make what the form says; the same form pressed twice is made once.

    Args:
        studio: who is asking.
        panel: shows it then.
        fields: the controls by name; `rows` receives what lives in the browser.
        button: and the browser code that hands the rows over.
        submit: asks the engine.
    """
    pressed, hand_over = button
    goal = panel.place.elem_id
    form_id = gr.Textbox(visible="hidden", elem_id=f"{goal}-form-id")

    @guarded
    def make(values: dict[Any, Any], request: gr.Request) -> tuple[Any, ...]:
        owner = studio.visitors.owner_of(request)
        given = {name: values[control] for name, control in fields.items()}
        address = studio.visitors.address_of(request)
        submit(Submission(given, owner, address, values[form_id] or None))
        return panel.picture(owner)

    handed = pressed.click(None, None, fields["rows"], js=hand_over, show_progress="hidden")
    made = handed.then(
        make,
        {*fields.values(), form_id},
        panel.outputs,
        api_visibility="private",
    )
    scroll = f"""() => setTimeout(() => document.getElementById('{goal}')?.scrollIntoView(
      {{behavior: 'smooth', block: 'start'}}), 150)"""
    made.success(None, None, None, js=scroll, show_progress="hidden")
    made.success(None, None, form_id, js=NEW_FORM_ID, show_progress="hidden")
    gr.on(None, None, None, form_id, js=NEW_FORM_ID, show_progress="hidden")
