"""`weights list`, `get` and `verify`, with a folder filled by hand and a hub that refuses."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from engine.cli import main
from engine.weights.catalog import SONIC
from engine.weights.store import FetchedFile, hash_file, write_lock

SCHEDULER = "stable-video-diffusion-img2vid-xt/scheduler/scheduler_config.json"


class Refusing(BaseHTTPRequestHandler):
    def do_HEAD(self):
        self.send_response(401)
        self.end_headers()

    def log_message(self, *_args):
        pass


@pytest.fixture
def refusing_hub():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Refusing)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("STUDIO_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("STUDIO_SONIC_WEIGHTS_DIR", str(tmp_path / "weights"))
    return tmp_path / "weights"


@pytest.fixture
def scheduler_file(folder):
    """One small file of the set, with its hash in the folder's lock."""
    path = folder / SCHEDULER
    path.parent.mkdir(parents=True)
    path.write_text('{"sigma_max": 700}')
    known = FetchedFile("repo", "commit", path.stat().st_size, hash_file(path))
    write_lock(folder, {SCHEDULER: known})
    return path


def told(capsys, *arguments):
    code = main(["weights", *arguments, "--json"])
    return code, json.loads(capsys.readouterr().out)["weights"]


def test_list_names_place_size_licence_and_command(folder, scheduler_file, capsys):
    code, sets = told(capsys, "list")

    assert code == 0
    assert not sets["sonic"]["complete"]
    assert sets["sonic"]["command"] == "python3 bootstrap.py weights get sonic"
    files = {row["file"]: row for row in sets["sonic"]["files"]}
    assert len(files) == len(SONIC.files)
    assert files[SCHEDULER]["state"] == "ok"
    unet = files["Sonic/unet.pth"]
    assert unet["state"] == "missing"
    assert unet["place"] == str(folder / "Sonic" / "unet.pth")
    assert "non-commercial" in unet["licence"]


def test_list_reads_well_too(folder, capsys):
    assert main(["weights", "list"]) == 0

    out = capsys.readouterr().out
    assert "non-commercial" in out
    assert f"Sonic/unet.pth is missing (up to 6.4 GB), in {folder / 'Sonic'}" in out


def test_licence_is_told_before_the_download(folder, refusing_hub, monkeypatch, capsys):
    monkeypatch.setenv("STUDIO_HUB_ENDPOINT", refusing_hub)

    assert main(["weights", "get", "sonic"]) == 2

    notice, refusal = capsys.readouterr().err.splitlines()[:2]
    assert "non-commercial purposes only" in notice
    assert "accepted licence" in refusal
    assert refusing_hub in refusal


def test_unknown_weights_are_named(folder, capsys):
    assert main(["weights", "get", "mozart"]) == 2

    assert "no weights called mozart" in capsys.readouterr().err


def test_verify_reads_what_is_here(scheduler_file, capsys):
    code, sets = told(capsys, "verify")

    states = {row["file"]: row["state"] for row in sets["sonic"]["files"]}
    assert states.pop(SCHEDULER) == "ok"
    assert set(states.values()) == {"missing"}
    assert code == 2


def test_verify_finds_a_changed_file(scheduler_file, capsys):
    scheduler_file.write_text('{"sigma_max": 900}')

    _, sets = told(capsys, "verify")

    changed = next(row for row in sets["sonic"]["files"] if row["file"] == SCHEDULER)
    assert changed["state"] == "damaged"
    assert "changed" in changed["detail"]


def test_verify_of_nothing_says_so(folder, capsys):
    assert main(["weights", "verify"]) == 0

    assert "No weights are here" in capsys.readouterr().out
