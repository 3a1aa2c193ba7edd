import socket

import pytest
from pydantic import ValidationError

from studio.exposure import CannotStart
from studio.settings import DEFAULT_PORT, StudioSettings, choose_port


@pytest.fixture
def busy_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield listener.getsockname()[1]


def test_a_busy_port_that_was_asked_for_is_said(busy_port):
    with pytest.raises(CannotStart, match=str(busy_port)):
        choose_port("127.0.0.1", busy_port)


def test_a_busy_default_port_gives_the_next_one(monkeypatch, busy_port):
    monkeypatch.setattr("studio.settings.DEFAULT_PORT", busy_port)

    assert choose_port("127.0.0.1", None) > busy_port


def test_without_a_wish_the_search_starts_at_the_known_port():
    assert choose_port("127.0.0.1", None) >= DEFAULT_PORT


def test_own_variables_count_before_those_of_gradio(monkeypatch):
    monkeypatch.setenv("GRADIO_SERVER_PORT", "7001")
    assert StudioSettings().port == 7001
    monkeypatch.setenv("STUDIO_PORT", "7002")
    assert StudioSettings().port == 7002
    assert StudioSettings(port=7003).port == 7003


def test_a_port_that_cannot_be_is_refused():
    with pytest.raises(ValidationError):
        StudioSettings(port=70000)
