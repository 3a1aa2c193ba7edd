"""One SQLite file in WAL mode: connections, transactions, the schema's version.

Knows nothing about jobs. One connection per thread, because a connection's transaction belongs
to whoever began it.
"""

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from engine.errors import EngineError, ErrorCode

BUSY_TIMEOUT_S = 10.0
"""How long a statement waits for another process's write; ours take milliseconds each."""


class Database:
    """Opens connections to one file and brings its schema up to date.

    Args:
        path: of the file; its folder exists.
        migrations: the statements that lead from version i to i + 1.

    Raises:
        EngineError: DATA_DIR_TOO_NEW when a newer program wrote the file.
    """

    def __init__(self, path: Path, migrations: tuple[tuple[str, ...], ...]) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._connections: dict[threading.Thread, sqlite3.Connection] = {}
        self._migrate(migrations)

    def connection(self) -> sqlite3.Connection:
        """The connection of the calling thread."""
        thread = threading.current_thread()
        with self._lock:
            found = self._connections.get(thread)
            if found is None:
                self._close_dead_threads()
                found = self._connections[thread] = self._open()
            return found

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """A write transaction that holds the file's write lock from its first statement.

        `BEGIN IMMEDIATE` waits for the lock; a deferred `BEGIN` would fail at once when two
        readers both want to write.

        Raises:
            EngineError: DISK_FULL; nothing was changed.
        """
        connection = self.connection()
        try:
            connection.execute("BEGIN IMMEDIATE")
            yield connection
            connection.execute("COMMIT")
        except BaseException as error:
            if connection.in_transaction:  # a full disk may have ended it already
                connection.execute("ROLLBACK")
            if isinstance(error, sqlite3.Error) and error.sqlite_errorcode == sqlite3.SQLITE_FULL:
                raise EngineError(ErrorCode.DISK_FULL) from error
            raise

    def truncate_log(self) -> None:
        """Take the write-ahead log, which keeps old pages, back into the file and empty it."""
        self.connection().execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def close(self) -> None:
        """Close every connection; a later call opens a new one."""
        with self._lock:
            for connection in self._connections.values():
                connection.close()
            self._connections.clear()

    def _open(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self._path, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False
        )
        connection.row_factory = sqlite3.Row
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA secure_delete = ON")  # deleted texts and titles are gone
        return connection

    def _close_dead_threads(self) -> None:
        for thread in [thread for thread in self._connections if not thread.is_alive()]:
            self._connections.pop(thread).close()

    def _migrate(self, migrations: tuple[tuple[str, ...], ...]) -> None:
        if _version(self.connection()) == len(migrations):
            return
        with self.transaction() as connection:
            version = _version(connection)
            if version > len(migrations):
                raise EngineError(ErrorCode.DATA_DIR_TOO_NEW)
            if 0 < version < len(migrations):
                self._back_up(version)
            for statements in migrations[version:]:
                for statement in statements:
                    connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {len(migrations)}")

    def _back_up(self, version: int) -> None:
        """Keep the file as it was before a migration, beside it."""
        target = self._path.with_name(f"{self._path.name}.v{version}.bak")
        with closing(self._open()) as source, closing(sqlite3.connect(target)) as backup:
            source.backup(backup)


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])
