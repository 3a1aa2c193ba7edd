"""Limits of time fit the machine, and tests do not keep the processor from what they wait for."""

import pytest

from engine.worker.priority import lower_priority
from tests.patience import PATIENCE


def pytest_configure(config: pytest.Config) -> None:
    """Let no test take longer than its share of a slow machine.

    Renders give way to all that is more urgent, so the tests beside them must not be.
    """
    lower_priority()
    if config.getoption("timeout", None) is None:
        config.option.timeout = float(config.getini("timeout")) * PATIENCE
