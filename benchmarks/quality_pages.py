"""Join what `quality` left in several folders: one table, and pages with a row per portrait.

    python -m benchmarks.quality_pages FOLDER... --docs docs/quality

Writes sheet.md (the numbers of all videos) and a page for each group of portraits,
sheet_GROUP.jpg. On the pages a portrait speaks one recording; they take turns, so that every one
is seen. Fails when a portrait of the pages has no row.
"""

import argparse
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from benchmarks.contact_sheet import save_page
from benchmarks.sample_kinds import DRAWING, PAINTING, PHOTOGRAPH

HEADINGS = {
    "photographs": "Photographs",
    "directory": "Photographs of 200 x 250 pixels",
    "paintings": "Paintings",
    "drawings": "Drawings",
}
NOTE = "first column: the picture given; all other frames are AI-generated"
SMALL_PHOTOS = "lowres_"
ORDER = (PHOTOGRAPH, PAINTING, DRAWING)
COLUMNS = (
    "portrait", "kind", "recording", "judge", "open range", "corr.", "lag ms", "closures hit",
    "silence", "jitter", "blinks/min", "identity", "sharp", "failed gates",
)  # fmt: skip


def group_of(row: Mapping[str, Any]) -> str:
    """The page a portrait is on, a key of `HEADINGS`."""
    if row["kind"] == PHOTOGRAPH:
        return "directory" if row["portrait"].startswith(SMALL_PHOTOS) else "photographs"
    return "paintings" if row["kind"] == PAINTING else "drawings"


def in_order(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Photographs, paintings, drawings; by name; a video that was made twice counts once."""
    once = {(row["portrait"], row["speech"]): row for row in rows}
    return sorted(
        once.values(), key=lambda row: (ORDER.index(row["kind"]), row["portrait"], row["speech"])
    )


def turns(rows: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, str]]:
    """Which recording each portrait speaks on its page: group -> portrait -> recording."""
    spoken: dict[str, list[str]] = {}
    groups: dict[str, dict[str, str]] = {name: {} for name in HEADINGS}
    group = {row["portrait"]: group_of(row) for row in rows}
    for row in rows:
        spoken.setdefault(row["portrait"], []).append(row["speech"])
    for number, (portrait, recordings) in enumerate(spoken.items()):
        groups[group[portrait]][portrait] = recordings[number % len(recordings)]
    return groups


def as_table(rows: Iterable[Mapping[str, Any]]) -> str:
    """The numbers of all videos, and how many pass every gate."""
    cells = [_cells(row) for row in rows]
    lines = [f"| {' | '.join(COLUMNS)} |", f"|{' --- |' * len(COLUMNS)}"]
    lines += [f"| {' | '.join(row)} |" for row in cells]
    passed = sum(row[-1] == "-" for row in cells)
    return "\n".join([*lines, "", f"{passed} of {len(cells)} videos pass every gate.", ""])


def _cells(row: Mapping[str, Any]) -> list[str]:
    known = [row["portrait"], row["kind"], row["speech"]]
    if "failed_gates" not in row:
        missing = row.get("refused") or row.get("failed") or "not made"
        return [*known, *["-"] * (len(COLUMNS) - 4), str(missing)]

    def shown(name: str, digits: int) -> str:
        value = row.get(name)
        return "-" if value is None else f"{value:.{digits}f}"

    hit = f"{shown('closure_hit', 2)} of {row['num_closures']}"
    figures = (
        ("sil_open", 2), ("jitter", 3), ("blinks_per_min", 0), ("identity", 2), ("sharp", 2),
    )  # fmt: skip
    return [
        *known,
        "flow" if row["by_flow"] else "landmarks",
        shown("open_range", 3),
        shown("corr_jaw", 2),
        shown("lag_ms", 0),
        hit,
        *(shown(name, digits) for name, digits in figures),
        ", ".join(row["failed_gates"]) or "-",
    ]


def main() -> None:
    """Read the folders, write table and pages."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", type=Path, nargs="+", help="what --out of `quality` named")
    parser.add_argument("--docs", type=Path, required=True)
    arguments = parser.parse_args()
    tables = [json.loads((folder / "rows.json").read_text("utf-8")) for folder in arguments.folders]
    rows = in_order(row for table in tables for row in table["rows"])
    pictures = {
        path.stem: path for folder in arguments.folders for path in folder.glob("rows/*.jpg")
    }
    arguments.docs.mkdir(parents=True, exist_ok=True)
    (arguments.docs / "sheet.md").write_text(as_table(rows), "utf-8")
    for group, portraits in turns(rows).items():
        shown = [pictures[f"{portrait}__{speech}"] for portrait, speech in portraits.items()]
        if shown:
            target = arguments.docs / f"sheet_{group}.jpg"
            save_page(shown, f"{HEADINGS[group]} ({NOTE})", target)
            print(f"{target}: {len(shown)} rows, {target.stat().st_size / 1e3:.0f} kB")
    passed = sum(row.get("failed_gates") == [] for row in rows)
    print(f"{passed} of {len(rows)} videos pass every gate")


if __name__ == "__main__":
    main()
