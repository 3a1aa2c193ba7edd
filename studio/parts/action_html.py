"""HTML of our own whose buttons reach Python: `<button data-action="open" data-job="...">`.

`data-scroll` names the part of the page to show afterwards.
"""

from collections.abc import Mapping
from typing import Any

import gradio as gr

# One listener on the frame, so that it outlives every change of what is inside.
_ON_LOAD = """
element.addEventListener('click', (event) => {
  const button = event.target.closest('[data-action]');
  if (!button || !element.contains(button)) return;
  const question = button.closest('details');
  if (question) question.open = false;
  if (button.dataset.action === 'keep') return;
  trigger('action', {...button.dataset});
  const goal = document.getElementById(button.dataset.scroll || '');
  if (goal) setTimeout(() => goal.scrollIntoView({behavior: 'smooth', block: 'start'}), 400);
});
"""


def create_action_html(elem_id: str, value: str = "", *, visible: bool = True) -> gr.HTML:
    """An HTML component with the event `action`; its data are the button's `data-` attributes."""
    return gr.HTML(
        value, elem_id=elem_id, visible=visible, js_on_load=_ON_LOAD, apply_default_css=False
    )


def action_data(event: gr.EventData) -> Mapping[str, str]:
    """The `data-` attributes of the button that was pressed."""
    data: Any = event._data
    return {str(name): str(value) for name, value in (data or {}).items()}
