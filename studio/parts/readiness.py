"""What is still missing before a button may be pressed, told beside it, one thing at a time.

All of it is decided in the browser: nothing here asks the engine.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import gradio as gr

from studio.locales import say
from studio.parts.verdict_line import verdict_html
from studio.presenter import Verdict

Need = tuple[str, str]
"""Browser code that is true once something is there, and what is told before."""


def create_waiting_button(text: str, name: str, needs: Sequence[Need]) -> tuple[gr.HTML, gr.Button]:
    """Build the line and the button, which cannot be pressed yet.

    Args:
        text: on the button.
        name: how the ids of the elements begin.
        needs: of the form; the first one is told.
    """
    line = gr.HTML(_line_html(needs[0][1]), elem_id=f"{name}-verdict", apply_default_css=False)
    button = gr.Button(
        text, variant="primary", size="lg", interactive=False, elem_id=f"{name}-generate"
    )
    return line, button


def connect_needs(
    fields: Mapping[str, Any],
    needs: Sequence[Need],
    shown: tuple[gr.HTML, gr.Button],
    also_when: Sequence[Any] = (),
) -> None:
    """Tell the first need that is not met; without one the button can be pressed.

    Args:
        fields: the controls whose values the code of the needs knows by these names.
        needs: in the order of the page.
        shown: the line and the button.
        also_when: events after which to look again, beside changes of the fields.
    """
    gr.on(
        [*(field.change for field in fields.values()), *also_when],
        None,
        list(fields.values()),
        list(shown),
        js=judging_js(list(fields), needs),
        trigger_mode="multiple",
        show_progress="hidden",
    )


def judging_js(names: Sequence[str], needs: Sequence[Need]) -> str:
    """Browser code from the values of the fields to the line and the button."""
    met = ", ".join(f"Boolean({code})" for code, _ in needs)
    lines = [_line_html(sentence) for _, sentence in needs]
    complete = verdict_html(Verdict("ready", say("check.complete")))
    return f"""({", ".join(names)}) => {{
      const missing = [{met}].indexOf(false);
      const lines = {json.dumps(lines, ensure_ascii=False)};
      const line = missing < 0 ? {json.dumps(complete, ensure_ascii=False)} : lines[missing];
      return [line, {{interactive: missing < 0, __type__: 'update'}}];
    }}"""


def _line_html(sentence: str) -> str:
    return verdict_html(Verdict("waiting", sentence))
