"""Who may reach the page: every refusal, and what is decided otherwise."""

import pytest

from studio.exposure import CannotStart, Exposure, Wish, decide_exposure

LOCAL = "127.0.0.1"


def decided(environment=None, **wish):
    return decide_exposure(Wish(**{"host": LOCAL, **wish}), environment or {})


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "[::1]", "127.0.0.2"])
def test_this_computer_is_no_exposure(host):
    assert decided(host=host) == Exposure("no")


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.4", "example.org"])
def test_other_addresses_are_refused_without_accounts(host):
    with pytest.raises(CannotStart, match="user add"):
        decided(host=host)
    with pytest.raises(CannotStart, match="user add"):
        decided(host=host, public="no")
    assert decided(host=host, has_login=True) == Exposure("accounts")


def test_a_public_link_is_refused_without_accounts():
    with pytest.raises(CannotStart, match="user add"):
        decided(share=True)
    assert decided(share=True, has_login=True) == Exposure("accounts", share=True)


def test_accounts_on_this_computer_are_asked_for_too_when_it_says_so():
    with pytest.raises(CannotStart, match="STUDIO_PUBLIC=accounts"):
        decided(public="accounts")
    assert decided(public="accounts", has_login=True) == Exposure("accounts")


def test_accounts_alone_change_nothing_for_who_sits_here():
    assert decided(has_login=True) == Exposure("no")


@pytest.mark.parametrize("host", [LOCAL, "0.0.0.0"])
def test_anonymous_needs_no_accounts(host):
    assert decided(host=host, public="anonymous", share=True) == Exposure("anonymous", share=True)


def test_a_space_is_anonymous_unless_something_else_is_said():
    space = {"SPACE_ID": "someone/studio"}

    assert decided(space, host="0.0.0.0") == Exposure("anonymous", on_space=True)
    assert decided(space, host="0.0.0.0", public="accounts", has_login=True).mode == "accounts"
    with pytest.raises(CannotStart, match="user add"):
        decided(space, host="0.0.0.0", public="no")


def test_programs_over_mcp_cannot_be_anonymous():
    with pytest.raises(CannotStart, match="MCP"):
        decided(public="anonymous", mcp=True)
    assert decided(mcp=True) == Exposure("no")
    assert decided(public="accounts", has_login=True, mcp=True).mode == "accounts"


def test_the_unsafe_switch_opens_only_what_would_be_refused():
    assert decided(without_auth=True) == Exposure("no")
    assert decided(share=True, without_auth=True) == Exposure("no", share=True, is_unsafe=True)
    assert decided(host="0.0.0.0", without_auth=True, has_login=True) == Exposure("accounts")


@pytest.mark.parametrize("name", ["GRADIO_SHARE", "GRADIO_ALLOWED_PATHS", "GRADIO_MCP_SERVER"])
@pytest.mark.parametrize("public", [None, "accounts", "anonymous"])
def test_variables_that_open_the_page_are_refused_in_every_mode(name, public):
    with pytest.raises(CannotStart, match=name):
        decided({name: "True"}, public=public, has_login=True)
    decided({name: "False"}, public=public, has_login=True)


@pytest.mark.parametrize(
    "name",
    [
        "GRADIO_VIBE_MODE", "GRADIO_LOCAL_DEV_MODE", "GRADIO_HISTORY_BUCKET", "GRADIO_WATCH_DIRS",
        "GRADIO_HOT_RELOAD",
    ],
)  # fmt: skip
def test_variables_that_open_the_page_by_being_there_are_refused(name):
    with pytest.raises(CannotStart, match=name):
        decided({name: "0"})
