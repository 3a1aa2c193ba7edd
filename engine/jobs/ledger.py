"""The memory ledger: what each attempt of each job took, kept beside the jobs.

Holds ids and figures only, so it may outlive the jobs it tells about.
"""

import time
from datetime import UTC, datetime
from typing import Literal

from engine.contracts import MemoryEntry
from engine.gpu.residue import RISE_WINDOW_S, rise_mb
from engine.jobs.database import Database
from engine.worker.attend import TaskMemory

KEPT_ENTRIES = 2000
"""About 200 kB; older entries are dropped."""

ADD = """
    INSERT INTO ledger (at, job_id, attempt, child_pid, rss_before_mb, rss_peak_mb, rss_after_mb,
                        vram_before_mb, vram_peak_mb, vram_after_mb, residue_mb, replaced)
    VALUES (:at, :job_id, :attempt, :child_pid, :rss_before_mb, :rss_peak_mb, :rss_after_mb,
            :vram_before_mb, :vram_peak_mb, :vram_after_mb, :residue_mb, :replaced)
"""
DROP_OLD = "DELETE FROM ledger WHERE entry_id <= (SELECT MAX(entry_id) FROM ledger) - :kept"
NEWEST = "SELECT * FROM ledger ORDER BY entry_id DESC LIMIT :limit"
HELD_SINCE = "SELECT at, rss_after_mb, residue_mb FROM ledger WHERE at >= :since"


class Ledger:
    """Entries of the memory ledger.

    Args:
        database: of the job store.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, job_id: str, attempt: int, memory: TaskMemory) -> None:
        """Write down what an attempt took."""
        values = {
            "at": time.time(),
            "job_id": job_id,
            "attempt": attempt,
            "child_pid": memory.pid,
            "rss_before_mb": memory.rss_before_mb,
            "rss_peak_mb": memory.rss_peak_mb,
            "rss_after_mb": memory.rss_after_mb,
            "vram_before_mb": memory.vram_before_mb,
            "vram_peak_mb": memory.vram_peak_mb,
            "vram_after_mb": memory.vram_after_mb,
            "residue_mb": memory.residue_mb,
            "replaced": memory.replaced,
        }
        with self._database.transaction() as connection:
            connection.execute(ADD, values)
            connection.execute(DROP_OLD, {"kept": KEPT_ENTRIES})

    def newest(self, limit: int) -> list[MemoryEntry]:
        """The last entries, newest first."""
        rows = self._database.connection().execute(NEWEST, {"limit": limit})
        entries = []
        for row in rows:
            fields = {key: row[key] for key in row.keys() if key not in ("entry_id", "at")}  # noqa: SIM118 - a Row iterates over its values
            entries.append(MemoryEntry(at=datetime.fromtimestamp(row["at"], UTC), **fields))
        return entries

    def rise_mb(self, kind: Literal["vram", "ram"]) -> float:
        """How far the memory held after a job rose in the last ten minutes."""
        now = time.time()
        column = "residue_mb" if kind == "vram" else "rss_after_mb"
        rows = self._database.connection().execute(HELD_SINCE, {"since": now - RISE_WINDOW_S})
        return rise_mb([(row["at"], row[column]) for row in rows if row[column] is not None], now)
