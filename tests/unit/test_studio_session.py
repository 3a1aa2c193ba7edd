import stat
import sys
from types import SimpleNamespace

import gradio as gr
import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import HTMLResponse, PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from studio import session
from studio.session import COOKIE_NAME, LOCAL_OWNER, VisitorCookie, Visitors


@pytest.fixture
def visitors() -> Visitors:
    return Visitors(b"k" * 32)


def asked_by(
    cookie: str | None = None, session_hash: str | None = None, username: str | None = None
) -> gr.Request:
    plain = SimpleNamespace(cookies={COOKIE_NAME: cookie} if cookie else {})
    return gr.Request(plain, username=username, session_hash=session_hash)


def test_every_visitor_gets_another_name(visitors):
    first, second = visitors.new_cookie(), visitors.new_cookie()

    assert visitors.owner_of_cookie(first).startswith("visitor:")
    assert visitors.owner_of_cookie(first) != visitors.owner_of_cookie(second)


@pytest.mark.parametrize("change", ["x{}", "{}x", "{}.", "", "visitor:abc", "."])
def test_a_changed_cookie_names_nobody(visitors, change):
    assert visitors.owner_of_cookie(change.format(visitors.new_cookie())) is None


def test_a_cookie_of_another_installation_names_nobody(visitors):
    assert visitors.owner_of_cookie(Visitors(b"j" * 32).new_cookie()) is None


def test_the_account_counts_before_the_cookie_and_the_cookie_before_the_session(visitors):
    cookie = visitors.new_cookie()

    assert visitors.owner_of(asked_by(cookie, "s", "eva")) == "account:eva"
    assert visitors.owner_of(asked_by(cookie, "s")) == visitors.owner_of_cookie(cookie)
    assert visitors.owner_of(asked_by(None, "s")).startswith("client:")
    assert visitors.owner_of(asked_by()) == LOCAL_OWNER
    assert visitors.owner_of(None) == LOCAL_OWNER


def test_two_sessions_without_cookies_are_two_owners(visitors):
    assert visitors.owner_of(asked_by(None, "a")) != visitors.owner_of(asked_by(None, "b"))


def test_a_ticket_opens_one_job_for_a_day(visitors, monkeypatch):
    ticket = visitors.ticket("visitor:abc", "job1")

    assert visitors.owner_of_ticket(ticket, "job1") == "visitor:abc"
    assert visitors.owner_of_ticket(ticket, "job2") is None
    assert visitors.owner_of_ticket(ticket + "0", "job1") is None
    later = session.time.time() + session.TICKET_AGE_S + 1
    monkeypatch.setattr(session.time, "time", lambda: later)
    assert visitors.owner_of_ticket(ticket, "job1") is None


def test_a_ticket_is_no_cookie_and_a_cookie_no_ticket(visitors):
    assert visitors.owner_of_cookie(visitors.ticket("visitor:abc", "job1")) is None
    assert visitors.owner_of_ticket(visitors.new_cookie(), "job1") is None


def test_the_key_is_made_once_and_only_its_user_reads_it(tmp_path):
    path = tmp_path / "keys" / "visitors.key"

    cookie = Visitors.load(path).new_cookie()

    assert Visitors.load(path).owner_of_cookie(cookie) is not None
    if sys.platform != "win32":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_the_page_hands_out_one_cookie_that_scripts_cannot_read(visitors):
    routes = [Route("/", lambda _: HTMLResponse("page"))]
    app = Starlette(routes=routes, middleware=[Middleware(VisitorCookie, visitors=visitors)])
    client = TestClient(app)

    first, second = client.get("/"), client.get("/")

    assert "HttpOnly" in first.headers["set-cookie"]
    assert "SameSite=Lax" in first.headers["set-cookie"]
    assert visitors.owner_of_cookie(client.cookies[COOKIE_NAME]) is not None
    assert "set-cookie" not in second.headers


def test_files_and_answers_hand_out_no_cookie(visitors):
    routes = [Route("/theme.css", lambda _: PlainTextResponse("css"))]
    app = Starlette(routes=routes, middleware=[Middleware(VisitorCookie, visitors=visitors)])

    assert "set-cookie" not in TestClient(app).get("/theme.css").headers


def test_a_broken_cookie_is_replaced(visitors):
    routes = [Route("/", lambda _: HTMLResponse("page"))]
    app = Starlette(routes=routes, middleware=[Middleware(VisitorCookie, visitors=visitors)])

    answer = TestClient(app).get("/", headers={"cookie": f"{COOKIE_NAME}=forged.value"})

    assert COOKIE_NAME in answer.headers["set-cookie"]
