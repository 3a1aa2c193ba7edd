"""Files that several machines see: a folder they share, or a bucket of an S3-compatible store.

Keys are built by us from job ids and plain names; readers never see half a file.
"""

import contextlib
import errno
import importlib
import re
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from engine.errors import EngineError, ErrorCode, InputError

LINK_S = 600
"""How long a link to a file of a bucket works."""

_PLAIN_KEY = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*(/[A-Za-z0-9_-][A-Za-z0-9._-]*)*")

_S3_OPTIONS = {
    "use_listings_cache": False,  # others write while we look
    "skip_instance_cache": True,
    "default_fill_cache": False,
}


class SharedStorage:
    """Files by key. Safe from any thread.

    Args:
        url: `s3://bucket/folder`, or a folder. Keys of a bucket come from the environment, as
            for every S3 program (`AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`,
            `AWS_ENDPOINT_URL`, ...).

    Raises:
        InputError: BAD_OPTION when the address cannot be used here.
    """

    def __init__(self, url: str) -> None:
        self._is_remote = "://" in url and not url.startswith("file://")
        self._faults: tuple[type[Exception], ...] = (OSError, *_remote_faults())
        options = _S3_OPTIONS if url.startswith("s3://") else {}
        try:
            fsspec = importlib.import_module("fsspec")
            self._files: Any
            self._files, self._root = fsspec.core.url_to_fs(url, **options)
        except (ImportError, ValueError) as error:
            reason = str(error).splitlines()[0]
            raise InputError(ErrorCode.BAD_OPTION, option="storage_url", reason=reason) from error

    @property
    def has_links(self) -> bool:
        """Whether a browser can fetch a file itself."""
        return self._is_remote

    def upload(self, path: Path, key: str) -> None:
        """Copy a file of this machine into the storage.

        Raises:
            EngineError: STORAGE_UNREACHABLE, here and below.
        """
        with self._explained():
            if self._is_remote:
                self._files.put_file(str(path), self._place(key))
            else:
                self._write_local(key, path.read_bytes())

    def download(self, key: str, path: Path) -> None:
        """Copy a file of the storage to this machine; a file that is there is replaced.

        Raises:
            FileNotFoundError: it is not in the storage.
        """
        part = path.with_name(path.name + ".part")
        try:
            with self._explained():
                self._files.get_file(self._place(key), str(part))
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)

    def write(self, key: str, content: bytes) -> None:
        """Keep a few bytes."""
        with self._explained():
            if self._is_remote:
                self._files.pipe_file(self._place(key), content)
            else:
                self._write_local(key, content)

    def read(self, key: str) -> bytes | None:
        """What `write` kept; None when there is nothing."""
        try:
            with self._explained():
                content: bytes = self._files.cat_file(self._place(key))
        except FileNotFoundError:
            return None
        return content

    def names(self, folder: str) -> list[str]:
        """The names of what lies in a folder; empty when it does not exist."""
        try:
            with self._explained():
                self._files.invalidate_cache()
                found = self._files.ls(self._place(folder), detail=False)
        except FileNotFoundError:
            return []
        names = (str(path).rstrip("/").rsplit("/", 1)[-1] for path in found)
        return sorted(name for name in names if not name.endswith(".part"))

    def remove(self, folder: str) -> None:
        """Remove a folder, or one file, with all it holds; nothing to remove is fine."""
        with self._explained(), contextlib.suppress(FileNotFoundError):
            self._files.invalidate_cache()
            self._files.rm(self._place(folder), recursive=True)

    def link(self, key: str, file_name: str) -> str | None:
        """An address at which a browser can save a file for ten minutes; None for a folder.

        Args:
            key: of the file.
            file_name: what the browser calls it.
        """
        if not self._is_remote:
            return None
        with self._explained():
            address: str = self._files.sign(
                self._place(key),
                expiration=LINK_S,
                ResponseContentDisposition=f'attachment; filename="{file_name}"',
            )
        return address

    def _place(self, key: str) -> str:
        if not _PLAIN_KEY.fullmatch(key):
            raise EngineError(ErrorCode.JOB_NOT_FOUND)
        return f"{self._root}/{key}"

    def _write_local(self, key: str, content: bytes) -> None:
        place = Path(self._place(key))
        place.parent.mkdir(parents=True, exist_ok=True)
        part = place.with_name(f"{place.name}.{secrets.token_hex(4)}.part")
        part.write_bytes(content)
        part.replace(place)

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn whatever the storage's library raises into our sentence."""
        try:
            yield
        except FileNotFoundError:
            raise
        except self._faults as error:
            if getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT):
                raise EngineError(ErrorCode.DISK_FULL) from error
            raise EngineError(ErrorCode.STORAGE_UNREACHABLE) from error


def _remote_faults() -> tuple[type[Exception], ...]:
    """What S3 libraries raise beside OSError; nothing where they are not installed."""
    try:
        faults = importlib.import_module("botocore.exceptions")
    except ImportError:
        return ()
    return (faults.BotoCoreError, faults.ClientError)
