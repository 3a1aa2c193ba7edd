"""Installations of every kind: the same cases must hold for all of them."""

import os
import sys
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "process"))

from brokers import rabbitmq_server, redis_server, s3_server
from installation import HERE, KINDS, SILENCE_S, Installation
from polling import python_path


@pytest.fixture(scope="session")
def broker_of() -> Iterator[dict[str, str]]:
    """The address of each broker; it is started when it is first asked for."""

    class Started(dict[str, str]):
        def __missing__(self, kind: str) -> str:
            server = {"redis": redis_server, "rabbitmq": rabbitmq_server}[kind]
            self[kind] = stack.enter_context(server())
            return self[kind]

    with ExitStack() as stack:
        yield Started()


@pytest.fixture(scope="session")
def s3() -> Iterator[dict[str, str]]:
    with s3_server() as variables:
        yield variables


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def site(kind: str, tmp_path: Path, broker_of: dict[str, str]) -> Iterator[Installation]:
    """An installation for one test; everything it starts is ended."""
    with _installed(kind, tmp_path, broker_of) as made:
        yield made


@pytest.fixture(scope="module", params=KINDS)
def shared(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    broker_of: dict[str, str],
) -> Iterator[Installation]:
    """An installation with one worker for all tests of a file."""
    folder = tmp_path_factory.mktemp("shared")
    with _installed(str(request.param), folder, broker_of) as made:
        made.open_engine(broker_window=2)
        made.add_workers(1)
        yield made


@contextmanager
def _installed(kind: str, folder: Path, broker_of: dict[str, str]) -> Iterator[Installation]:
    made = Installation(kind, folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", python_path(HERE, HERE.parent / "process"))
        for name in [name for name in os.environ if name.startswith("STUDIO_")]:
            patch.delenv(name)
        if made.has_broker:
            made.settings = {
                "backend": "celery",
                "broker_url": broker_of[kind],
                "broker_prefix": f"test-{uuid.uuid4().hex}",
                "broker_silence_s": SILENCE_S,
                "storage_url": str(folder / "shared"),
            }
        try:
            yield made
        finally:
            made.close()
