"""The endpoints and files over real HTTP, with a small engine behind them."""

import ast
import asyncio
from pathlib import Path

import httpx
import pytest
from gradio_client import Client, handle_file
from mcp import ClientSession
from mcp.client.streamable_http import streamablehttp_client

from engine.contracts import JobStatus
from engine.settings import EngineSettings
from studio.app import build_studio, launch, launch_options
from studio.entrance import Entrance
from studio.open_pages import MAX_SESSIONS
from studio.session import COOKIE_NAME
from studio.settings import StudioSettings, choose_port
from tests.studio_fakes import FakeEngine, fill_results

PORTRAIT = Path("tests/data/portraits/astronaut_collins.jpg").resolve()
SPEECH = Path("tests/data/speech/en_librivox_austen_0880.wav").resolve()


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    fill_results(folder)
    return FakeEngine(folder)


@pytest.fixture(scope="module")
def settings(tmp_path_factory):
    return EngineSettings(data_dir=tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def entrance(settings):
    return Entrance.of(settings, StudioSettings(mcp=True))


@pytest.fixture(scope="module")
def blocks(engine, settings, entrance):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GRADIO_TEMP_DIR", str(settings.data_dir / "uploads"))
        blocks = build_studio(engine, settings, entrance=entrance)
        port = choose_port("127.0.0.1", None)
        options = launch_options(engine, settings, StudioSettings(mcp=True), entrance)
        launch(blocks, port, options)
        yield blocks
        blocks.close(verbose=False)


@pytest.fixture(scope="module")
def address(blocks):
    return blocks.local_url.rstrip("/")


@pytest.fixture
def client(address):
    return Client(address, verbose=False)


def test_an_open_page_holds_no_connection(client):
    """A browser gives a site six; seven tabs that hold one each would all stand still."""
    assert client.config["connect_heartbeat"] is False


MAX_SESSIONS_HERE = 2


def ask_without_session(address: str) -> None:
    call = f"{address}/gradio_api/call/voices"
    asked = httpx.post(call, json={"data": ["en"]}).raise_for_status().json()
    answer = httpx.get(f"{call}/{asked['event_id']}").raise_for_status().text
    assert answer.startswith("event: complete")


def test_a_program_that_polls_without_a_session_leaves_no_copies_of_the_page(blocks, address):
    """Each of its calls opens a session of its own; copies of the page took 0.5 MB a call."""
    known = set(blocks.app.state_holder.session_data)
    for _ in range(3):
        ask_without_session(address)

    sessions = blocks.app.state_holder.session_data
    new = [sessions[name] for name in sessions if name not in known]
    assert len(new) == 3
    assert len(blocks.blocks) > 100
    assert all(len(session.config_values) < 10 for session in new)


def test_old_sessions_are_forgotten(blocks, address, monkeypatch):
    assert blocks.app.state_holder.capacity == MAX_SESSIONS
    monkeypatch.setattr("studio.open_pages.MAX_SESSIONS", MAX_SESSIONS_HERE)
    running = blocks._queue.pending_event_ids_session
    running["busy"] = {"call"}
    for _ in range(6):
        ask_without_session(address)

    assert running.pop("busy") == {"call"}
    assert len(running) <= MAX_SESSIONS_HERE + 1


def asked_by(client: Client, event: str, elem_id: str | None = None) -> list[dict]:
    """What the page asks the server for when something happens, of one element or at all."""
    ids = {
        part["id"]
        for part in client.config["components"]
        if elem_id in (None, part["props"].get("elem_id"))
    }
    return [
        each
        for each in client.config["dependencies"]
        if each["backend_fn"]
        and any(name == event and (elem_id is None or of in ids) for of, name in each["targets"])
    ]


def test_opening_the_page_asks_little(client):
    """Every question costs a slow computer a fifth of a second, and seven tabs ask seven times."""
    assert len(asked_by(client, "load")) == 2  # the languages; everything that changes by itself


@pytest.mark.parametrize("elem_id", ["voice-source", "framing", "quality"])
def test_a_choice_asks_nothing_while_there_is_no_photo(client, elem_id):
    assert asked_by(client, "change", elem_id) == []


def submit(client: Client, **changes: object) -> dict:
    given = {
        "portrait": handle_file(PORTRAIT),
        "audio": handle_file(SPEECH),
        "options": {"preset": "quick"},
        "consent": True,
    }
    return client.predict(**{**given, **changes}, api_name="/submit")


def test_only_the_five_endpoints_are_public(client):
    shown = client.view_api(return_format="dict", print_info=False)

    assert set(shown["named_endpoints"]) == {"/check", "/submit", "/job", "/cancel", "/voices"}
    assert not shown["unnamed_endpoints"]


def test_check_answers_with_the_report(client):
    answer = client.predict(
        portrait=handle_file(PORTRAIT), audio=handle_file(SPEECH), api_name="/check"
    )

    assert answer["ok"]
    assert answer["portrait"]["faces"]
    assert answer["audio"]["duration_s"] == 7.1
    assert answer["estimate"]["lite"]["seconds"] == 6


def test_a_submitted_job_can_be_watched_and_its_video_fetched(client, engine):
    job_id = submit(client)["job_id"]
    assert client.predict(job_id, api_name="/job")["status"] == "queued"

    engine.set_status(job_id, JobStatus.RUNNING, percent=40)
    running = client.predict(job_id, api_name="/job")
    engine.set_status(job_id, JobStatus.SUCCEEDED, percent=99.5)
    done = client.predict(job_id, api_name="/job")

    assert (done["percent"], done["seconds_left"]) == (100.0, None)
    assert (running["status"], running["stage"], running["percent"]) == ("running", "animate", 40)
    assert running["seconds_left"] == 12
    video = next(item for item in done["artifacts"] if item["kind"] == "video")
    answer = httpx.get(video["url"])
    assert answer.content == (engine.folder / "video.mp4").read_bytes()
    assert answer.headers["content-type"] == "video/mp4"


def test_a_text_is_spoken_with_its_options(client, engine):
    options = {"language": "en", "voice": "hibari:heart", "speed": 1.2, "seed": 5}

    submit(client, audio=None, text="Good morning", options=options)

    request = engine.requests[-1]
    assert request.speech.text == "Good morning"
    assert request.speech.voice == "hibari:heart"
    assert request.options.seed == 5
    assert request.title == "Good morning"


def test_the_same_idempotency_key_is_one_job(client):
    options = {"idempotency_key": "once"}

    assert submit(client, options=options) == submit(client, options=options)


def test_uploads_of_a_person_can_be_deleted(client, address, entrance):
    cookie = client.cookies[COOKIE_NAME]
    with PORTRAIT.open("rb") as photo:
        files = {"files": ("mine.jpg", photo)}
        uploaded = httpx.post(
            f"{address}/gradio_api/upload", files=files, cookies={COOKIE_NAME: cookie}
        )
    path = Path(uploaded.json()[0])
    assert path.is_file()

    entrance.uploads.remove(entrance.visitors.owner_of_cookie(cookie))

    assert not path.exists()


def test_without_consent_nothing_is_queued(client, engine):
    before = len(engine.jobs)

    answer = submit(client, consent=False)

    assert answer["error"]["code"] == "consent_missing"
    assert answer["error"]["hint"]
    assert len(engine.jobs) == before


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"options": {"presset": "hd"}}, "bad_option"),
        ({"audio": None}, "text_empty"),
        ({"portrait": None}, "file_not_found"),
    ],
)
def test_what_cannot_be_used_is_named(client, changes, code):
    assert submit(client, **changes)["error"]["code"] == code


def test_an_address_is_not_taken_for_an_upload(client, engine):
    before = len(engine.requests)

    with pytest.raises(Exception, match="does not exist"):
        submit(client, portrait=handle_file("http://127.0.0.1:9/portrait.jpg"))
    assert len(engine.requests) == before


def test_a_program_over_mcp_sends_an_upload_by_its_address(address, engine):
    with PORTRAIT.open("rb") as photo:
        uploaded = httpx.post(f"{address}/gradio_api/upload", files={"files": photo}).json()[0]
    arguments = {
        "portrait": f"{address}/gradio_api/file={uploaded}",
        "text": "Good morning",
        "options": {},
        "consent": True,
    }

    submitted = call_tool(address, "submit", arguments)
    job = call_tool(address, "job", {"job_id": submitted["job_id"]})

    assert job["status"] == "queued"
    assert Path(engine.requests[-1].portrait).read_bytes() == PORTRAIT.read_bytes()


def call_tool(address: str, name: str, arguments: dict) -> dict:
    async def call() -> str:
        async with streamablehttp_client(f"{address}/gradio_api/mcp/") as (read, write, _):
            async with ClientSession(read, write) as session:
                await session.initialize()
                return (await session.call_tool(name, arguments)).content[0].text

    return ast.literal_eval(asyncio.run(call()))  # Gradio answers in Python notation


def test_a_file_of_this_computer_is_not_taken_for_an_upload(client, address):
    forged = {"path": "/etc/hostname", "meta": {"_type": "gradio.FileData"}}
    body = {"data": [forged, None, "Hi", {}, True]}

    begun = httpx.post(f"{address}/gradio_api/call/submit", json=body).json()
    answer = httpx.get(f"{address}/gradio_api/call/submit/{begun['event_id']}").text

    assert "event: error" in answer


def test_another_caller_sees_neither_job_nor_files(client, address, engine):
    job_id = submit(client)["job_id"]
    engine.set_status(job_id, JobStatus.SUCCEEDED)
    stranger = Client(address, verbose=False)

    assert stranger.predict(job_id, api_name="/job")["error"]["code"] == "job_not_found"
    assert stranger.predict(job_id, api_name="/cancel")["error"]["code"] == "job_not_found"
    cookies = {COOKIE_NAME: stranger.cookies[COOKIE_NAME]}
    assert httpx.get(f"{address}/artifacts/{job_id}/video", cookies=cookies).status_code == 404
    assert httpx.get(f"{address}/artifacts/{job_id}/video").status_code == 404


def test_the_owner_gets_parts_of_the_video_and_a_download(client, address, engine):
    job_id = submit(client)["job_id"]
    engine.set_status(job_id, JobStatus.SUCCEEDED)
    cookies = {COOKIE_NAME: client.cookies[COOKIE_NAME]}
    where = f"{address}/artifacts/{job_id}/video"

    part = httpx.get(where, cookies=cookies, headers={"range": "bytes=0-4"})
    saved = httpx.get(f"{where}?download=1", cookies=cookies)

    assert (part.status_code, part.content) == (206, b"not a")
    shown_as = saved.headers["content-disposition"]
    assert shown_as == 'attachment; filename="en-librivox-austen-0880.mp4"'


def test_a_download_comes_from_the_bucket_where_there_is_one_but_for_its_owner_only(
    client, address, engine, monkeypatch
):
    job_id = submit(client)["job_id"]
    engine.set_status(job_id, JobStatus.SUCCEEDED)
    cookies = {COOKIE_NAME: client.cookies[COOKIE_NAME]}
    where = f"{address}/artifacts/{job_id}/video"
    monkeypatch.setitem(engine.links, "video", "https://bucket.example/x?signature=y")

    shown = httpx.get(where, cookies=cookies)
    saved = httpx.get(f"{where}?download=1", cookies=cookies)
    strangers = httpx.get(f"{where}?download=1")

    assert shown.status_code == 200
    assert (saved.status_code, saved.headers["location"][:22]) == (302, "https://bucket.example")
    assert saved.headers["cache-control"] == "no-store"
    assert (strangers.status_code, "location" in strangers.headers) == (404, False)


@pytest.mark.parametrize("kind", ["../video", "keys", "%2e%2e%2fstore.sqlite3"])
def test_nothing_but_finished_files_is_served(client, address, engine, kind):
    job_id = submit(client)["job_id"]
    engine.set_status(job_id, JobStatus.SUCCEEDED)
    cookies = {COOKIE_NAME: client.cookies[COOKIE_NAME]}

    assert httpx.get(f"{address}/artifacts/{job_id}/{kind}", cookies=cookies).status_code == 404


def test_cancel_stops_the_job(client):
    job_id = submit(client)["job_id"]

    assert client.predict(job_id, api_name="/cancel") == {"job_id": job_id, "status": "canceled"}


def test_voices_are_listed_by_language(client):
    everything = client.predict(api_name="/voices")["voices"]
    german = client.predict("de", api_name="/voices")["voices"]

    assert len(everything) == 3
    assert [voice["voice_id"] for voice in german] == ["espeak:de"]


def test_programs_find_the_tools_by_the_same_names(address):
    tools = httpx.get(f"{address}/gradio_api/mcp/schema").json()

    assert {tool["name"] for tool in tools} == {"check", "submit", "job", "cancel", "voices"}
    assert all(tool["description"] for tool in tools)


@pytest.mark.parametrize(
    "path",
    [
        "/gradio_api/file=/etc/hostname",
        "/gradio_api/file={data}/keys/visitors.key",
        "/gradio_api/file=http://127.0.0.1:9/x",
        "/monitoring/summary",
        "/gradio_api/runs",
    ],
)
def test_nothing_else_of_this_computer_is_reachable(address, path, tmp_path_factory):
    data = next(tmp_path_factory.getbasetemp().glob("data*"))

    assert httpx.get(address + path.format(data=data)).status_code in (403, 404)
