"""The accessibility rules of axe-core, run over an open page."""

import os
from pathlib import Path

import pytest
from playwright.sync_api import Page

_HERE = Path(__file__).parent
AXE = Path(os.environ.get("AXE", _HERE / "node_modules" / "axe-core" / "axe.min.js"))

DOCUMENT = _HERE.parents[1] / "docs" / "accessibility.md"

# What fades in or waits for an answer is pale for a moment; colours are judged afterwards.
_IS_AT_REST = """() => document.getAnimations().every((each) => each.playState !== 'running')
  && ![...document.querySelectorAll('.pending, .generating')].length"""

RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]


def gradio_selectors() -> list[str]:
    """Parts of the page that are Gradio's own, from the table in docs/accessibility.md."""
    rows = [line for line in DOCUMENT.read_text("utf-8").splitlines() if line.startswith("| `")]
    return [row.split("`")[1] for row in rows]


def serious_faults(page: Page, *, everywhere: bool = False) -> list[str]:
    """What breaks a rule seriously: rule, element, and what is wrong with it.

    Args:
        page: the open page.
        everywhere: look at Gradio's own parts too.
    """
    if not AXE.exists():
        pytest.skip("needs axe-core: npm install --prefix tests/ui")
    page.wait_for_function(_IS_AT_REST)
    page.evaluate(AXE.read_text("utf-8"))
    found = page.evaluate(
        """async ([tags, exclude]) => {
          const only = {type: 'tag', values: tags};
          const result = await axe.run({exclude}, {runOnly: only, resultTypes: ['violations']});
          return result.violations
            .filter((fault) => ['serious', 'critical'].includes(fault.impact))
            .flatMap((fault) => fault.nodes.map((node) =>
              `${fault.id}: ${node.target} | ${node.html.slice(0, 160)}`));
        }""",
        [RULES, [] if everywhere else [[selector] for selector in gradio_selectors()]],
    )
    return [str(fault) for fault in found]
