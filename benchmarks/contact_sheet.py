"""A contact sheet of a finished video: heads of evenly spread frames."""

from pathlib import Path

import cv2
import numpy as np

from engine.face.geometry import Face

SHEET_COLUMNS, SHEET_ROWS, TILE_PX = 8, 2, 200


def tile_of(head: np.ndarray) -> np.ndarray:
    """A head on a white square of `TILE_PX`."""
    scale = TILE_PX / max(head.shape[:2])
    small = cv2.resize(head, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    tile = np.full((TILE_PX, TILE_PX, 3), 255, np.uint8)
    tile[: small.shape[0], : small.shape[1]] = small[:TILE_PX, :TILE_PX]
    return tile


def contact_sheet(tiles: list[np.ndarray], target: Path) -> None:
    """Evenly spread frames on one picture."""
    tiles = tiles + [np.full_like(tiles[0], 255)] * (SHEET_COLUMNS * SHEET_ROWS - len(tiles))
    rows = [
        np.hstack(tiles[r * SHEET_COLUMNS : (r + 1) * SHEET_COLUMNS]) for r in range(SHEET_ROWS)
    ]
    sheet = cv2.cvtColor(np.vstack(rows), cv2.COLOR_RGB2BGR)
    cv2.imwrite(str(target), sheet, [cv2.IMWRITE_JPEG_QUALITY, 80])


def head_window(frame: np.ndarray, face: Face | None) -> tuple[slice, slice]:
    """A square of 1.7 face heights around the face; the whole frame when there is none."""
    if face is None:
        return slice(0, frame.shape[0]), slice(0, frame.shape[1])
    x, y, w, h = face.box
    half = 0.85 * h
    centre_x, centre_y = x + w / 2, y + h * 0.5
    top, left = max(int(centre_y - half), 0), max(int(centre_x - half), 0)
    return slice(top, int(centre_y + half)), slice(left, int(centre_x + half))
