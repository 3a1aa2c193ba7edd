"""The gate in front of a studio that others can reach, asked over HTTP."""

import asyncio
import base64
from functools import partial

import pytest
from argon2 import PasswordHasher
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from engine.accounts import Accounts
from engine.settings import EngineSettings
from studio.entrance import Entrance
from studio.exposure import CannotStart, Exposure
from studio.gate import CALLS_PER_MINUTE, UPLOADS_PER_MINUTE, PublicLimits
from studio.login import FAILURES_PER_MINUTE, FAILURES_PER_NAME, SESSION_COOKIE, FunctionLogin
from studio.session import USER_KEY, Signer, Visitors
from studio.settings import StudioSettings
from studio.throttle import Throttle

PASSWORD = "correct horse battery"
PAGE = {"accept": "text/html"}


@pytest.fixture(autouse=True, scope="module")
def cheap_hashes():
    """The real hash with the least work: thousands of tries in a test would take minutes."""
    with pytest.MonkeyPatch.context() as patch:
        cheap = partial(PasswordHasher, time_cost=1, memory_cost=8, parallelism=1)
        patch.setattr("engine.accounts.PasswordHasher", cheap)
        yield


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory, cheap_hashes):
    folder = tmp_path_factory.mktemp("data")
    accounts = Accounts(folder)
    accounts.add("eva", PASSWORD)
    accounts.add("bob", PASSWORD)
    return folder


def entrance_of(data_dir, exposure=None, **studio):
    settings = EngineSettings(data_dir=data_dir)
    return Entrance.of(settings, StudioSettings(**studio), exposure or Exposure("accounts"))


def client_of(entrance, address="203.0.113.5"):
    async def answer(request):
        return JSONResponse({"user": request.scope.get(USER_KEY), "path": request.url.path})

    routes = [Route("/{path:path}", answer, methods=["GET", "POST"])]
    app = Starlette(routes=routes, middleware=entrance.middleware())
    return TestClient(app, client=(address, 1), follow_redirects=False)


@pytest.fixture
def client(data_dir):
    return client_of(entrance_of(data_dir))


def log_in(client, name="eva", password=PASSWORD, **options):
    return client.post("/login", data={"username": name, "password": password}, **options)


def basic(name, password=PASSWORD):
    word = base64.b64encode(f"{name}:{password}".encode()).decode()
    return {"authorization": f"Basic {word}"}


@pytest.mark.parametrize(
    "path",
    [
        "/config", "/gradio_api/info", "/gradio_api/queue/join", "/gradio_api/file=/etc/passwd",
        "/gradio_api/upload", "/gradio_api/mcp/", "/artifacts/" + "0" * 32 + "/video",
        "/batches/x/zip", "/login/../config", "//config", "/gradio_api/startup-events/x", "/logout",
    ],
)  # fmt: skip
def test_nobody_gets_past_the_gate_who_is_not_logged_in(client, path):
    for answer in (client.get(path), client.post(path) if path != "/logout" else client.get(path)):
        assert answer.status_code == 401
        assert "path" not in answer.json()


def test_people_see_the_form_and_get_in_with_name_and_password(client):
    form = client.get("/?job=0a1b", headers=PAGE)
    assert form.status_code == 401
    assert 'name="query" value="job=0a1b"' in form.text

    answer = log_in(client, headers=PAGE)

    assert answer.status_code == 303
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert "Secure" not in cookie
    assert client.get("/config").json()["user"] == "eva"


def test_the_cookie_is_for_https_alone_where_the_page_is(data_dir):
    client = client_of(entrance_of(data_dir))

    answer = log_in(client, headers={"x-forwarded-proto": "https"})

    assert "Secure" in answer.headers["set-cookie"]


def test_a_link_leads_on_after_the_login_but_never_elsewhere(client):
    for query, place in (
        ("job=0a1b", "./?job=0a1b"),
        ("//evil.example", "./"),
        ("a=1\r\nx: y", "./"),
        ("", "./"),
    ):
        given = {"username": "eva", "password": PASSWORD, "query": query}
        answer = client.post("/login", data=given, headers=PAGE)
        assert answer.headers["location"] == place


def test_a_wrong_password_is_said_in_the_language_of_the_reader(client):
    answer = log_in(client, password="x", headers={**PAGE, "accept-language": "ar"})

    assert answer.status_code == 401
    assert 'dir="rtl"' in answer.text
    assert "كلمة المرور" in answer.text


def test_what_was_typed_never_comes_back(client):
    answer = client.get('/"><script>alert(1)</script>?x="><b>', headers=PAGE)

    assert "<script>alert" not in answer.text
    assert "<b>" not in answer.text


def test_guessing_is_slowed_down_by_address_and_by_name(data_dir):
    entrance = entrance_of(data_dir)
    client = client_of(entrance)
    for _ in range(FAILURES_PER_MINUTE):
        assert log_in(client, password="guess").status_code == 401

    held = log_in(client, password=PASSWORD)

    assert held.status_code == 429
    assert 0 < int(held.headers["retry-after"]) <= 60
    assert client.get("/config", headers=basic("bob")).status_code == 429


def test_a_name_is_guarded_against_many_addresses(data_dir):
    entrance = entrance_of(data_dir)
    guesses = [
        log_in(client_of(entrance, f"198.51.100.{number}"), password="guess").status_code
        for number in range(FAILURES_PER_NAME)
    ]

    held = log_in(client_of(entrance, "203.0.113.9"))

    assert set(guesses) == {401}
    assert held.status_code == 429
    assert log_in(client_of(entrance, "203.0.113.9"), "bob").status_code == 200


def test_a_class_that_logs_in_from_one_address_is_not_held(client):
    for _ in range(3 * FAILURES_PER_MINUTE):
        assert log_in(client).status_code == 200


def test_programs_log_in_with_every_call(client):
    assert client.get("/config", headers=basic("bob")).json()["user"] == "bob"
    assert client.get("/config", headers=basic("bob")).json()["user"] == "bob"
    refused = client.get("/config", headers=basic("bob", "x"))
    assert refused.status_code == 401
    assert refused.headers["www-authenticate"].startswith("Basic")
    for word in ("Basic", "Basic ###", "Bearer x", "Basic " + base64.b64encode(b"bob").decode()):
        assert client.get("/config", headers={"authorization": word}).status_code == 401


def test_a_removed_account_and_a_new_password_end_sessions_at_once(tmp_path):
    accounts = Accounts(tmp_path)
    accounts.add("eva", PASSWORD)
    client = client_of(entrance_of(tmp_path))
    log_in(client)
    assert client.get("/config", headers=basic("eva")).status_code == 200

    accounts.add("eva", "another password")

    assert client.get("/config").status_code == 401
    assert client.get("/config", headers=basic("eva")).status_code == 401
    log_in(client, password="another password")
    assert client.get("/config").status_code == 200
    accounts.remove("eva")
    assert client.get("/config").status_code == 401


def test_logging_out_ends_the_session_of_this_browser(client):
    log_in(client)

    client.post("/logout")

    assert client.get("/config").status_code == 401


@pytest.mark.parametrize(
    "change",
    ["{}x", "x{}", "{}.", "", "session:99999999999:v:eva", "visitor"],
)
def test_forged_sessions_open_nothing(data_dir, change):
    entrance = entrance_of(data_dir)
    client = client_of(entrance)
    log_in(client)
    real = client.cookies[SESSION_COOKIE]
    client.cookies.clear()
    version = Accounts(data_dir).find("eva").version
    forged = {
        "visitor": entrance.visitors.new_cookie(),
        "session:99999999999:v:eva": Signer(b"x" * 32).signed(f"session:9999999999:{version}:eva"),
    }.get(change, change.format(real))

    answer = client.get("/config", headers={"cookie": f"{SESSION_COOKIE}={forged}"})

    assert answer.status_code == 401


def test_old_sessions_end(data_dir):
    entrance = entrance_of(data_dir)
    version = Accounts(data_dir).find("eva").version
    old = entrance.visitors.signer.signed(f"session:1000000000:{version}:eva")

    answer = client_of(entrance).get("/config", headers={"cookie": f"{SESSION_COOKIE}={old}"})

    assert answer.status_code == 401


def test_a_form_that_is_a_book_is_refused_unread(client):
    answer = log_in(client, password="x" * 20_000)

    assert answer.status_code == 413


def test_a_proxy_names_who_asks_and_nobody_else_can(data_dir):
    entrance = entrance_of(
        data_dir, auth_header="X-Forwarded-User", trusted_proxies="10.0.0.0/8, 192.0.2.7"
    )
    named = {"X-Forwarded-User": "eva", "X-Forwarded-For": "203.0.113.9"}

    for proxy in ("10.1.2.3", "192.0.2.7"):
        answer = client_of(entrance, proxy).get("/config", headers=named)
        assert answer.json()["user"] == "eva"
        assert client_of(entrance, proxy).get("/config").status_code == 401
    stranger = client_of(entrance, "203.0.113.9").get("/config", headers=named)
    assert stranger.status_code == 401


def test_a_header_without_a_trusted_proxy_is_no_login(data_dir):
    with pytest.raises(CannotStart, match="STUDIO_TRUSTED_PROXIES"):
        entrance_of(data_dir, auth_header="X-Forwarded-User")


def known_by_cookie(request):
    return request.cookies.get("who")


async def known_later(request):
    return request.cookies.get("who")


@pytest.mark.parametrize("name", ["known_by_cookie", "known_later"])
def test_a_function_of_the_owner_tells_who_asks(data_dir, name):
    entrance = entrance_of(data_dir, auth_dependency=f"{__name__}:{name}", auth_owner="eva")
    client = client_of(entrance)

    assert client.get("/config").status_code == 401
    assert client.get("/config", headers={"cookie": "who=bob"}).json()["user"] == "bob"
    assert entrance.authenticator.is_owner("eva")
    assert not entrance.authenticator.is_owner("bob")


@pytest.mark.parametrize("place", ["nothing.here:x", "json:nothing", "", "os:name"])
def test_a_function_that_is_none_stops_the_start(place):
    with pytest.raises(CannotStart):
        FunctionLogin.of(place, None)


def test_the_owner_account_may_manage_and_no_other(data_dir):
    login = entrance_of(data_dir).authenticator

    assert login.is_owner("eva")
    assert not login.is_owner("bob")
    assert not login.is_owner("nobody")


def test_strangers_are_held_to_a_number_of_calls_and_uploads(data_dir):
    client = client_of(entrance_of(data_dir, Exposure("anonymous")))
    page = client.get("/config").headers  # hands out the visitor's cookie
    assert "set-cookie" in page

    calls = [client.post("/gradio_api/queue/join").status_code for _ in range(CALLS_PER_MINUTE)]
    uploads = [client.post("/gradio_api/upload").status_code for _ in range(UPLOADS_PER_MINUTE)]

    assert set(calls) == set(uploads) == {200}
    held = client.post("/gradio_api/queue/join")
    assert held.status_code == 429
    assert int(held.headers["retry-after"]) <= 60
    assert client.post("/gradio_api/upload").status_code == 429
    other = client_of(entrance_of(data_dir, Exposure("anonymous")), "203.0.113.77")
    assert other.post("/gradio_api/queue/join").status_code == 200


def test_uploads_of_one_person_come_one_after_the_other(data_dir):
    """Five at once: never two inside together; a sixth beside four that wait is sent away."""
    inside, most = 0, 0

    async def app(scope, receive, send):
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        await asyncio.sleep(0.05)
        inside -= 1
        await PlainTextResponse("ok")(scope, receive, send)

    async def upload(gate, answers):
        async def send(message):
            if message["type"] == "http.response.start":
                answers.append(message["status"])

        scope = {
            "type": "http", "path": "/gradio_api/upload", "headers": [], "method": "POST",
            "query_string": b"", "client": ("203.0.113.5", 1),
        }  # fmt: skip
        await gate(scope, None, send)

    async def seven_at_once():
        gate, answers = PublicLimits(app, Visitors(b"k" * 32)), []
        await asyncio.gather(*(upload(gate, answers) for _ in range(7)))
        return sorted(answers)

    answers = asyncio.run(seven_at_once())

    assert most == 1
    assert answers == [200] * 5 + [429] * 2


def test_a_private_studio_has_no_gate(data_dir):
    client = client_of(entrance_of(data_dir, Exposure("no")))

    codes = {client.post("/gradio_api/upload").status_code for _ in range(2 * UPLOADS_PER_MINUTE)}

    assert codes == {200}


def test_throttle_counts_within_its_time_and_forgets_the_oldest(monkeypatch):
    now = [0.0]
    throttle = Throttle(2, 60.0, lambda: now[0])

    assert [throttle.take("a"), throttle.take("a")] == [0.0, 0.0]
    now[0] = 20.0
    assert throttle.take("a") == 40.0
    assert throttle.take("b") == 0.0
    throttle.give_back("a")
    assert throttle.take("a") == 0.0
    now[0] = 61.0
    assert throttle.take("a") == 0.0
    monkeypatch.setattr(Throttle, "MAX_KEYS", 3)
    for name in "cdef":
        throttle.take(name)
    assert len(throttle._taken) == 3


def test_middleware_is_in_the_order_that_lets_nothing_past(data_dir):
    gates = entrance_of(data_dir).middleware()

    names = [gate.cls.__name__ for gate in gates if isinstance(gate, Middleware)]
    assert names == [
        *("TrustedProxies", "Guard", "PageLanguage", "PublicLimits", "VisitorCookie"),
        "NoteUploads",  # behind the cookie: it must know who uploads
    ]
