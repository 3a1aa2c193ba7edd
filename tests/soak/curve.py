"""Draws what was measured over jobs, so that a leak is seen and not only computed."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

WIDTH_PX, PANEL_PX, MARGIN_PX = 1000, 260, 70
INK, GRID, WARM, LINE = "#1f2937", "#d1d5db", "#fde68a", "#1d4ed8"
NUM_GRID_LINES = 4


@dataclass(frozen=True)
class Panel:
    """One curve over the jobs.

    Attributes:
        title: what is drawn, with its unit.
        values: one a job.
        least_span: height of the axis at least, so that a flat line looks flat.
    """

    title: str
    values: Sequence[float]
    least_span: float


def draw_curves(panels: Sequence[Panel], warm_up: int, target: Path) -> None:
    """Write a PNG with the panels one below the other; the warm-up is shaded.

    Args:
        panels: with the same number of values each, at least one.
        warm_up: how many of the first jobs do not count.
        target: the picture.
    """
    picture = Image.new("RGB", (WIDTH_PX, PANEL_PX * len(panels) + 20), "white")
    pen = ImageDraw.Draw(picture)
    for index, panel in enumerate(panels):
        _draw_panel(pen, panel, warm_up, index * PANEL_PX)
    part = target.with_name(target.name + ".part.png")
    picture.save(part)
    part.replace(target)


def _draw_panel(pen: ImageDraw.ImageDraw, panel: Panel, warm_up: int, top_px: int) -> None:
    low, high = _range(panel.values, panel.least_span)
    last = max(len(panel.values) - 1, 1)
    first_px, last_px = top_px + 40, top_px + PANEL_PX - 25
    font = ImageFont.load_default(13)

    def place(job: float, value: float) -> tuple[float, float]:
        x = MARGIN_PX + (WIDTH_PX - 2 * MARGIN_PX) * job / last
        y = last_px - (last_px - first_px) * (value - low) / (high - low)
        return x, y

    pen.rectangle([place(0, high), place(min(warm_up, last), low)], fill=WARM)
    for step in range(NUM_GRID_LINES + 1):
        value = low + (high - low) * step / NUM_GRID_LINES
        pen.line([place(0, value), place(last, value)], fill=GRID)
        pen.text((8, place(0, value)[1] - 8), f"{value:.1f}", fill=INK, font=font)
        job = last * step / NUM_GRID_LINES
        pen.text((place(job, low)[0] - 12, last_px + 5), f"{job:.0f}", fill=INK, font=font)
    pen.line([place(job, value) for job, value in enumerate(panel.values)], fill=LINE, width=2)
    pen.text((MARGIN_PX, top_px + 14), panel.title, fill=INK, font=ImageFont.load_default(15))


def _range(values: Sequence[float], least_span: float) -> tuple[float, float]:
    low, high = min(values), max(values)
    middle = (low + high) / 2
    half = max((high - low) * 0.6, least_span / 2)
    return max(0.0, middle - half), middle + half
