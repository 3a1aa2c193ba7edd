"""Limits of time fit the machine."""

import pytest

from tests.patience import PATIENCE


def pytest_configure(config: pytest.Config) -> None:
    """Let no test take longer than its share of a slow machine."""
    if config.getoption("timeout", None) is None:
        config.option.timeout = float(config.getini("timeout")) * PATIENCE
