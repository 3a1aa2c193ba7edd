"""Every data file in assets/ is named with source, licence and the hash it really has."""

import hashlib
from pathlib import Path

import pytest

ASSETS = Path(__file__).resolve().parents[2] / "assets"
TABLE = [
    [cell.strip(" `") for cell in line.strip("|\n ").split("|")]
    for line in (ASSETS / "README.md").read_text("utf-8").splitlines()
    if line.startswith("| `")
]
ROWS = {row[0]: row for row in TABLE}
FILES = sorted(
    path.relative_to(ASSETS).as_posix()
    for path in ASSETS.rglob("*")
    if path.is_file() and path.suffix not in (".md", ".json", ".txt")
)


def rows_for(name):
    return [row for key, row in ROWS.items() if Path(name).match(key)]


@pytest.mark.parametrize("name", FILES)
def test_data_file_has_a_row_with_source_licence_and_its_hash(name):
    (row,) = rows_for(name)

    digest = hashlib.sha256((ASSETS / name).read_bytes()).hexdigest()
    assert all(row[1:4])
    listed = row[4].replace("`", "").replace(" ", "").split(",")
    assert any(digest.startswith(entry.rstrip("…")) for entry in listed)


def test_every_row_names_a_file_that_exists():
    missing = [name for name in ROWS if not list(ASSETS.glob(name))]

    assert missing == []
