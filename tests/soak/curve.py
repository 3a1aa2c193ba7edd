"""Draws a curve of memory over jobs, so that a leak is seen and not only computed."""

from collections.abc import Sequence
from pathlib import Path

from PIL import Image, ImageDraw

WIDTH_PX, HEIGHT_PX, MARGIN_PX = 1000, 420, 60
INK, GRID, WARM = "#1f2937", "#d1d5db", "#fde68a"


def draw_curve(values_mb: Sequence[float], warm_up: int, target: Path) -> None:
    """Write a PNG with one value a job; the warm-up is shaded.

    Args:
        values_mb: memory after each job.
        warm_up: how many of the first jobs do not count.
        target: the picture.
    """
    picture = Image.new("RGB", (WIDTH_PX, HEIGHT_PX), "white")
    pen = ImageDraw.Draw(picture)
    low, high = _range(values_mb)
    last = max(len(values_mb) - 1, 1)

    def place(job: float, mb: float) -> tuple[float, float]:
        x = MARGIN_PX + (WIDTH_PX - 2 * MARGIN_PX) * job / last
        y = HEIGHT_PX - MARGIN_PX - (HEIGHT_PX - 2 * MARGIN_PX) * (mb - low) / (high - low)
        return x, y

    pen.rectangle([place(0, high), place(min(warm_up, last), low)], fill=WARM)
    for step in range(6):
        mb = low + (high - low) * step / 5
        pen.line([place(0, mb), place(last, mb)], fill=GRID)
        pen.text((4, place(0, mb)[1] - 6), f"{mb:.1f} MB", fill=INK)
    for step in range(6):
        job = last * step / 5
        pen.text((place(job, low)[0] - 10, HEIGHT_PX - MARGIN_PX + 8), f"{job:.0f}", fill=INK)
    points = [place(job, mb) for job, mb in enumerate(values_mb)]
    pen.line(points, fill=INK, width=2)
    pen.text((MARGIN_PX, 20), "Memory of the web process after each job (warm-up shaded)", fill=INK)
    picture.save(target)


def _range(values_mb: Sequence[float]) -> tuple[float, float]:
    """At least 10 MB high, so that a flat line looks flat."""
    low, high = min(values_mb), max(values_mb)
    middle = (low + high) / 2
    half = max((high - low) * 0.6, 5.0)
    return middle - half, middle + half
