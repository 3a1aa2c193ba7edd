"""Who submitted when, for the limits of a person and of an address.

Addresses are kept as hashes only, and nothing is kept longer than a day.
"""

import hashlib
import sqlite3

from engine.jobs.fairness import DAY_S, Usage
from engine.jobs.statements import COUNT_QUEUED, COUNT_QUEUED_OF

ADD = "INSERT INTO submission (who, at) VALUES (:who, :at)"
DROP_OLD = "DELETE FROM submission WHERE at < :since"
TIMES_OF = "SELECT at FROM submission WHERE who = :who AND at >= :since ORDER BY at"


def usage_of(connection: sqlite3.Connection, owner: str, address: str | None, now: float) -> Usage:
    """What is in the queue, and what a person and their neighbours did in the last day."""
    counted = connection.execute(COUNT_QUEUED_OF, {"owner": owner}).fetchone()
    nearby = () if address is None else _times_of(connection, _name_of(address), now)
    return Usage(
        waiting_in_all=int(connection.execute(COUNT_QUEUED).fetchone()[0]),
        waiting=int(counted[0]),
        submitted_at=_times_of(connection, owner, now),
        submitted_nearby_at=nearby,
    )


def add_submission(
    connection: sqlite3.Connection, owner: str, address: str | None, now: float
) -> None:
    """Write down that a person submitted a job; forget what is too old to matter."""
    names = [owner] if address is None else [owner, _name_of(address)]
    connection.executemany(ADD, [{"who": name, "at": now} for name in names])
    connection.execute(DROP_OLD, {"since": now - DAY_S})


def _times_of(connection: sqlite3.Connection, who: str, now: float) -> tuple[float, ...]:
    rows = connection.execute(TIMES_OF, {"who": who, "since": now - DAY_S})
    return tuple(row["at"] for row in rows)


def _name_of(address: str) -> str:
    return "address:" + hashlib.sha256(address.encode()).hexdigest()[:24]
