"""Every data file in assets/ is named with source and licence, and has the hash that is written."""

import hashlib
import re
from pathlib import Path

import pytest

ASSETS = Path(__file__).resolve().parents[2] / "assets"
ROWS = [
    [cell.strip() for cell in line.strip("|\n ").split("|")]
    for line in (ASSETS / "README.md").read_text("utf-8").splitlines()
    if line.startswith("| `")
]
PATTERNS = [(pattern, row) for row in ROWS for pattern in re.findall(r"`([^`]+)`", row[0])]
FILES = sorted(
    path.relative_to(ASSETS).as_posix()
    for path in ASSETS.rglob("*")
    if path.is_file() and path.suffix not in (".md", ".json", ".txt")
)
HASH_TABLES = "".join(path.read_text("utf-8") for path in ASSETS.rglob("*.md"))


@pytest.mark.parametrize("name", FILES)
def test_data_file_has_one_row_with_what_it_is_its_source_and_licence(name):
    rows = [row for pattern, row in PATTERNS if Path(name).match(pattern)]

    assert len(rows) == 1
    assert all(rows[0][1:4])


@pytest.mark.parametrize("name", FILES)
def test_data_file_has_the_hash_that_is_written_down(name):
    digest = hashlib.sha256((ASSETS / name).read_bytes()).hexdigest()

    assert f"`{digest}`" in HASH_TABLES


def test_every_row_names_a_file_that_exists():
    missing = [pattern for pattern, _ in PATTERNS if not list(ASSETS.glob(pattern))]

    assert missing == []
