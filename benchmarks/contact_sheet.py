"""Contact sheets of finished videos: heads of evenly spread frames, and rows of telling ones."""

from collections.abc import Sequence
from pathlib import Path

import cv2
import numpy as np
from PIL import Image, ImageDraw, ImageFont

from benchmarks.telling_moments import Moment
from engine.face.detector import FaceFinder
from engine.face.geometry import Face
from engine.media.video import read_frames

SHEET_COLUMNS, SHEET_ROWS, TILE_PX = 8, 2, 200
ROW_TILE_PX, LABEL_PX, FONT_PX = 180, 34, 13
ROW_HEIGHTS = 1.3
"""Side of a picture in a row, in face heights."""
ROW_QUALITY, PAGE_QUALITY = 95, 74
"""Of JPEG: rows are encoded once more when they are joined."""


def tile_of(head: np.ndarray, side_px: int = TILE_PX) -> np.ndarray:
    """A head on a white square."""
    scale = side_px / max(head.shape[:2])
    how = cv2.INTER_AREA if scale < 1 else cv2.INTER_CUBIC
    small = cv2.resize(head, None, fx=scale, fy=scale, interpolation=how)[:side_px, :side_px]
    tile = np.full((side_px, side_px, 3), 255, np.uint8)
    tile[: small.shape[0], : small.shape[1]] = small
    return tile


def contact_sheet(tiles: list[np.ndarray], target: Path) -> None:
    """Evenly spread frames on one picture."""
    tiles = tiles + [np.full_like(tiles[0], 255)] * (SHEET_COLUMNS * SHEET_ROWS - len(tiles))
    rows = [
        np.hstack(tiles[r * SHEET_COLUMNS : (r + 1) * SHEET_COLUMNS]) for r in range(SHEET_ROWS)
    ]
    sheet = cv2.cvtColor(np.vstack(rows), cv2.COLOR_RGB2BGR)
    cv2.imwrite(str(target), sheet, [cv2.IMWRITE_JPEG_QUALITY, 80])


def head_window(frame: np.ndarray, face: Face | None, heights: float = 1.7) -> tuple[slice, slice]:
    """A square of so many face heights around the face; the whole frame when there is none."""
    if face is None:
        return slice(0, frame.shape[0]), slice(0, frame.shape[1])
    x, y, w, h = face.box
    half = heights / 2 * h
    centre_x, centre_y = x + w / 2, y + h * 0.5
    top, left = max(int(centre_y - half), 0), max(int(centre_x - half), 0)
    return slice(top, int(centre_y + half)), slice(left, int(centre_x + half))


def moments_row(
    video: Path, photo: np.ndarray, moments: Sequence[Moment], fps: float, title: tuple[str, str]
) -> np.ndarray:
    """The photo and the telling frames of one video side by side, each with two lines under it.

    Args:
        video: the finished video.
        photo: H x W x 3, uint8, RGB: the photo at the size of the video.
        moments: which frames, in this order.
        fps: of the video.
        title: the lines under the photo.
    """
    face = next(iter(FaceFinder().find(photo)), None)
    window = head_window(photo, face, ROW_HEIGHTS)
    due = {moment.frame for moment in moments}
    heads = {index: frame[window] for index, frame in read_frames(video) if index in due}
    tiles = [tile_of(photo[window], ROW_TILE_PX)]
    tiles += [tile_of(heads[moment.frame], ROW_TILE_PX) for moment in moments]
    labels = [title, *(moment.label(fps) for moment in moments)]
    row = np.full((ROW_TILE_PX + LABEL_PX, ROW_TILE_PX * len(tiles), 3), 255, np.uint8)
    row[:ROW_TILE_PX] = np.hstack(tiles)
    picture = Image.fromarray(row)
    pen, font = ImageDraw.Draw(picture), ImageFont.load_default(FONT_PX)
    for column, lines in enumerate(labels):
        for line, text in enumerate(lines):
            at = (column * ROW_TILE_PX + 3, ROW_TILE_PX + 1 + line * (FONT_PX + 2))
            pen.text(at, text, (0, 0, 0), font)
    return np.asarray(picture)


def save_row(row: np.ndarray, target: Path) -> None:
    """Keep a row, RGB, until it is joined with others."""
    target.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(row).save(target, quality=ROW_QUALITY, subsampling=0)


def save_page(rows: Sequence[Path], heading: str, target: Path) -> None:
    """One picture of several rows under a heading."""
    pictures = [np.asarray(Image.open(row).convert("RGB")) for row in rows]
    page = Image.fromarray(np.vstack([np.full_like(pictures[0][:LABEL_PX], 255), *pictures]))
    font = ImageFont.load_default(FONT_PX + 5)
    ImageDraw.Draw(page).text((4, 5), heading, (0, 0, 0), font)
    page.save(target, quality=PAGE_QUALITY, optimize=True, progressive=True)
