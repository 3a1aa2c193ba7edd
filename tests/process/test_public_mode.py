"""A studio that others can reach, run as its owner runs it: who asks for another's files gets none.

One server with two accounts and the Model Context Protocol on; then one for anonymous visitors on
the same data.
"""

import asyncio
import base64
import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest
from gradio_client import Client, handle_file
from mcp import ClientSession
from mcp.client.streamable_http import streamablehttp_client

from engine.accounts import Accounts
from studio.session import COOKIE_NAME, Signer, Visitors

ROOT = Path(__file__).resolve().parents[2]
PORTRAIT = ROOT / "tests" / "data" / "portraits" / "astronaut_collins.jpg"
pytestmark = pytest.mark.timeout(500)

PASSWORDS = {"eva": "correct horse battery", "bob": "another long word"}
LIMIT_S = 200.0
MAX_UPLOAD_BYTES = 3_000_000
PATIENCE_S = 90.0  # for one answer of a busy computer


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory):
    folder = tmp_path_factory.mktemp("public")
    accounts = Accounts(folder)
    for name, password in PASSWORDS.items():
        accounts.add(name, password)
    return folder


class Server:
    """app.py as a process of its own."""

    def __init__(self, data_dir, **variables):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.address = f"http://127.0.0.1:{port}"
        given = {"STUDIO_DATA_DIR": str(data_dir), "STUDIO_PORT": str(port), **variables}
        self._log = (data_dir / "server.log").open("ab")
        self._process = subprocess.Popen(
            [sys.executable, str(ROOT / "app.py")],
            env={**os.environ, **given},
            stdout=self._log,
            stderr=self._log,
        )

    def __enter__(self):
        until = time.monotonic() + LIMIT_S
        while time.monotonic() < until:
            assert self._process.poll() is None, "the studio did not start"
            try:
                httpx.get(f"{self.address}/gradio_api/startup-events", timeout=5)
            except httpx.HTTPError:
                time.sleep(0.3)
            else:
                return self
        raise AssertionError("the studio did not answer")

    def __exit__(self, *_):
        self._process.terminate()
        self._process.wait(60)
        self._log.close()


def logged_in(server, name):
    client = httpx.Client(base_url=server.address, timeout=PATIENCE_S)
    answer = client.post("/login", data={"username": name, "password": PASSWORDS[name]})
    assert answer.status_code == 200
    return client


@pytest.fixture(scope="module")
def server(data_dir):
    limits = {"STUDIO_MAX_AUDIO_BYTES": str(MAX_UPLOAD_BYTES)}
    with Server(data_dir, STUDIO_PUBLIC="accounts", STUDIO_MCP="1", **limits) as running:
        yield running


@pytest.fixture(scope="module")
def evas_job(server):
    """A finished video of eva's, made over HTTP."""
    client = Client(
        server.address,
        auth=("eva", PASSWORDS["eva"]),
        verbose=False,
        httpx_kwargs={"timeout": PATIENCE_S},
    )
    options = {"size_px": 256}
    answer = client.predict(
        handle_file(str(PORTRAIT)), None, "Good morning.", options, True, api_name="/submit"
    )
    until = time.monotonic() + LIMIT_S
    while time.monotonic() < until:
        job = client.predict(answer["job_id"], api_name="/job")
        if job["status"] in ("succeeded", "failed"):
            assert job["status"] == "succeeded", job["error"]
            return job
        time.sleep(0.5)
    raise AssertionError("the video took too long")


def own_files(data_dir, job_id):
    """What nobody else may get a byte of, by its first bytes or a telling piece."""
    folder = data_dir / "jobs" / job_id
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def leaked(content, secrets):
    """The names of files a part of which is in an answer."""
    pieces = {name: whole[64:160] or whole for name, whole in secrets.items() if whole}
    return [name for name, piece in pieces.items() if piece in content]


def file_forgeries(data_dir, job_id, visitors):
    """Addresses, with headers, that ask for another's files in every way we know."""
    folder = data_dir / "jobs" / job_id
    kinds = ("video", "poster", "speech", "timings", "report", "srt", "vtt")
    for kind in kinds:
        yield f"/artifacts/{job_id}/{kind}", {}
        yield f"/artifacts/{job_id}/{kind}?download=1", {}
        ticket = visitors.ticket("account:bob", job_id)
        yield f"/artifacts/{job_id}/{kind}?ticket={ticket}", {}
        other = Visitors(b"x" * 32).ticket("account:eva", job_id)
        yield f"/artifacts/{job_id}/{kind}?ticket={other}", {}
        yield f"/artifacts/{job_id}/{kind}?ticket={ticket}x", {}
    paths = [
        *(folder / name for name in ("video.mp4", "portrait.png", "spoken.wav", "report.json")),
        *(data_dir / name for name in ("store.sqlite3", "accounts.json", "server.log")),
        *(data_dir / "keys" / name for name in ("visitors.key", "provenance.pem")),
    ]
    for path in paths:
        plain = str(path)
        relative = os.path.relpath(plain, data_dir / "empty")
        for form in (
            plain, plain.replace("/", "%2f"), relative, relative.replace("..", "%2e%2e"),
            f"/..{plain}", f"{data_dir}/uploads/../{path.relative_to(data_dir)}",
        ):  # fmt: skip
            yield f"/gradio_api/file={form}", {}
    for cookie in (
        f"{COOKIE_NAME}=account:eva", f"{COOKIE_NAME}={Signer(b'x' * 32).signed('account:eva')}",
        "access-token=eva", "sonic_studio_session=eva",
    ):  # fmt: skip
        yield f"/artifacts/{job_id}/video", {"cookie": cookie}
    for header in ("X-Forwarded-User", "X-Forwarded-For", "Remote-User", "X-Gradio-User"):
        yield f"/artifacts/{job_id}/video", {header: "eva"}
    for path in (
        f"/artifacts/{job_id}/../{job_id}/video", f"/artifacts/{job_id}%2fvideo",
        f"/artifacts/{job_id}/video/", f"//artifacts/{job_id}/video",
        f"/batches/{job_id}/zip", f"/static/../../../jobs/{job_id}/video.mp4",
        f"/theme/../jobs/{job_id}/video.mp4", "/monitoring", "/gradio_api/runs",
    ):  # fmt: skip
        yield path, {}


def test_a_file_over_the_limit_is_refused_and_nothing_of_it_stays(server, data_dir):
    bob = logged_in(server, "bob")
    too_much = b"long" * MAX_UPLOAD_BYTES

    answer = bob.post("/gradio_api/upload", files={"files": ("speech.wav", too_much)})

    assert answer.status_code == 413
    assert "maximum allowed size" in answer.text
    kept = [path for path in data_dir.rglob("*") if path.is_file()]
    assert [path for path in kept if path.read_bytes()[:4] == b"long"] == []


def test_owner_gets_the_whole_video(server, evas_job, data_dir):
    eva = logged_in(server, "eva")
    job_id = evas_job["job_id"]

    answer = eva.get(f"/artifacts/{job_id}/video")
    with_ticket = httpx.get(evas_job["artifacts"][0]["url"], timeout=PATIENCE_S)

    stored = own_files(data_dir, job_id)["video.mp4"]
    assert answer.content == stored
    assert with_ticket.content == stored


def test_a_hundred_forged_requests_for_files_get_no_byte(server, evas_job, data_dir):
    job_id = evas_job["job_id"]
    secrets = own_files(data_dir, job_id)
    for name in ("store.sqlite3", "accounts.json"):
        secrets[name] = (data_dir / name).read_bytes()
    for name in ("visitors.key", "provenance.pem"):
        secrets[name] = b"\0" * 64 + (data_dir / "keys" / name).read_bytes()
    visitors = Visitors.load(data_dir / "keys" / "visitors.key")
    forgeries = list(file_forgeries(data_dir, job_id, visitors))
    asked, found = 0, []
    for who in (
        logged_in(server, "bob"),
        httpx.Client(base_url=server.address, timeout=PATIENCE_S),
    ):
        for address, headers in forgeries:
            answer = who.get(address, headers=headers)
            asked += 1
            is_refused = answer.status_code in (400, 401, 403, 404, 405)
            is_refused = is_refused or (answer.status_code == 307 and not answer.content)
            if not is_refused or leaked(answer.content, secrets):
                found.append((address, headers, answer.status_code, answer.content[:60]))

    assert asked >= 100
    assert found == []


@pytest.mark.parametrize("endpoint", ["job", "cancel"])
def test_named_endpoints_know_nothing_of_anothers_video(server, evas_job, endpoint):
    job_id = evas_job["job_id"]
    bob = Client(
        server.address,
        auth=("bob", PASSWORDS["bob"]),
        verbose=False,
        httpx_kwargs={"timeout": PATIENCE_S},
    )

    for forged in (job_id, job_id.upper(), f" {job_id}", f"../{job_id}", f"{job_id}' OR '1'='1"):
        answer = bob.predict(forged, api_name=f"/{endpoint}")
        assert answer["error"]["code"] == "job_not_found"
        assert "url" not in json.dumps(answer)


def test_raw_calls_with_anothers_session_know_nothing_either(server, evas_job):
    job_id = evas_job["job_id"]
    bob = logged_in(server, "bob")
    for body in (
        {"data": [job_id]},
        {"data": [job_id], "session_hash": "eva"},
        {"data": [job_id], "request": {"username": "eva"}, "username": "eva"},
    ):
        event = bob.post("/gradio_api/call/job", json=body).json()
        text = bob.get(f"/gradio_api/call/job/{event.get('event_id', 'x')}").text
        assert "artifacts" not in text
        assert "job_not_found" in text


def test_programs_over_mcp_see_their_own_videos_only(server, evas_job):
    answers = {
        name: asyncio.run(call_tool(server.address, name, "job", {"job_id": evas_job["job_id"]}))
        for name in PASSWORDS
    }

    assert "job_not_found" in answers["bob"]
    assert "artifacts" not in answers["bob"]
    assert evas_job["job_id"] in answers["eva"]
    assert "artifacts" in answers["eva"]


def test_mcp_without_an_account_answers_nothing(server):
    for method, path in (("GET", "schema"), ("POST", ""), ("GET", "sse"), ("POST", "messages/")):
        answer = httpx.request(
            method, f"{server.address}/gradio_api/mcp/{path}", timeout=PATIENCE_S
        )
        assert answer.status_code == 401


async def call_tool(address, name, tool, arguments):
    word = base64.b64encode(f"{name}:{PASSWORDS[name]}".encode()).decode()
    headers = {"Authorization": f"Basic {word}"}
    where = f"{address}/gradio_api/mcp/"
    async with streamablehttp_client(where, headers=headers) as (read, write, _):
        async with ClientSession(read, write) as session:
            await session.initialize()
            return (await session.call_tool(tool, arguments)).content[0].text


def test_every_handler_of_the_page_keeps_the_whole_queue_to_the_owner(server, evas_job):
    """Each function of the page is called raw by another account, by its number."""
    bob = logged_in(server, "bob")
    config = bob.get("/config").json()
    told = []
    for dependency in config["dependencies"]:
        if dependency["inputs"]:
            continue
        body = {"data": [], "fn_index": dependency["id"], "session_hash": f"b{dependency['id']}"}
        if bob.post("/gradio_api/queue/join", json=body).status_code != 200:
            continue
        with bob.stream("GET", "/gradio_api/queue/data", params=body, timeout=PATIENCE_S) as stream:
            for line in stream.iter_lines():
                told.append(line)
                if "process_completed" in line or "close_stream" in line:
                    break

    said = "\n".join(told)
    assert len(told) > 5
    assert evas_job["job_id"] not in said
    assert "Good morning" not in said


def test_anonymous_visitors_see_neither_accounts_nor_each_other(server, evas_job, data_dir):
    server.__exit__()
    job_id = evas_job["job_id"]
    with Server(data_dir, STUDIO_PUBLIC="anonymous") as running:
        visitors = Visitors.load(data_dir / "keys" / "visitors.key")
        secrets = own_files(data_dir, job_id)
        first, second = (httpx.Client(base_url=running.address, timeout=PATIENCE_S) for _ in "ab")
        cookies = [who.get("/config").cookies[COOKIE_NAME] for who in (first, second)]
        assert cookies[0] != cookies[1]
        found = []
        for address, headers in file_forgeries(data_dir, job_id, visitors):
            answer = first.get(address, headers=headers)
            is_page = "text/html" in answer.headers.get("content-type", "")
            if leaked(answer.content, secrets) or (answer.status_code == 200 and not is_page):
                found.append((address, headers, answer.status_code))
        event = first.post("/gradio_api/call/job", json={"data": [job_id]}).json()["event_id"]
        told = first.get(f"/gradio_api/call/job/{event}").text

    assert found == []
    assert "job_not_found" in told
