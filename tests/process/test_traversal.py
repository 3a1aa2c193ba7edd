"""Nothing of this computer leaves through the page: every route, every handler, every spelling.

A real studio with a real video of somebody else; the asker has no cookie, or one of their own.
"""

import http.client
import json
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest
import soundfile as sf
from gradio_client import Client, handle_file
from polling import HERE, wait_until

from tests.media_files import PORTRAIT, SPEECH

ROOT = HERE.parents[1]
pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

START_S, RENDER_S, HANDLER_S = 240.0, 240.0, 60.0
REFUSED = {400, 403, 404, 405, 422}
SNIPPET = 64


@dataclass(frozen=True)
class Target:
    """A running studio and what must not leave it."""

    address: str
    port: int
    job_id: str
    secrets: dict[str, Path]

    def leaks(self, data: bytes) -> list[str]:
        """Names of the secrets that a part of is in an answer."""
        return [name for name, path in self.secrets.items() if path.read_bytes()[:SNIPPET] in data]


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    folder = tmp_path_factory.mktemp("traversal")
    data_dir = folder / "data"
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, str(ROOT / "app.py"), "--port", str(port), "--data-dir"]
    with (folder / "log").open("w") as log:
        app = subprocess.Popen([*command, str(data_dir)], stdout=log, stderr=log, cwd=folder)
    try:
        address = f"http://127.0.0.1:{port}"
        wait_until(lambda: app.poll() is None and is_up(address), START_S)
        job_id = make_video(address, folder)
        secrets = {
            "store": data_dir / "store.sqlite3",
            "key": data_dir / "keys" / "visitors.key",
            "video": data_dir / "jobs" / job_id / "video.mp4",
            "photo": data_dir / "jobs" / job_id / "portrait.png",
            "report": data_dir / "jobs" / job_id / "report.json",
            "program": ROOT / "app.py",
            "passwords": Path("/etc/passwd"),
        }
        yield Target(address, port, job_id, {n: p for n, p in secrets.items() if p.is_file()})
    finally:
        app.terminate()
        app.wait(60)


def is_up(address: str) -> bool:
    try:
        return httpx.get(address).is_success
    except httpx.TransportError:
        return False


def make_video(address: str, folder: Path) -> str:
    """Somebody's video; its id is told to the attacker, which makes it easier for them."""
    samples, rate_hz = sf.read(SPEECH, start=8_000, frames=16_000)
    speech = folder / "speech.wav"
    sf.write(speech, samples, rate_hz)
    owner = Client(address, verbose=False)
    job_id = owner.predict(
        portrait=handle_file(PORTRAIT),
        audio=handle_file(speech),
        text="",
        options={"animator": "lite", "size_px": 256},
        consent=True,
        api_name="/submit",
    )["job_id"]
    wait_until(lambda: owner.predict(job_id, api_name="/job")["status"] == "succeeded", RENDER_S)
    return str(job_id)


def spellings(path: Path) -> list[str]:
    """One path in the ways in which it slipped through elsewhere."""
    plain = str(path)
    climbing = "../" * 12 + plain.lstrip("/")
    return [
        plain,
        plain.lstrip("/"),
        quote(plain, safe=""),
        climbing,
        quote(climbing, safe=""),
        climbing.replace("../", "..%252f"),
        climbing.replace("../", "....//"),
        "..\\" * 12 + plain.lstrip("/").replace("/", "\\"),
        f"file://{plain}",
        f"/{plain}",
        f"{plain}%00.png",
        f"{plain}/",
        f"./{plain}",
    ]


def get_raw(target: Target, path: str) -> tuple[int, bytes]:
    """Ask for a path exactly as it is spelled; no library cleans it."""
    connection = http.client.HTTPConnection("127.0.0.1", target.port, timeout=30)
    try:
        connection.putrequest("GET", path.replace(" ", "%20"), skip_host=False)
        connection.endheaders()
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


ROUTES = (
    "/gradio_api/file={path}",
    "/gradio_api/file/{path}",
    "/file={path}",
    "/file/{path}",
    "/gradio_api/proxy={path}",
    "/static/{path}",
    "/assets/{path}",
    "/svelte/{path}",
    "/theme.css/{path}",
    "/custom_component/{path}/client/component/index.js",
    "/gradio_api/stream/{path}/x/x/playlist-file",
    "/gradio_api/deep_link?session_hash={path}",
    "/artifacts/{path}/video",
    "/artifacts/{job}/{path}",
    "/{path}",
)


def test_no_spelling_of_a_path_gets_a_file_through_any_route(target: Target) -> None:
    answers: dict[str, int] = {}
    for route in ROUTES:
        for path in target.secrets.values():
            for spelling in spellings(path):
                asked = route.format(path=spelling, job=target.job_id)
                status, data = get_raw(target, asked)
                assert target.leaks(data) == [], asked
                answers[asked] = status

    served = {asked for asked, status in answers.items() if status not in REFUSED}
    assert len(answers) > 1000
    # What is not refused is the page itself, which answers for addresses it does not know.
    assert all("/gradio_api/file" not in asked for asked in served), served


@pytest.mark.parametrize("kind", ["video", "poster", "report", "speech", "srt"])
def test_files_of_somebody_else_are_not_served(target: Target, kind: str) -> None:
    own = httpx.get(target.address).cookies
    where = f"{target.address}/artifacts/{target.job_id}/{kind}"

    for cookies in ({}, dict(own), {name: value[:-1] + "0" for name, value in own.items()}):
        answer = httpx.get(where, cookies=cookies)
        assert answer.status_code in (403, 404)
        assert target.leaks(answer.content) == []


def test_a_forged_file_is_taken_by_no_handler(target: Target) -> None:
    config = httpx.get(f"{target.address}/config").json()
    handlers = [one for one in config["dependencies"] if one.get("backend_fn", True)]
    assert len(handlers) > 20
    visitor = httpx.Client(timeout=HANDLER_S)
    visitor.get(target.address)

    for handler in handlers:
        for name in ("store", "video"):
            forged = {"path": str(target.secrets[name]), "meta": {"_type": "gradio.FileData"}}
            answer = call_handler(visitor, target, handler["id"], [forged] * len(handler["inputs"]))
            assert target.leaks(answer) == [], handler
            for link in re.findall(rb"/gradio_api/file=[^\"\\ ]+", answer):
                fetched = visitor.get(target.address + link.decode())
                assert target.leaks(fetched.content) == [], (handler, link)


def call_handler(visitor: httpx.Client, target: Target, number: int, data: list[Any]) -> bytes:
    """Call a handler the way the page does, private ones too; all that it answers."""
    session = f"attack{number}{time.monotonic_ns()}"
    body = {"data": data, "fn_index": number, "session_hash": session, "event_data": None}
    joined = visitor.post(f"{target.address}/gradio_api/queue/join", json=body)
    if not joined.is_success:
        return joined.content
    answer = b""
    where = f"{target.address}/gradio_api/queue/data?session_hash={session}"
    with visitor.stream("GET", where) as events:
        for line in events.iter_lines():
            answer += line.encode()
            message = json.loads(line[6:]) if line.startswith("data: ") else {}
            if message.get("msg") in ("process_completed", "close_stream", "unexpected_error"):
                break
    return answer


def test_the_studio_can_be_found_to_leak(target: Target, tmp_path: Path) -> None:
    """The sieve itself: a file that is served is noticed."""
    copy = tmp_path / "copy"
    shutil.copyfile(target.secrets["store"], copy)

    assert target.leaks(b"before" + copy.read_bytes() + b"after") == ["store"]
