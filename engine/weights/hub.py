"""Talking to a hub with Hugging Face's addresses: what a file is, and its bytes.

`{endpoint}/{repo}/resolve/{revision}/{path}` answers a HEAD with the file's size, hash and commit
and a GET with its content, mostly by way of another server. The access token goes to the hub
alone, never to the server it points to.
"""

import hashlib
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self
from urllib.parse import quote, urljoin

import httpx

from engine.errors import EngineError, ErrorCode, InputError
from engine.weights.weight_files import WeightFile

CONNECT_TIMEOUT_S = 15.0
SILENCE_TIMEOUT_S = 30.0
"""A server that sends nothing for this long is given up and asked again."""

MAX_ATTEMPTS_IN_A_ROW = 5
"""Failures without a single new byte between them."""

FIRST_PAUSE_S = 0.5
MAX_HOPS = 5
BLOCK_BYTES = 2**20
SHA256_LENGTH = 64
HTTP_REFUSED = (401, 403)

OnBytes = Callable[[int], None]


class _Digest(Protocol):
    def update(self, data: bytes, /) -> None: ...
    def hexdigest(self) -> str: ...


@dataclass(frozen=True)
class RemoteFile:
    """What the hub says of a file.

    Attributes:
        file: which.
        url: where its content is asked for.
        size_bytes: of the content.
        commit: what the revision stands for.
        etag: SHA-256 of a large file, Git's blob hash (SHA-1) of a small one.
    """

    file: WeightFile
    url: str
    size_bytes: int
    commit: str
    etag: str

    def matches(self, path: Path) -> bool:
        """Whether the content at `path` is the file's."""
        if path.stat().st_size != self.size_bytes:
            return False
        wanted = self.file.sha256 or self.etag
        if len(wanted) == SHA256_LENGTH:
            digest: _Digest = hashlib.sha256()
        else:
            digest = hashlib.sha1(f"blob {self.size_bytes}\0".encode(), usedforsecurity=False)
        with path.open("rb") as stream:
            while block := stream.read(BLOCK_BYTES):
                digest.update(block)
        return digest.hexdigest() == wanted


class Hub:
    """One connection to the hub; a context manager.

    Args:
        endpoint: such as `https://huggingface.co`.
        token: for weights whose licence must be accepted first.
        pause_s: before the second attempt; doubles with each further one.
    """

    def __init__(
        self, endpoint: str, token: str | None = None, pause_s: float = FIRST_PAUSE_S
    ) -> None:
        self._endpoint = endpoint.rstrip("/")
        self._pause_s = pause_s
        headers = {"user-agent": "sonic-studio", "accept-encoding": "identity"}
        if token:
            headers["authorization"] = f"Bearer {token}"
        self._client = httpx.Client(
            headers=headers, timeout=httpx.Timeout(SILENCE_TIMEOUT_S, connect=CONNECT_TIMEOUT_S)
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._client.close()

    def describe(self, file: WeightFile) -> RemoteFile:
        """Ask what a file is.

        Raises:
            InputError: WEIGHTS_REFUSED.
            EngineError: WEIGHTS_UNREACHABLE.
        """
        url = (
            f"{self._endpoint}/{file.repo}/resolve/{quote(file.revision, safe='')}"
            f"/{quote(file.repo_path)}"
        )
        response = self._head(file, url)
        headers = response.headers
        etag = headers.get("x-linked-etag") or headers.get("etag", "")
        size = headers.get("x-linked-size") or headers.get("content-length")
        if not etag or size is None:
            raise self._unreachable(file, "the server does not say what the file is")
        clean_etag = etag.removeprefix("W/").strip('"')
        commit = headers.get("x-repo-commit", file.revision)
        return RemoteFile(file, url, int(size), commit, clean_etag)

    def _head(self, file: WeightFile, url: str) -> httpx.Response:
        """The hub's own answer: redirects inside it are followed, those to elsewhere are not."""
        for _ in range(MAX_HOPS):
            response = self._head_once(file, url)
            target = response.headers.get("location", "")
            if not response.is_redirect or not target.startswith("/"):
                return response
            url = urljoin(url, target)
        raise self._unreachable(file, "the server sends us round in circles")

    def _head_once(self, file: WeightFile, url: str) -> httpx.Response:
        attempt = 0
        while True:
            attempt += 1
            try:
                response = self._client.head(url, follow_redirects=False)
            except httpx.HTTPError as error:
                if attempt >= MAX_ATTEMPTS_IN_A_ROW:
                    raise self._unreachable(file, "the server does not answer") from error
            else:
                self._refuse(file, response)
                return response
            time.sleep(self._pause_s * 2 ** (attempt - 1))

    def fetch(self, remote: RemoteFile, part: Path, on_bytes: OnBytes) -> None:
        """Append what is still missing of a file to `part`.

        Args:
            remote: which.
            part: what earlier attempts left, or nothing.
            on_bytes: told how many more bytes arrived; may raise to stop, what came is kept.

        Raises:
            InputError: WEIGHTS_REFUSED.
            EngineError: WEIGHTS_UNREACHABLE after several attempts without progress.
            OSError: the disk takes no more.
        """
        failures = 0
        while (have := _size(part)) < remote.size_bytes:
            if failures >= MAX_ATTEMPTS_IN_A_ROW:
                raise self._unreachable(remote.file, "the connection keeps breaking off")
            if failures:
                time.sleep(self._pause_s * 2 ** (failures - 1))
            with suppress(httpx.HTTPError):
                self._fetch_once(remote, part, have, on_bytes)
            failures = failures + 1 if _size(part) <= have else 0

    def _fetch_once(self, remote: RemoteFile, part: Path, have: int, on_bytes: OnBytes) -> None:
        with self._stream(remote.url, have) as response:
            self._refuse(remote.file, response)
            resumed = response.status_code == httpx.codes.PARTIAL_CONTENT
            if not resumed and have:
                on_bytes(-have)
            with part.open("ab" if resumed else "wb") as stream:
                # As they come: blocks of a fixed size would lose what arrived of the last one.
                for block in response.iter_bytes():
                    stream.write(block)
                    on_bytes(len(block))
                stream.flush()
                os.fsync(stream.fileno())

    @contextmanager
    def _stream(self, url: str, start: int) -> Iterator[httpx.Response]:
        headers = {"range": f"bytes={start}-"} if start else {}
        with self._client.stream("GET", url, headers=headers, follow_redirects=True) as response:
            yield response

    def _refuse(self, file: WeightFile, response: httpx.Response) -> None:
        if response.status_code in HTTP_REFUSED:
            page = f"{self._endpoint}/{file.repo}"
            raise InputError(ErrorCode.WEIGHTS_REFUSED, file=file.name, page=page)
        if response.status_code >= httpx.codes.INTERNAL_SERVER_ERROR:
            raise httpx.HTTPStatusError("server", request=response.request, response=response)
        if response.is_client_error:
            reason = f"the server answers {response.status_code}"
            raise self._unreachable(file, reason)

    @staticmethod
    def _unreachable(file: WeightFile, reason: str) -> EngineError:
        return EngineError(ErrorCode.WEIGHTS_UNREACHABLE, file=file.name, reason=reason)


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0
