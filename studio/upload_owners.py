"""Whose uploads lie here, so that whoever wants their data gone takes these along.

The folder of uploads is emptied at every start, so it is enough to know this while the studio runs.
"""

import json
import threading
from collections.abc import Iterable
from pathlib import Path

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from studio.session import Visitors

UPLOAD_PATH = "/gradio_api/upload"

_OK = 200


class UploadOwners:
    """Remembers who brought which file; safe from any thread."""

    def __init__(self) -> None:
        self._owners: dict[Path, set[str]] = {}
        self._lock = threading.Lock()

    def note(self, owner: str, paths: Iterable[Path]) -> None:
        """Remember files of an owner, and forget those that were swept meanwhile."""
        with self._lock:
            self._owners = {path: who for path, who in self._owners.items() if path.exists()}
            for path in paths:
                self._owners.setdefault(path, set()).add(owner)

    def remove(self, owner: str) -> int:
        """Delete the files of an owner; one that somebody else brought too stays for them.

        Returns:
            How many were deleted.
        """
        with self._lock:
            theirs = [path for path, owners in self._owners.items() if owner in owners]
            gone = [path for path in theirs if self._owners[path] == {owner}]
            for path in theirs:
                self._owners[path].discard(owner)
            for path in gone:
                path.unlink(missing_ok=True)
                del self._owners[path]
        return len(gone)


class NoteUploads:
    """Notes who brought the files that Gradio has just taken in.

    Args:
        app: what comes behind; it answers an upload with the paths of the files.
        visitors: tell who asks.
        uploads: remembers it.
    """

    def __init__(self, app: ASGIApp, visitors: Visitors, uploads: UploadOwners) -> None:
        self.app = app
        self._visitors = visitors
        self._uploads = uploads

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on and read the answer to an upload."""
        owner = self._uploader(scope)
        if owner is None:
            await self.app(scope, receive, send)
            return
        answer = bytearray()
        is_taken = False

        async def read(message: Message) -> None:
            nonlocal is_taken
            if message["type"] == "http.response.start":
                is_taken = message["status"] == _OK
            elif is_taken:
                answer.extend(message.get("body", b""))
                if not message.get("more_body"):
                    self._uploads.note(owner, map(Path, json.loads(answer)))
            await send(message)

        await self.app(scope, receive, read)

    def _uploader(self, scope: Scope) -> str | None:
        """Who uploads; None for another request, and for a program that has no name."""
        path = str(scope.get("path", "")).removeprefix(str(scope.get("root_path", "")))
        if scope["type"] != "http" or path.rstrip("/") != UPLOAD_PATH:
            return None
        return self._visitors.owner_of_web(Request(scope))
