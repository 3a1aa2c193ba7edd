"""Downloads from a small server with the hub's addresses and habits."""

import hashlib
import json
import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from engine.errors import Canceled, EngineError, ErrorCode, InputError
from engine.settings import EngineSettings
from engine.weights import download, service
from engine.weights.catalog import SONIC
from engine.weights.download import download_set
from engine.weights.hub import Hub
from engine.weights.store import examine, read_lock, verify
from engine.weights.weight_files import WeightFile, WeightSet

COMMIT = "0123456789abcdef0123456789abcdef01234567"
TOKEN = "hf_secret"


def weights(size, seed):
    """A safetensors file of about `size` bytes of noise."""
    noise = hashlib.shake_256(str(seed).encode()).digest(size)
    header = json.dumps({"a": {"dtype": "U8", "shape": [size], "data_offsets": [0, size]}}).encode()
    return len(header).to_bytes(8, "little") + header + noise


CONTENT = {
    "own/model": {
        "config.json": b'{"layers": 2}',
        "sub/net.safetensors": weights(3_000_000, 1),
    },
    "own/gated": {"gated.safetensors": weights(1000, 2)},
}
FILES = tuple(
    WeightFile(f"own/{path}", "own/model", path, 4_000_000, "Apache-2.0")
    for path in CONTENT["own/model"]
)
SET = WeightSet("own", "Own", "Free.", FILES)
BIG = FILES[1]
GATED = WeightSet(
    "gated", "Gated", "", (WeightFile("g.safetensors", "own/gated", "gated.safetensors", 9, "no"),)
)


class HubServer(ThreadingHTTPServer):
    """Large files are redirected to another port, as the hub does to its storage."""

    daemon_threads = True

    def __init__(self, storage=None):
        super().__init__(("127.0.0.1", 0), Handler)
        self.storage = storage
        self.requests = []
        self.break_after = []
        self.spoiled = False
        self.without_ranges = False
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def address(self):
        return f"http://127.0.0.1:{self.server_port}"

    def ranges(self):
        return [range_ for method, _, range_, _ in self.requests if method == "GET"]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_arguments):
        pass

    def do_HEAD(self):
        self.answer("HEAD")

    def do_GET(self):
        self.answer("GET")

    def answer(self, method):
        headers = self.headers
        self.server.requests.append(
            (method, self.path, headers.get("range"), headers.get("authorization"))
        )
        repo, _, rest = self.path.strip("/").partition("/resolve/")
        revision, _, name = rest.partition("/")
        content = CONTENT.get(repo, {}).get(name)
        if self.server.storage is None:
            return self.send_content(method, content)
        if repo == "own/renamed":
            return self.send(307, {"Location": self.path.replace("renamed", "model")})
        if content is None or revision != "main":
            return self.send(404)
        if repo == "own/gated" and headers.get("authorization") != f"Bearer {TOKEN}":
            return self.send(401)
        known = {"X-Repo-Commit": COMMIT}
        if name.endswith(".json"):
            blob = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
            return self.send_content(method, content, known | {"ETag": f'W/"{blob}"'})
        known |= {
            "X-Linked-Size": str(len(content)),
            "X-Linked-ETag": f'"{hashlib.sha256(content).hexdigest()}"',
            "Location": self.server.storage.address + self.path,
        }
        return self.send(302, known)

    def send(self, status, headers=None):
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def send_content(self, method, content, headers=None):
        start = 0
        wanted = self.headers.get("range")
        if wanted and not self.server.without_ranges:
            start = int(wanted.removeprefix("bytes=").removesuffix("-"))
        self.send_response(206 if start else 200)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content) - start))
        self.end_headers()
        if method == "HEAD":
            return
        body = bytes(reversed(content)) if self.server.spoiled else content
        end = start + self.server.break_after.pop(0) if self.server.break_after else None
        self.wfile.write(body[start:end])
        if end is not None:
            self.wfile.flush()
            self.close_connection = True


@pytest.fixture
def storage():
    server = HubServer()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def server(storage):
    server = HubServer(storage)
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def hub(server):
    with Hub(server.address, pause_s=0.0) as hub:
        yield hub


def content_of(folder):
    return {file.repo_path: (folder / file.path).read_bytes() for file in FILES}


def test_everything_arrives_and_is_known_to_be_right(hub, tmp_path):
    download_set(SET, tmp_path, hub)

    assert content_of(tmp_path) == CONTENT["own/model"]
    assert [status.state for status in verify(SET, tmp_path)] == ["ok", "ok"]
    assert {entry.commit for entry in read_lock(tmp_path).values()} == {COMMIT}
    assert not list(tmp_path.rglob("*.part"))


def test_progress_counts_the_bytes_of_the_whole_set(hub, tmp_path):
    seen = []

    download_set(SET, tmp_path, hub, seen.append)

    total = sum(map(len, CONTENT["own/model"].values()))
    assert {progress.total_bytes for progress in seen} == {total}
    assert seen[-1].done_bytes == total
    assert [p.done_bytes for p in seen] == sorted(p.done_bytes for p in seen)


def test_a_second_download_fetches_nothing(hub, server, storage, tmp_path):
    download_set(SET, tmp_path, hub)
    before = len(storage.requests)

    download_set(SET, tmp_path, hub)

    assert len(storage.requests) == before


def test_files_put_there_by_hand_are_recognised(hub, storage, tmp_path):
    (tmp_path / BIG.path).parent.mkdir(parents=True)
    (tmp_path / BIG.path).write_bytes(CONTENT["own/model"][BIG.repo_path])

    download_set(SET, tmp_path, hub)

    assert storage.requests == []
    assert [status.state for status in examine(SET, tmp_path)] == ["ok", "ok"]


def test_a_broken_connection_goes_on_where_it_stopped(hub, storage, tmp_path):
    storage.break_after = [1_000_000, 500_000]

    download_set(SET, tmp_path, hub)

    assert content_of(tmp_path) == CONTENT["own/model"]
    assert storage.ranges() == [None, "bytes=1000000-", "bytes=1500000-"]


def test_a_stopped_download_goes_on_next_time(hub, storage, tmp_path):
    def stop_half_way(progress):
        if progress.done_bytes > 1_500_000:
            raise Canceled

    with pytest.raises(Canceled):
        download_set(SET, tmp_path, hub, stop_half_way)
    part = next(tmp_path.rglob("*.part"))
    kept = part.stat().st_size
    assert not (tmp_path / BIG.path).exists()
    seen = []

    download_set(SET, tmp_path, hub, seen.append)

    assert kept > 1_000_000
    assert storage.ranges()[-1] == f"bytes={kept}-"
    assert seen[0].done_bytes >= kept
    assert content_of(tmp_path) == CONTENT["own/model"]


def test_a_server_without_ranges_starts_again(hub, storage, tmp_path):
    storage.break_after = [1_000_000]
    storage.without_ranges = True
    seen = []

    download_set(SET, tmp_path, hub, seen.append)

    assert content_of(tmp_path) == CONTENT["own/model"]
    assert seen[-1].done_bytes == seen[-1].total_bytes


def test_part_of_an_older_version_is_thrown_away(hub, storage, tmp_path):
    stale = (tmp_path / BIG.path).with_name("net.safetensors.000000000000.part")
    stale.parent.mkdir(parents=True)
    stale.write_bytes(b"old" * 1000)

    download_set(SET, tmp_path, hub)

    assert storage.ranges() == [None]
    assert not stale.exists()


def test_a_damaged_file_is_fetched_again(hub, storage, tmp_path):
    download_set(SET, tmp_path, hub)
    path = tmp_path / BIG.path
    path.write_bytes(path.read_bytes()[:1000])

    download_set(SET, tmp_path, hub)

    assert content_of(tmp_path) == CONTENT["own/model"]


def test_other_content_than_announced_is_refused(hub, storage, tmp_path):
    storage.spoiled = True

    with pytest.raises(InputError) as caught:
        download_set(SET, tmp_path, hub)

    assert caught.value.code is ErrorCode.WEIGHTS_DAMAGED
    assert not (tmp_path / BIG.path).exists()
    assert not list(tmp_path.rglob("*.part"))


def test_a_pinned_hash_is_stronger_than_what_the_server_says(hub, tmp_path):
    pinned = replace(SET, files=(replace(BIG, sha256="0" * 64),))

    with pytest.raises(InputError) as caught:
        download_set(pinned, tmp_path, hub)

    assert caught.value.code is ErrorCode.WEIGHTS_DAMAGED


def test_a_licence_that_was_not_accepted_is_explained(hub, server, tmp_path):
    with pytest.raises(InputError) as caught:
        download_set(GATED, tmp_path, hub)

    assert caught.value.code is ErrorCode.WEIGHTS_REFUSED
    assert caught.value.values["page"] == f"{server.address}/own/gated"


def test_the_token_goes_to_the_hub_alone(server, storage, tmp_path):
    with Hub(server.address, TOKEN, pause_s=0.0) as hub:
        download_set(GATED, tmp_path, hub)

    assert {token for _, _, _, token in server.requests} == {f"Bearer {TOKEN}"}
    assert {token for _, _, _, token in storage.requests} == {None}


def test_a_repository_that_moved_is_followed(hub, tmp_path):
    moved = replace(SET, files=tuple(replace(file, repo="own/renamed") for file in FILES))

    download_set(moved, tmp_path, hub)

    assert content_of(tmp_path) == CONTENT["own/model"]


def test_a_file_that_does_not_exist_is_an_error(hub, tmp_path):
    wrong = replace(SET, files=(replace(BIG, repo_path="gone.bin"),))

    with pytest.raises(EngineError) as caught:
        download_set(wrong, tmp_path, hub)

    assert caught.value.code is ErrorCode.WEIGHTS_UNREACHABLE


def test_no_server_at_all_is_an_error(server, tmp_path):
    address = server.address
    server.shutdown()
    server.server_close()

    with Hub(address, pause_s=0.0) as hub, pytest.raises(EngineError) as caught:
        download_set(SET, tmp_path, hub)

    assert caught.value.code is ErrorCode.WEIGHTS_UNREACHABLE


def test_a_connection_that_never_gets_further_is_given_up(hub, storage, tmp_path):
    storage.break_after = [0] * 100

    with pytest.raises(EngineError) as caught:
        download_set(SET, tmp_path, hub)

    assert caught.value.code is ErrorCode.WEIGHTS_UNREACHABLE
    assert len(storage.ranges()) == 5


def test_a_full_disk_is_told_before_the_first_byte(hub, storage, tmp_path, monkeypatch):
    monkeypatch.setattr(download, "SPARE_BYTES", 10**18)

    with pytest.raises(EngineError) as caught:
        download_set(SET, tmp_path, hub)

    assert caught.value.code is ErrorCode.WEIGHTS_DISK
    assert storage.requests == []


def test_a_folder_that_cannot_be_made_is_an_error(hub, tmp_path):
    (tmp_path / "file").write_bytes(b"")

    with pytest.raises(InputError) as caught:
        download_set(SET, tmp_path / "file" / "weights", hub)

    assert caught.value.code is ErrorCode.WEIGHTS_NOT_WRITABLE


@pytest.fixture
def settings(server, tmp_path, monkeypatch):
    monkeypatch.setattr(service, "CATALOG", (SET,))
    monkeypatch.setattr(service, "EVERYTHING", (SET,))
    monkeypatch.setattr(service, "find_set", lambda _name: SET)
    return EngineSettings(data_dir=tmp_path, hub_endpoint=server.address)


def test_the_commands_fetch_list_and_verify(settings, tmp_path):
    assert [s.state for s in service.list_weights(settings)["own"]] == ["missing", "missing"]
    assert service.verify_weights(settings) == {}

    fetched = service.get_weights("own", settings)

    assert [status.state for status in fetched] == ["ok", "ok"]
    assert all(status.place.is_relative_to(tmp_path / "weights/own") for status in fetched)
    read = []
    assert {s.state for s in service.verify_weights(settings, read.append)["own"]} == {"ok"}
    assert sum(read) == sum(map(len, CONTENT["own/model"].values()))


def test_weights_of_sonic_lie_where_the_settings_say(tmp_path):
    chosen = EngineSettings(data_dir=tmp_path, sonic_weights_dir=tmp_path / "elsewhere")

    assert service.folder_of(SONIC, chosen) == tmp_path / "elsewhere"
    assert service.folder_of(SONIC, EngineSettings(data_dir=tmp_path)) == tmp_path / "weights/sonic"
