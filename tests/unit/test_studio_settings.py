import socket

import pytest
from pydantic import ValidationError

from studio.settings import (
    DEFAULT_PORT,
    CannotStart,
    StudioSettings,
    choose_port,
    refuse_exposure,
)


@pytest.fixture
def busy_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield listener.getsockname()[1]


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "[::1]", "127.0.0.2"])
def test_this_computer_is_no_exposure(host):
    refuse_exposure(host, share=False, environment={})


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.4", "example.org"])
def test_other_addresses_are_refused_without_accounts(host):
    with pytest.raises(CannotStart, match="no user accounts"):
        refuse_exposure(host, share=False, environment={})


def test_a_public_link_is_refused_without_accounts():
    with pytest.raises(CannotStart, match="--share"):
        refuse_exposure("127.0.0.1", share=True, environment={})


@pytest.mark.parametrize("name", ["GRADIO_SHARE", "GRADIO_ALLOWED_PATHS", "GRADIO_MCP_SERVER"])
def test_variables_that_open_the_page_are_refused(name):
    with pytest.raises(CannotStart, match=name):
        refuse_exposure("127.0.0.1", share=False, environment={name: "True"})
    refuse_exposure("127.0.0.1", share=False, environment={name: "False"})


@pytest.mark.parametrize(
    "name", ["GRADIO_VIBE_MODE", "GRADIO_LOCAL_DEV_MODE", "GRADIO_HISTORY_BUCKET"]
)
def test_variables_that_open_the_page_by_being_there_are_refused(name):
    with pytest.raises(CannotStart, match=name):
        refuse_exposure("127.0.0.1", share=False, environment={name: "0"})


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
