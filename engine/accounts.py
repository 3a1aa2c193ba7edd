"""Accounts of an installation that others can reach: names, hashed passwords, who owns it.

Kept in one small file of the data folder that only its user can read. Passwords are hashed with
Argon2id; nothing can turn a hash back. Several processes may read and write at once.
"""

import json
import os
import re
import secrets
import threading
from pathlib import Path

from argon2 import PasswordHasher
from argon2.exceptions import Argon2Error, InvalidHashError
from filelock import FileLock
from pydantic import BaseModel, ConfigDict, ValidationError

from engine.errors import EngineError, ErrorCode, InputError

FILE_NAME = "accounts.json"
MIN_PASSWORD_CHARACTERS = 10
MAX_PASSWORD_CHARACTERS = 200
"""Hashing takes time with the length, so that nobody may send a book."""

_NAME = re.compile(r"[a-z0-9][a-z0-9._@-]{0,63}")


class Account(BaseModel):
    """One account.

    Attributes:
        name: in lower case.
        password_hash: Argon2id with its parameters.
        is_owner: whether it may see what concerns everybody: the System page.
        version: drawn anew with every new password; ends the sessions of the old one.
    """

    model_config = ConfigDict(frozen=True)

    name: str
    password_hash: str
    is_owner: bool = False
    version: str = ""


class Accounts:
    """Reads and changes the accounts; safe from any thread.

    Args:
        data_dir: of the installation.
    """

    def __init__(self, data_dir: Path) -> None:
        self._path = data_dir / FILE_NAME
        self._lock = FileLock(data_dir / f"{FILE_NAME}.lock", mode=0o600)
        self._hasher = PasswordHasher()
        self._one_at_a_time = threading.Lock()  # each hash takes 64 MB
        self._known: dict[str, Account] = {}
        self._seen: tuple[int, int] | None = None
        self._nobody: str | None = None

    def all(self) -> list[Account]:
        """Every account, by name.

        Raises:
            EngineError: ACCOUNTS_UNREADABLE.
        """
        return [self._read()[name] for name in sorted(self._read())]

    def find(self, name: str) -> Account | None:
        """The account of this name."""
        return self._read().get(name.strip().lower())

    def add(self, name: str, password: str, *, is_owner: bool | None = None) -> Account:
        """Make an account, or give the one that is there a new password.

        Args:
            name: letters, digits and `.`, `_`, `-`, `@`; case does not count.
            password: at least ten characters.
            is_owner: None = the first account is, a known one stays as it is.

        Raises:
            InputError: ACCOUNT_NAME_BAD or PASSWORD_TOO_SHORT.
        """
        name = name.strip().lower()
        if not _NAME.fullmatch(name):
            raise InputError(ErrorCode.ACCOUNT_NAME_BAD)
        if not MIN_PASSWORD_CHARACTERS <= len(password) <= MAX_PASSWORD_CHARACTERS:
            raise InputError(ErrorCode.PASSWORD_TOO_SHORT, need=MIN_PASSWORD_CHARACTERS)
        hashed = self._hashed(password)
        with self._lock:
            accounts = self._read()
            old = accounts.get(name)
            if is_owner is None:
                is_owner = old.is_owner if old else not accounts
            account = Account(
                name=name, password_hash=hashed, is_owner=is_owner, version=secrets.token_hex(8)
            )
            self._write({**accounts, name: account})
        return account

    def remove(self, name: str) -> None:
        """Remove an account; its sessions end at once, its videos stay until they are swept.

        Raises:
            InputError: ACCOUNT_UNKNOWN.
        """
        name = name.strip().lower()
        with self._lock:
            accounts = dict(self._read())
            if accounts.pop(name, None) is None:
                raise InputError(ErrorCode.ACCOUNT_UNKNOWN, name=name)
            self._write(accounts)

    def log_in(self, name: str, password: str) -> Account | None:
        """The account if name and password fit; takes as long when there is no such account."""
        account = self.find(name)
        if len(password) > MAX_PASSWORD_CHARACTERS:
            return None
        with self._one_at_a_time:
            if account is None:
                self._nobody = self._nobody or self._hasher.hash(secrets.token_hex(8))
            try:
                self._hasher.verify(
                    account.password_hash if account else self._nobody or "", password
                )
            except (Argon2Error, InvalidHashError):
                return None
        return account

    def _hashed(self, password: str) -> str:
        with self._one_at_a_time:
            return self._hasher.hash(password)

    def _read(self) -> dict[str, Account]:
        try:
            info = self._path.stat()
        except FileNotFoundError:
            return {}
        stamp = (info.st_mtime_ns, info.st_ino)
        if stamp != self._seen:
            try:
                stored = json.loads(self._path.read_text("utf-8"))
                accounts = [Account.model_validate(entry) for entry in stored["accounts"]]
            except (OSError, ValueError, KeyError, TypeError, ValidationError) as error:
                raise EngineError(ErrorCode.ACCOUNTS_UNREADABLE) from error
            self._known = {account.name: account for account in accounts}
            self._seen = stamp
        return self._known

    def _write(self, accounts: dict[str, Account]) -> None:
        content = {"accounts": [account.model_dump() for account in accounts.values()]}
        part = self._path.with_name(f"{FILE_NAME}.{secrets.token_hex(4)}")
        try:
            with os.fdopen(
                os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb"
            ) as file:
                file.write(json.dumps(content, indent=1).encode())
                file.flush()
                os.fsync(file.fileno())
            part.replace(self._path)
        finally:
            part.unlink(missing_ok=True)
