"""Images and compose files: what can be checked without a Docker engine."""

import json
import os
import re
import shlex
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml

from engine.settings import EngineSettings
from studio.settings import StudioSettings

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
DOCKERFILES = [DEPLOY / "Dockerfile", DEPLOY / "Dockerfile.cuda"]
COMPOSE_FILES = sorted(DEPLOY.glob("compose*.yaml"))
HEALTH = DEPLOY / "healthcheck.py"


class Loader(yaml.SafeLoader):
    """YAML with the two tags of compose files."""


def _plain(loader: yaml.SafeLoader, _tag: str, node: yaml.Node) -> Any:
    if isinstance(node, yaml.SequenceNode):
        return loader.construct_sequence(node, deep=True)
    if isinstance(node, yaml.MappingNode):
        return loader.construct_mapping(node, deep=True)
    return loader.construct_scalar(node)


Loader.add_multi_constructor("!", _plain)


def compose(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.load(path.read_text("utf-8"), Loader)
    return found


def steps(path: Path) -> list[tuple[str, str]]:
    """Instructions of a Dockerfile with what follows them, continued lines joined."""
    text = re.sub(r"\\\n\s*", " ", path.read_text("utf-8"))
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return [(line.split()[0], line.split(None, 1)[1]) for line in lines]


def variables() -> set[str]:
    """Every variable the product reads."""
    engine = {f"STUDIO_{name.upper()}" for name in EngineSettings.model_fields}
    page = set()
    for field in StudioSettings.model_fields.values():
        alias = field.validation_alias
        page |= {alias} if isinstance(alias, str) else {str(a) for a in alias.choices}  # type: ignore[union-attr]
    return engine | page


@pytest.mark.parametrize("path", DOCKERFILES, ids=lambda path: path.name)
def test_an_image_is_small_pinned_and_never_root(path: Path) -> None:
    found = steps(path)
    by_name = {name: [rest for step, rest in found if step == name] for name, _ in found}

    assert all(re.search(r":[\w.]*\d", rest) for rest in by_name["FROM"])
    assert by_name["USER"] == ["10001:10001"]
    assert found.index(("USER", "10001:10001")) > max(
        index for index, (name, _) in enumerate(found) if name in ("RUN", "COPY")
    )
    assert "ADD" not in by_name
    assert all("--no-cache-dir" in rest for rest in by_name["RUN"] if "pip install" in rest)
    assert all("rm -rf /var/lib/apt" in rest for rest in by_name["RUN"] if "apt-get" in rest)
    assert not any(re.search(r"curl|wget|sudo|chmod 777", rest) for rest in by_name["RUN"])
    assert len(by_name["HEALTHCHECK"]) == len(by_name["CMD"]) == 1
    assert json.loads(by_name["CMD"][0])[0] == "python"


@pytest.mark.parametrize("path", DOCKERFILES, ids=lambda path: path.name)
def test_what_an_image_copies_exists_and_gets_into_the_build(path: Path) -> None:
    ignore = path.with_name(path.name + ".dockerignore").read_text("utf-8").splitlines()
    allowed = [line[1:].rstrip("/") for line in ignore if line.startswith("!")]
    copied = [
        name
        for step, rest in steps(path)
        if step == "COPY" and not rest.startswith("--from")
        for name in shlex.split(rest)[:-1]
    ]

    assert ignore[1] == "*"
    for name in copied:
        assert (ROOT / name).exists(), name
        assert any(Path(name).match(pattern) for pattern in allowed), name
    for step, rest in steps(path):
        if step == "RUN" and "pip install" in rest:
            for name in re.findall(r"-r (\S+)", rest):
                assert name in copied
                assert "-r " not in (ROOT / name).read_text("utf-8")


@pytest.mark.parametrize("path", DOCKERFILES, ids=lambda path: path.name)
def test_the_variables_of_an_image_are_read_by_the_product(path: Path) -> None:
    named = {
        name
        for step, rest in steps(path)
        if step == "ENV"
        for name in re.findall(r"(STUDIO_\w+)=", rest)
    }

    assert {"STUDIO_DATA_DIR", "STUDIO_HOST"} <= named <= variables()


@pytest.mark.parametrize("path", COMPOSE_FILES, ids=lambda path: path.name)
def test_every_service_of_a_compose_file_is_closed(path: Path) -> None:
    services = compose(path)["services"]
    base = compose(DEPLOY / "compose.yaml")["services"]

    for name, given in services.items():
        service = {**base.get(name, {}), **given}
        assert service["read_only"] is True, name
        assert service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        assert not str(service["user"]).startswith(("0", "root")), name
        assert not {"privileged", "network_mode", "pid"} & set(service), name
        assert ":latest" not in service["image"], name
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", [])), name
        if "profiles" not in service:
            assert service["healthcheck"]["test"][0] == "CMD", name


@pytest.mark.parametrize("path", COMPOSE_FILES, ids=lambda path: path.name)
def test_the_variables_and_volumes_of_a_compose_file_exist(path: Path) -> None:
    file, base = compose(path), compose(DEPLOY / "compose.yaml")
    declared = {*file.get("volumes", {}), *base["volumes"]}
    known = variables()

    for name, service in file["services"].items():
        named = {key for key in service.get("environment", {}) if key.startswith("STUDIO_")}
        assert named <= known, name
        for volume in service.get("volumes", []):
            assert volume.split(":")[0] in declared, (name, volume)


def test_workers_get_the_rules_for_strangers_too() -> None:
    services = compose(DEPLOY / "compose.yaml")["services"]
    shared = ("STUDIO_PUBLIC", "STUDIO_BROKER_URL", "STUDIO_STORAGE_URL", "STUDIO_BACKEND")

    for name in shared:
        assert services["web"]["environment"][name] == services["worker"]["environment"][name]
    assert services["web"]["environment"]["STUDIO_PUBLIC"] == "accounts"


@pytest.mark.parametrize("path", COMPOSE_FILES, ids=lambda path: path.name)
def test_the_commands_of_our_services_are_commands_of_the_product(path: Path) -> None:
    for name, service in compose(path)["services"].items():
        command = service.get("command")
        if name == "broker" or command is None:
            continue
        assert command[0] == "python"
        known = subprocess.run(
            [sys.executable, *command[1:], "--help"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert known.returncode == 0, known.stderr
        assert "usage:" in known.stdout


@pytest.fixture
def page_port() -> Iterator[int]:
    """A page that asks for a password, then fails."""

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(codes.pop(0))
            self.end_headers()

        def log_message(self, *_: object) -> None:
            return

    codes = [200, 401, 503]
    server = HTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_port
    server.shutdown()
    server.server_close()


def health(what: str, **variables: str) -> int:
    command = [sys.executable, str(HEALTH), what]
    return subprocess.run(command, env={**os.environ, **variables}, check=False).returncode


def test_the_health_check_tells_a_page_that_answers_from_one_that_fails(page_port: int) -> None:
    answers = [health("web", STUDIO_PORT=str(page_port)) for _ in range(3)]

    assert answers == [0, 0, 1]
    assert health("web", STUDIO_PORT="9") == 1


def test_the_health_check_tells_a_worker_that_lives_from_a_silent_one(tmp_path: Path) -> None:
    none = health("worker", STUDIO_DATA_DIR=str(tmp_path))
    folder = tmp_path / "workers" / "worker-1"
    folder.mkdir(parents=True)
    (folder / "alive").touch()
    live = health("worker", STUDIO_DATA_DIR=str(tmp_path))
    old = time.time() - 120
    os.utime(folder / "alive", (old, old))

    assert (none, live, health("worker", STUDIO_DATA_DIR=str(tmp_path))) == (1, 0, 1)
