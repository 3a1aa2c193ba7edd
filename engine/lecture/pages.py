"""Slides of strangers become pixels: runs in the limited decoder only.

PDF pages are drawn by pdfium, which runs no scripts here; of a PowerPoint file only the notes
and titles are read.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c
from numpy.typing import NDArray

from engine.contracts import Progress, Stage
from engine.errors import ErrorCode, InputError
from engine.lecture.notes import read_notes
from engine.settings import EngineSettings
from engine.worker.confine import FileGuard
from engine.worker.task import TaskContext, TaskTable

LONG_SIDE_PX = 1920
"""Slides are drawn at this width (or height), the size of the largest video."""

MAX_PAGE_PT = 7200.0
"""Longest side of a page: 2.5 m. Nothing that is shown on a wall is larger."""

MAX_RATIO = 6.0
"""Longest shape of a page; anything beyond is not a slide."""


def deck_tasks(guard: FileGuard) -> TaskTable:
    """The tasks of the decode lane that open slides, watched by `guard`."""

    def pages(payload: dict[str, Any], context: TaskContext) -> dict[str, Any]:
        source, folder = Path(payload["source"]), Path(payload["folder"])
        first, count = int(payload["first"]), int(payload["count"])
        with guard.during([source], [folder]) as violations:
            answer = draw_pages(source, folder, first, count, context)
        if violations:
            raise InputError(ErrorCode.SLIDES_DAMAGED)
        return answer

    def notes(payload: dict[str, Any], _context: TaskContext) -> dict[str, Any]:
        source = Path(payload["source"])
        with guard.during([source], []) as violations:
            answer = read_notes(source)
        if violations:
            raise InputError(ErrorCode.SLIDES_DAMAGED)
        return {"notes": [note.text for note in answer], "titles": [note.title for note in answer]}

    return {"decode_pages": pages, "decode_notes": notes}


def draw_pages(
    source: Path, folder: Path, first: int, count: int, context: TaskContext
) -> dict[str, Any]:
    """Draw some pages of a PDF as raw RGB.

    Args:
        source: the PDF.
        folder: for the pixels.
        first: index of the first page wanted.
        count: how many are wanted at most.
        context: limits, and whom to tell about the progress.

    Returns:
        `num_pages` of the file, and `pages`: `pixels`, `width_px` and `height_px` of each.

    Raises:
        InputError: SLIDES_LOCKED, SLIDES_DAMAGED, SLIDES_NONE, SLIDES_TOO_MANY or
            SLIDE_TOO_LARGE.
    """
    document = _open(source)
    try:
        num_pages = len(document)
        _check_count(num_pages, context.settings)
        if first == 0:
            for index in range(num_pages):
                _check_size(index, *document.get_page_size(index))
        pages = []
        last = min(first + count, num_pages)
        for index in range(first, last):
            pixels = _draw(document, index)
            target = folder / f"page-{index:04}"
            pixels.tofile(target)
            height_px, width_px = pixels.shape[:2]
            pages.append({"pixels": str(target), "width_px": width_px, "height_px": height_px})
            share = 100.0 * (index + 1 - first) / (last - first)
            context.report(Progress(stage=Stage.PREPARE, percent=share))
    except pdfium.PdfiumError as error:
        raise InputError(ErrorCode.SLIDES_DAMAGED) from error
    finally:
        document.close()
    return {"num_pages": num_pages, "pages": pages}


def _open(source: Path) -> pdfium.PdfDocument:
    try:
        return pdfium.PdfDocument(source)
    except pdfium.PdfiumError as error:
        is_locked = error.err_code in (pdfium_c.FPDF_ERR_PASSWORD, pdfium_c.FPDF_ERR_SECURITY)
        code = ErrorCode.SLIDES_LOCKED if is_locked else ErrorCode.SLIDES_DAMAGED
        raise InputError(code) from error


def _check_count(num_pages: int, settings: EngineSettings) -> None:
    if num_pages == 0:
        raise InputError(ErrorCode.SLIDES_NONE)
    if num_pages > settings.max_slides:
        raise InputError(ErrorCode.SLIDES_TOO_MANY, count=num_pages, limit=settings.max_slides)


def _check_size(index: int, width_pt: float, height_pt: float) -> None:
    short, long = sorted((width_pt, height_pt))
    if short < 1 or long > MAX_PAGE_PT or long / short > MAX_RATIO:
        raise InputError(ErrorCode.SLIDE_TOO_LARGE, number=index + 1)


def _draw(document: pdfium.PdfDocument, index: int) -> NDArray[np.uint8]:
    page = document[index]
    try:
        scale = LONG_SIDE_PX / max(page.get_size())
        bitmap = page.render(scale=scale, rev_byteorder=True, may_draw_forms=False)
        pixels = np.asarray(bitmap.to_numpy()[..., :3], np.uint8)
        return np.ascontiguousarray(pixels)
    finally:
        page.close()
