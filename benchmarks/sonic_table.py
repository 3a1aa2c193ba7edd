"""Lines of results that are printed and kept as they come."""

import json
from pathlib import Path

GB = 2**30


class Table:
    """Lines of one measurement.

    Args:
        path: where they are kept as JSON; None = nowhere.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._lines: list[dict[str, object]] = []

    def add(self, **line: object) -> None:
        """Add one line."""
        print(json.dumps(line), flush=True)
        self._lines.append(line)
        if self._path is not None:
            self._path.write_text(json.dumps(self._lines, indent=1), "utf-8")
