"""`--fixtures DIR` runs these tests on another fixture set of the same form."""

import importlib.util
from pathlib import Path

import pytest

OWN_SET = Path(__file__).parent / "data"


def pytest_addoption(parser):
    group = parser.getgroup("parity")
    # pytest lists its fixtures under that name; in this folder it takes a fixture set instead.
    group._arggroup.conflict_handler = "resolve"
    group.addoption(
        "--fixtures", dest="fixture_set", type=Path, default=OWN_SET, help="folder of a fixture set"
    )


@pytest.fixture(scope="session")
def fixture_dir(request):
    # Collected with the whole suite, this file is read after the command line was parsed.
    return request.config.getoption("fixture_set", default=OWN_SET)


@pytest.fixture(scope="session")
def fixtures(fixture_dir):
    from tests.parity.fixture_set import FixtureSet  # noqa: PLC0415 - needs torch

    return FixtureSet(fixture_dir)


@pytest.fixture(scope="session")
def networks(fixtures):
    from tests.parity.tiny_networks import TinyNetworks  # noqa: PLC0415 - needs torch

    return TinyNetworks(fixtures)


@pytest.fixture(scope="session", autouse=True)
def one_thread():
    """Threads that wait for each other cost more than these tiny networks compute."""
    if importlib.util.find_spec("torch") is not None:
        import torch  # noqa: PLC0415 - absent from the small install

        torch.set_num_threads(1)
